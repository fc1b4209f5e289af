"""Options, arguments and error messages that commands share."""

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
from gettext import gettext
from inspect import Parameter, Signature
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer.core

from py2048.core.board import Board
from py2048.core.errors import BoardError, PlayerError, Py2048Error, shown, unknown
from py2048.core.folders import built_tables
from py2048.core.language import N_
from py2048.core.rng import parse_seed
from py2048.core.rules import Rules, list_rules, parse_changes
from py2048.players import list_players
from py2048.players.registry import player_options
from py2048.presentation.themes import BY_NAME

SEE_HELP = "; --help lists them"
"""Suffix of the error message for an unknown command or option that has no close match."""


def _write_usage(command: Any, ctx: Any, formatter: Any) -> None:
    """Write the usage line. Typer does not translate the word "Usage"."""
    pieces = " ".join(command.collect_usage_pieces(ctx))
    formatter.write_usage(ctx.command_path, pieces, gettext("Usage: "))


class NearCommands(typer.core.TyperGroup):
    """A command group that suggests the closest match for an unknown command."""

    format_usage = _write_usage

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command named by the first argument."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            ctx.fail(f"no command is called {unknown(name, self.commands, SEE_HELP)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx, formatter):  # type: ignore[no-untyped-def]
        """List the commands by group, with the whole first sentence of each command's help."""
        width = max(map(len, self.commands))
        commands: list[Any] = [self.commands[name] for name in self.list_commands(ctx)]
        for panel, group in groupby(commands, key=lambda each: each.rich_help_panel):
            rows = [(f"{each.name:{width}}", each.get_short_help_str(10**4)) for each in group]
            with formatter.section(gettext(panel if isinstance(panel, str) else N_("Commands"))):
                formatter.write_dl(rows)


class Subcommands(NearCommands):
    """A command group that requires a subcommand."""

    def parse_args(self, ctx, args):  # type: ignore[no-untyped-def]
        """Fail if there are no arguments."""
        if not args and not ctx.resilient_parsing:
            ctx.fail(f"{self.name} needs one of its commands: {', '.join(self.commands)}")
        return super().parse_args(ctx, args)


def rules_names() -> list[str]:
    """Return the names of the presets, for shell completion."""
    return [rules.name for rules in list_rules()]


RECORD_ENDINGS = (".2048.json", ".txt", ".rpl", ".vrs")
"""Suffixes of record and replay files."""


def table_names() -> list[str]:
    """Return the names of the installed endgame tables."""
    return [path.stem for path in built_tables()]


def files_that_end(*endings: str) -> Callable[[str], list[str]]:
    """Return a shell completer for folders and for files with the given suffixes."""

    def words(incomplete: str) -> list[str]:
        paths = map(Path, glob.glob(f"{glob.escape(incomplete)}*"))  # noqa: PTH207 - a word
        named = (f"{path}/" if path.is_dir() else f"{path}" for path in paths)
        return sorted(name for name in named if name.endswith(("/", *endings)))

    return words


def player_words(incomplete: str) -> list[str]:
    """Complete the name of a player or, after a colon, the player's options."""
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
    """Return an integer option, shown with the placeholder N in the help."""
    return typer.Option(*names, metavar="N", min=least, max=most, help=help_)


def taking(
    metavar: str, help_: str, *names: str, words: Callable[..., Sequence[str]] | None = None
) -> Any:
    """Return an option with a string or path value.

    Args:
        metavar: Placeholder for the value in the help.
        help_: Help text.
        names: Names of the option, by default derived from the parameter.
        words: Shell completer for the value.
    """
    return typer.Option(*names, metavar=metavar, help=help_, autocompletion=words)


def word(
    metavar: str, help_: str, words: Callable[..., Sequence[str]] | None = None, **how: Any
) -> Any:
    """Return a command-line argument with a placeholder and an optional shell completer."""
    return typer.Argument(metavar=metavar, help=help_, autocompletion=words, **how)


_RULES = "A preset such as classic, or custom rules such as classic:size=5x5,spawn=2:9+4:1."
RulesOption = Annotated[str | None, taking("RULES", _RULES, "--rules", "-r", words=rules_names)]
SizeOption = Annotated[str | None, taking("RxC", "Board size in rows and columns, such as 5x5.")]
SeedOption = Annotated[
    str | None, taking("N", "Seed, an integer; the same seed gives the same tiles.")
]
PLAYER = "Player, such as expectimax:depth=2; py2048 players lists them."
_PLAYER = taking("PLAYER", PLAYER, "--player", "-p", words=player_words)
PlayerOption = Annotated[str, _PLAYER]
OptionalPlayer = Annotated[str | None, _PLAYER]


