"""The Typer application with all commands, in the order of the help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from gettext import bindtextdomain, gettext, textdomain
from typing import Annotated, Any

import typer.main

from py2048.app.commands import information, play, practice, records, review
from py2048.cli import doctor
from py2048.core.language import CATALOGUES, ENGLISH, N_, language_of_environment, set_language
from py2048.core.rules import PRESETS
from py2048.courses import commands as course
from py2048.lab.commands import agents, bench, evaluate, solve, train
from py2048.presentation.options import Command, NearCommands, grouped, option_names, unknown_option
from py2048.server import commands as serve


class Commands(NearCommands):
    """The root command group, which passes options without a command to ``play``."""

    def parse_args(self, ctx, args):  # type: ignore[no-untyped-def]
        """Insert ``play`` before leading options, and convert ``help COMMAND`` to ``--help``.

        Also translate the help texts of py2048; Typer translates its own messages.
        """
        if language_of_environment() != ENGLISH:
            for owner, attribute, text in help_texts(self, ctx):
                setattr(owner, attribute, gettext(text))
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        if args and args[0].startswith("-"):
            name = args[0].partition("=")[0]
            group_options = option_names(self.get_params(ctx))
            if not ctx.resilient_parsing:
                self._check_option(ctx, name, group_options, args)
            args = args if name in group_options else ["play", *args]
        return super().parse_args(ctx, args)

    def list_commands(self, _ctx: Any) -> list[str]:
        """Return the command names in the order of the help page's sections."""
        commands: dict[str, Any] = dict(self.commands)
        panels = list(GROUPS)
        return sorted(commands, key=lambda name: panels.index(commands[name].rich_help_panel))

    def _check_option(self, ctx: Any, name: str, group_options: set[str], args: list[str]) -> None:
        options = group_options | option_names(self.commands["play"].get_params(ctx))
        if name.startswith("--") and name not in options:
            ctx.fail(unknown_option(name, options))
        stray = [word for word in args if word in self.commands]
        if stray and name not in group_options:
            ctx.fail(f"options stand after the command: py2048 {stray[0]} {' '.join(args[:-1])}")

    def shell_complete(self, ctx, incomplete):  # type: ignore[no-untyped-def]
        """Return the completions of a command or option, including the options of ``play``."""
        items = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            values = {item.value for item in items}
            play_items = self.commands["play"].shell_complete(ctx, incomplete)
            items += [item for item in play_items if item.value not in values]
        return items

    def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def]
        """Return the command named by the first argument.

        Commands for players print messages in the user's language, except in JSON output. Other
        commands print English.
        """
        if (name := args[0]) in PRESETS:
            ctx.fail(f"no command is called {name!r}: to play it, py2048 --rules {name}")
        found = super().resolve_command(ctx, args)
        is_spoken = found[1].rich_help_panel in PLAYERS_GROUPS and "--json" not in args
        set_language(language_of_environment() if is_spoken else ENGLISH)
        return found


def help_texts(command: Any = None, ctx: Any = None) -> Iterator[tuple[Any, str, str]]:
    """Yield the owner, attribute name and value of each help text of a command and its subcommands.

    By default, yield the help texts of the whole program.
    """
    command = command or typer.main.get_command(app)
    ctx = ctx or typer.Context(command)
    for each in (command, *command.get_params(ctx)):
        for name in ("help", "metavar", "options_metavar", "subcommand_metavar"):
            if text := getattr(each, name, None):
                yield each, name, text
    for each in getattr(command, "commands", {}).values():
        yield from help_texts(each, ctx)


app = typer.Typer(
    cls=Commands,
    help="The game 2048: play, watch computer players, review and practise. Without a command, "
    "the game opens; options are those of play, as in py2048 --rules 5x5. py2048 help COMMAND "
    "explains a command.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_requested: bool) -> None:
    if is_requested:
        from py2048 import __version__

        print(f"py2048 {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_show_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Define the options that may precede a command."""


GROUPS: dict[str, tuple[Callable[..., int | None], ...]] = {
    N_("Play"): (
        *(play.play, play.watch, information.hint, information.rules, information.players),
        *(records.scores, records.replay, records.verify, records.import_, play.desktop_entry),
    ),
    N_("Improve"): (review.review, review.report, practice.practice, practice.puzzle),
    N_("Measure"): (
        *(evaluate.evaluate, agents.benchmark_agent, train.train, train.weights),
        *(solve.solve, bench.bench, bench.warm_up),
    ),
    N_("Teach"): (),  # course, below
    N_("Serve"): (
        *(serve.serve, serve.bot, agents.mcp),
        *(serve.backup, serve.restore, doctor.doctor),
    ),
}
"""Command functions by help group. Commands are named after their functions."""

PLAYERS_GROUPS = {"Play", "Improve"}

bindtextdomain("py2048", CATALOGUES)  # for `gettext`, which Typer also uses
textdomain("py2048")
for panel, functions in GROUPS.items():
    for function in functions:
        name = function.__name__.strip("_").replace("_", "-")
        app.command(name, cls=Command, rich_help_panel=panel)(grouped(function))
app.add_typer(solve.app, name="tables", rich_help_panel="Measure")
app.add_typer(course.app, name="course", rich_help_panel="Teach")
