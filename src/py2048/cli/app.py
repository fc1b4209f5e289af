"""The Typer application: every command, mounted in the order of the help text."""

from __future__ import annotations

from typing import Annotated

import typer
import typer.core

from py2048.cli import bench, course, engine, evaluate, information, play, records, serve, train
from py2048.errors import did_you_mean


class Commands(typer.core.TyperGroup):
    """A group that suggests the nearest command for an unknown one."""

    def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def]
        """Return the command that the first word names."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            ctx.fail(f"no command is called {name!r}{did_you_mean(name, self.commands)}")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Commands,
    help="The game 2048: play it, watch players, check records. Alone it opens the game.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from py2048 import __version__

        print(f"py2048 {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version"),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


app.command()(play.play)
app.command()(play.watch)
app.command()(information.hint)
app.command()(information.rules)
app.command()(information.players)
app.command()(records.replay)
app.command()(records.verify)
app.command("import")(records.import_replay)
app.command()(records.scores)
app.command()(evaluate.evaluate)
app.command()(serve.serve)
app.command()(serve.backup)
app.command()(serve.restore)
app.command()(train.train)
app.command()(train.weights)
app.command()(bench.bench)
app.command("warm-up")(engine.warm_up)
app.command()(engine.perft)
app.command()(engine.rollouts)
app.add_typer(course.app, name="course")