def option_names(parameters: Iterable[Any]) -> set[str]:
    """Return the option names among a command's parameters."""
    return {name for each in parameters for name in (*each.opts, *each.secondary_opts)}


def unknown_option(name: str, options: Iterable[str]) -> str:
    """Return the message for an unknown option, with the closest match for a long option."""
    words = options if name.startswith("--") else ()
    return f"there is no option {unknown(name, words, SEE_HELP)}"


def usage_message(error: Any) -> str:
    """Return the message of a command-line error, including the rejected value.

    Typer validates option values with Pydantic, whose messages omit the value.
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


OUTPUT_OPTIONS = {"--csv", "--gradescope", "--log", "--output", "--pages", "--plot"}
"""Options whose values are output files or folders."""

ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]


class Command(typer.core.TyperCommand):
    """A command that checks its output files before it runs."""

    format_usage = _write_usage

    def invoke(self, ctx: Any) -> Any:
        """Check the output files, then run the command.

        Each output file must be writable, and must not be another file that the command reads or
        writes. An existing file is replaced only with ``--force``. New entries are appended to an
        existing log.
        """
        values = [(each, ctx.params.get(each.name)) for each in self.params]
        paths = [
            (each, path)
            for each, value in values
            for path in (value if isinstance(value, list | tuple) else [value])
            if isinstance(path, Path)
        ]
        for option, path in paths:
            if (name := option.opts[0]) not in OUTPUT_OPTIONS:
                continue
            if any(_conflicts(path, other) for each, other in paths if each is not option):
                ctx.fail(
                    f"{name} {path} would replace a file that is read or written here: name another"
                )
            is_folder = option.metavar == gettext("DIR")
            if trouble := why_unwritable(path, is_folder=is_folder):
                ctx.fail(f"cannot write {path}: {trouble}")
            if name != "--log" and not is_folder:
                refuse_existing(path, force=ctx.params["force"])
        return super().invoke(ctx)


def _conflicts(one: Path, other: Path) -> bool:
    """Return whether writing to the file `one` would damage the file or folder `other`.

    Only the records in a folder are protected, not its other files. Symbolic links are followed,
    and the files need not exist.
    """
    if one.exists() and other.exists():
        is_inside = other.resolve() in one.resolve().parents
        return one.samefile(other) or (is_inside and one.name.endswith(RECORD_ENDINGS))
    return one.resolve() == other.resolve()


def why_unwritable(path: Path, *, is_folder: bool) -> str:
    """Return the reason why a file or folder cannot be created, or "" if it can be created."""
    folder = path if is_folder else path.parent
    while is_folder and not folder.exists():
        folder = folder.parent
    if path.is_dir() and not is_folder:
        return "it is a folder"
    if not folder.is_dir():
        return f"there is no folder {folder}"
    return "" if os.access(path if path.exists() else folder, os.W_OK) else "permission denied"


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise `Py2048Error` if a regular file exists and `force` is False."""
    if path.is_file() and not force:
        raise Py2048Error(f"{path} exists: choose another name, or give --force to replace it")


MAX_BOARD_TEXT = 1 << 20
"""Maximum length of a board on standard input, in characters. Boards have at most 64x64 cells."""

MAX_JOBS = 1024
_THREADS = counting("Number of threads; all cores by default.", "--threads", "-j", most=MAX_JOBS)
ThreadsOption = Annotated[int | None, _THREADS]
_JOBS = counting("Number of parallel jobs.", "--jobs", "-j", most=MAX_JOBS)
JobsOption = Annotated[int | None, _JOBS]
_THEMES = taking("THEME", "Colour theme, such as dark.", words=lambda: list(BY_NAME))
ThemeOption = Annotated[str | None, _THEMES]
GamesOption = Annotated[int, counting("Number of games.", "--games", "-n")]
_COUNT = counting("Number of results to show.", "--count", "-n", most=10**9)
CountOption = Annotated[int, _COUNT]
OptionalCount = Annotated[int | None, _COUNT]
_CLUSTER = "Use a Ray cluster: auto, or its address. It needs access to the same files."
ClusterOption = Annotated[str | None, taking("ADDRESS", _CLUSTER, words=lambda: ["auto"])]
_LOG = taking("FILE", "Save results to FILE; an interrupted run resumes from it.")
LogOption = Annotated[Path | None, _LOG]
PlotOption = Annotated[Path | None, taking("FILE", "Plot the results to a .png or .svg file.")]


