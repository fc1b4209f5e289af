"""Options that several commands share."""

from __future__ import annotations

import glob
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, is_dataclass, replace
from functools import wraps
from inspect import Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from py2048.core.board import Board
from py2048.core.errors import BoardError, PlayerError, shown, unknown
from py2048.core.folders import built_tables
from py2048.core.rng import parse_seed
from py2048.core.rules import Rules, list_rules, parse_changes
from py2048.players import list_players
from py2048.players.registry import player_options
from py2048.presentation.themes import THEMES

if TYPE_CHECKING:
    from click import ClickException as ClickException
else:
    # Typer may carry a copy of Click inside. BadParameter -> UsageError -> ClickException
    ClickException = typer.BadParameter.__mro__[2]

SEE_HELP = "; --help lists them"
"""What is said of options and commands if none is near to the word that was given."""


class NearCommands(typer.core.TyperGroup):
    """A group that suggests the nearest command for an unknown one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first word names."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            ctx.fail(f"no command is called {unknown(name, self.commands, SEE_HELP)}")
        return super().resolve_command(ctx, args)


class Subcommands(NearCommands):
    """A group that names its commands where none is given."""

    def parse_args(self, ctx, args):  # type: ignore[no-untyped-def]
        """Refuse words without a command."""
        if not args and not ctx.resilient_parsing:
            ctx.fail(f"{self.name} needs one of its commands: {', '.join(self.commands)}")
        return super().parse_args(ctx, args)


def rules_names() -> list[str]:
    """Return the names of the presets, for shells to complete."""
    return [rules.name for rules in list_rules()]


RECORD_ENDINGS = (".2048.json", ".txt", ".rpl", ".vrs")
"""The names of records and replays in a folder."""


def table_names() -> list[str]:
    """Return the names of the tables that were built."""
    return [path.stem for path in built_tables()]


def files_that_end(*endings: str) -> Callable[[str], list[str]]:
    """Return what a shell may complete a word to: files with these endings, and folders."""

    def words(incomplete: str) -> list[str]:
        paths = map(Path, glob.glob(f"{glob.escape(incomplete)}*"))  # noqa: PTH207 - a word
        named = (f"{path}/" if path.is_dir() else f"{path}" for path in paths)
        return sorted(name for name in named if name.endswith(("/", *endings)))

    return words


def player_words(incomplete: str) -> list[str]:
    """Return the names of the players, or after one and a colon those of its options."""
    name, colon, given = incomplete.partition(":")
    if not colon:
        return list(list_players())
    before = incomplete.removesuffix(given.rpartition(",")[2])
    with suppress(PlayerError):
        return [f"{before}{option}=" for option in player_options(name)]
    return []


record_files = files_that_end(*RECORD_ENDINGS)
weights_files = files_that_end(".npz")


def counting(help_: str, *names: str, least: int = 1, most: int | None = None) -> Any:
    """Return an option whose value is a whole number, in its help N."""
    return typer.Option(*names, metavar="N", min=least, max=most, help=help_)


def taking(
    metavar: str, help_: str, *names: str, words: Callable[..., Sequence[str]] | None = None
) -> Any:
    """Return an option whose value is a text or a path, in its help `metavar`.

    Args:
        metavar: what stands for the value.
        help_: what it is for.
        names: the option's, if they are not the parameter's.
        words: returns what shells may complete the value to.
    """
    return typer.Option(*names, metavar=metavar, help=help_, autocompletion=words)


def word(
    metavar: str, help_: str, words: Callable[..., Sequence[str]] | None = None, **how: Any
) -> Any:
    """Return an argument, in its help `metavar`, which shells may complete to some words."""
    return typer.Argument(metavar=metavar, help=help_, autocompletion=words, **how)


_RULES = "A preset such as classic, or a text such as classic:size=5x5,spawn=2:9+4:1."
RulesOption = Annotated[str | None, taking("RULES", _RULES, "--rules", "-r", words=rules_names)]
SizeOption = Annotated[str | None, taking("RxC", "Rows x columns, such as 5x5.")]
SeedOption = Annotated[str | None, taking("N", "A whole number; the same seed, the same tiles.")]
PLAYER = "A player such as expectimax:depth=2; see py2048 players."
_PLAYER = taking("PLAYER", PLAYER, "--player", "-p", words=player_words)
PlayerOption = Annotated[str, _PLAYER]
OptionalPlayer = Annotated[str | None, _PLAYER]


def option_names(parameters: Iterable[Any]) -> set[str]:
    """Return the names of options."""
    return {name for each in parameters for name in (*each.opts, *each.secondary_opts)}


def unknown_option(name: str, known: Iterable[str]) -> str:
    """Return what is said of an option that is not known: the nearest one, if it has a word."""
    words = known if name.startswith("--") else ()
    return f"there is no option {unknown(name, words, SEE_HELP)}"


def mistake(error: Any) -> str:
    """Return what is wrong with the words of a command by Click's exception; the value is named.

    Typer reads values by Pydantic, whose own sentences leave the value out.
    """
    if hasattr(error, "possibilities"):
        return unknown_option(error.option_name, option_names(error.ctx.command.params))
    find_faults = getattr(error.__cause__, "errors", None)
    if find_faults is None:
        return str(error.format_message())
    fault = find_faults()[0]
    if fault["type"] == "value_error":
        text = str(fault["ctx"]["error"])
    else:
        value = shown(fault["input"])
        text = re.sub("(?i)input( string)?", lambda _: value, fault["msg"], count=1)
    return typer.BadParameter(text, error.ctx, error.param).format_message()


WRITTEN = {
    "--csv",
    "--gif",
    "--gradescope",
    "--html",
    "--log",
    "--pack",
    "--pages",
    "--plot",
    "--save",
}
"""The options whose files, or folders, are written."""


class Command(typer.core.TyperCommand):
    """A command that refuses, before its work, what it could not write after it."""

    def invoke(self, ctx: Any) -> Any:
        """Do the work, unless a file cannot be written, or is also read or written otherwise."""
        given = [(each, ctx.params.get(each.name)) for each in self.params]
        paths = [
            (each, path)
            for each, value in given
            for path in (value if isinstance(value, list | tuple) else [value])
            if isinstance(path, Path)
        ]
        for option, path in paths:
            if (name := option.opts[0]) not in WRITTEN:
                continue
            if any(_is_same_file(path, other) for each, other in paths if each is not option):
                ctx.fail(
                    f"{name} {path} would replace a file that is read or written here: name another"
                )
            if trouble := why_unwritable(path, is_folder=option.metavar == "DIR"):
                ctx.fail(f"cannot write {path}: {trouble}")
        return super().invoke(ctx)


def _is_same_file(one: Path, other: Path) -> bool:
    """Return whether two paths lead to one file, by links too; it need not be there yet.

    A folder that is given is read for its records.
    """
    if one.exists() and other.exists():
        is_inside = other.resolve() in one.resolve().parents
        return one.samefile(other) or (is_inside and one.name.endswith(RECORD_ENDINGS))
    return one.resolve() == other.resolve()


def why_unwritable(path: Path, *, is_folder: bool) -> str:
    """Return why a file, or a folder with those above it, cannot be made; nothing if it can."""
    folder = path if is_folder else path.parent
    while is_folder and not folder.exists():
        folder = folder.parent
    if path.is_dir() and not is_folder:
        return "it is a folder"
    if not folder.is_dir():
        return f"there is no folder {folder}"
    return "" if os.access(path if path.exists() else folder, os.W_OK) else "permission denied"


MAX_BOARD_TEXT = 1 << 20
"""More characters than any board has, of 64x64 cells at most."""

MAX_JOBS = 1024
ThreadsOption = Annotated[
    int | None,
    counting("How many threads; by default all cores.", "--threads", "-j", most=MAX_JOBS),
]
JobsOption = Annotated[int | None, counting("How many at a time.", "--jobs", "-j", most=MAX_JOBS)]
_THEMES = taking("THEME", "Colours, such as dark.", words=lambda: [each.name for each in THEMES])
ThemeOption = Annotated[str | None, _THEMES]
GamesOption = Annotated[int, counting("How many games.", "--games", "-n")]
_COUNT = counting("How many at most.", "--count", "-n", most=10**9)
CountOption = Annotated[int, _COUNT]
OptionalCount = Annotated[int | None, _COUNT]
_CLUSTER = "Work on a Ray cluster: auto, or its address. It must see the files."
ClusterOption = Annotated[str | None, taking("ADDRESS", _CLUSTER, words=lambda: ["auto"])]
LogOption = Annotated[
    Path | None, taking("FILE", "Keep results in FILE; an interrupted run continues from there.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace a file that exists.")]
PlotOption = Annotated[Path | None, taking("FILE", "Draw the results: .png or .svg.")]
HtmlOption = Annotated[Path | None, taking("FILE", "Write a page.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print results only.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
BoardArgument = Annotated[
    str, typer.Argument(help='Rows separated by /, such as "2 . / 4 8"; - reads stdin.')
]
DelayOption = Annotated[
    float, typer.Option("--delay", min=0, max=3600, help="Seconds between two turns.")
]


def chosen_rules(rules: str | None, size: str | None) -> Rules:
    """Return the rules that ``--rules`` and ``--size`` name.

    Raises:
        RulesError: if they name none.
    """
    chosen = Rules.parse(rules or "classic")
    return replace(chosen, **parse_changes(f"size={size}")) if size else chosen


def chosen_seed(seed: str | None) -> int | None:
    """Return the seed that ``--seed`` gives, if any.

    Raises:
        SeedError: if it is none.
    """
    return None if seed is None else parse_seed(seed)


@dataclass(frozen=True)
class GameOptions:
    """What games are played: their rules and their tiles."""

    rules: RulesOption = None
    size: SizeOption = None
    seed: SeedOption = None

    def chosen(self) -> tuple[Rules, int | None]:
        """Return the rules and the seed, if one is given."""
        return chosen_rules(self.rules, self.size), chosen_seed(self.seed)


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that takes, for each parameter that is a dataclass, the options in it."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: each.annotation
        for name, each in signature.parameters.items()
        if is_dataclass(each.annotation)
    }
    own = {name: inspect.signature(kind, eval_str=True) for name, kind in groups.items()}

    @wraps(command)
    def flat(**given: Any) -> Any:
        for name, kind in groups.items():
            given[name] = kind(**{each: given.pop(each) for each in own[name].parameters})
        return command(**given)

    parts = [own.get(each.name, Signature([each])) for each in signature.parameters.values()]
    parameters = [each for part in parts for each in part.parameters.values()]
    flat.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return flat


def rules_for(board: Board, rules: str | None) -> Rules:
    """Return the rules that ``--rules`` names, or classic ones on a board of this size."""
    return chosen_rules(rules, None if rules else "x".join(map(str, board.shape)))


def board_of(text: str) -> Board:
    """Return the board that a text shows, or that standard input shows if the text is ``-``.

    Raises:
        BoardError: if none is shown, or standard input has no end in sight.
    """
    if text != "-":
        return Board.parse(text)
    text = sys.stdin.read(MAX_BOARD_TEXT + 1)
    if len(text) > MAX_BOARD_TEXT:
        raise BoardError(
            f"standard input shows no board: it has over {MAX_BOARD_TEXT:,} characters"
        )
    return Board.parse(text)


def print_json(value: object, *, indent: int | None = 2) -> None:
    """Print a value as JSON, indented or (`None`) in one line."""
    print(json.dumps(value, indent=indent, ensure_ascii=False), flush=True)
