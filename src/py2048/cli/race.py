"""``race``: a game beside your best one or the expert's, with the same tiles."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli.options import OptionalPlayer, RulesOption, SizeOption, chosen_rules
from py2048.cli.screens import LaunchOptions, UserInterface, open_screen
from py2048.errors import Py2048Error
from py2048.ui.shared.themes import get_theme

if TYPE_CHECKING:
    from py2048.session import Session


def race(
    rival: Annotated[
        str,
        typer.Argument(
            metavar="[FILE|best|expert]",
            help="A record or a replay; your best finished game; or a computer player.",
            autocompletion=lambda: ["best", "expert"],
        ),
    ] = "best",
    rules: RulesOption = None,
    size: SizeOption = None,
    player: OptionalPlayer = None,
    ui: Annotated[
        UserInterface, typer.Option(help="Where to play, as in play.")
    ] = UserInterface.AUTO,
    theme: Annotated[str | None, typer.Option(metavar="THEME", help="Colours.")] = None,
    reduced_motion: Annotated[bool, typer.Option(help="Do not animate.")] = False,
    save: Annotated[bool, typer.Option(help="Keep the game and the score.")] = True,
) -> int:
    """Race against a game on the same tiles, its board beside yours, with split times.

    The game counts as assisted: the tiles may be known, and the rival's moves are advice.
    """
    from py2048.session import Session, open_session
    from py2048.ui.shared.race import BEST, EXPERT, find_rival

    if rival not in (BEST, EXPERT) and (rules or size):
        raise Py2048Error(
            "a file's game has its own rules: leave --rules and --size out, or race best or expert"
        )
    if player is not None and rival != EXPERT:
        raise Py2048Error(f"--player {player} is for the expert: race expert, or leave it out")
    if theme is not None:
        get_theme(theme)
    options = LaunchOptions(lambda _: None, theme, reduced_motion, None, save)
    wanted = chosen_rules(rules, size)
    # What is refused opens no screen; a store is needed for the best game alone.
    with closing(open_session(finalize=False) if rival == BEST else Session()) as games:
        found = find_rival(games, rival, wanted, player or "")

    def begin(session: Session) -> None:
        session.race(found)

    return open_screen(ui, options._replace(begin=begin))