def output(help_: str, metavar: str = "FILE") -> Any:
    """Return the option ``--output``, which names the file or folder that a command writes."""
    return taking(metavar, help_, "--output", "-o")


PageOption = Annotated[Path | None, output("Write an HTML page.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the results.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def level_words() -> list[str]:
    """Return the names of the levels, for shell completion."""
    from py2048.review.levels import LEVELS, PERFECT

    return ["me", *map(str, LEVELS), PERFECT]


_LEVEL = (
    "Player whose chances the moves are judged by: me, beginner, casual, practised, strong, "
    "expert, a slip such as 0.15, or perfect."
)
LevelOption = Annotated[str, taking("LEVEL", _LEVEL, words=level_words)]
BoardArgument = Annotated[
    str, word("BOARD", 'Rows separated by /, such as "2 . / 4 8"; - reads stdin.')
]
DelayOption = Annotated[float, counting("Seconds between turns.", least=0, most=3600)]


def chosen_rules(rules: str | None, size: str | None) -> Rules:
    """Return the rules selected by ``--rules`` and ``--size``.

    Raises:
        RulesError: If the rules or the size are invalid.
    """
    chosen = Rules.parse(rules or "classic")
    return replace(chosen, **parse_changes(f"size={size}")) if size else chosen


def chosen_seed(seed: str | None) -> int | None:
    """Return the seed given by ``--seed``, if any.

    Raises:
        SeedError: The seed is invalid.
    """
    return None if seed is None else parse_seed(seed)


@dataclass(frozen=True)
class GameOptions:
    """The rules and the seed of a game."""

    rules: RulesOption = None
    size: SizeOption = None
    seed: SeedOption = None

    def chosen(self) -> tuple[Rules, int | None]:
        """Return the rules, and the seed if one was given."""
        return chosen_rules(self.rules, self.size), chosen_seed(self.seed)


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Replace each dataclass parameter of a command with one parameter per field.

    Commands that write files also get the option ``--force``, which `Command` handles.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: each.annotation
        for name, each in signature.parameters.items()
        if is_dataclass(each.annotation)
    }
    own = {name: inspect.signature(kind, eval_str=True) for name, kind in groups.items()}

    @wraps(command)
    def flat(**given: Any) -> Any:
        if adds_force:
            del given["force"]
        for name, kind in groups.items():
            given[name] = kind(**{each: given.pop(each) for each in own[name].parameters})
        return command(**given)

    parts = [own.get(each.name, Signature([each])) for each in signature.parameters.values()]
    parameters = [each for part in parts for each in part.parameters.values()]
    names = {each.name for each in parameters}
    if adds_force := "force" not in names and not names.isdisjoint(("csv", "output", "plot")):
        force = Parameter("force", Parameter.KEYWORD_ONLY, default=False, annotation=ForceOption)
        parameters.append(force)
    flat.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return flat


def rules_for(board: Board, rules: str | None) -> Rules:
    """Return the rules from ``--rules``. Defaults to classic rules with the board's size."""
    return chosen_rules(rules, None if rules else "x".join(map(str, board.shape)))


def board_of(text: str) -> Board:
    """Parse a board, or read the board from standard input if the text is ``-``.

    Raises:
        BoardError: If the text is not a board, or standard input is too long.
    """
    if text != "-":
        return Board.parse(text)
    text = sys.stdin.read(MAX_BOARD_TEXT + 1)
    if len(text) > MAX_BOARD_TEXT:
        reason = f"it has over {MAX_BOARD_TEXT:,} characters"
        raise BoardError(f"standard input shows no board: {reason}")
    return Board.parse(text)


def print_json(value: object, *, indent: int | None = 2) -> None:
    """Print a value as JSON, on a single line if `indent` is None."""
    print(json.dumps(value, indent=indent, ensure_ascii=False), flush=True)
