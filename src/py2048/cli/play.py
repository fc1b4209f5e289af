"""``py2048``, ``play`` and ``watch``: opening a game on the best screen there is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import closing
from enum import StrEnum
from typing import Annotated

import typer

from py2048.cli.options import (
    JsonOption,
    PlayerOption,
    RulesOption,
    SeedOption,
    SizeOption,
    chosen_rules,
    chosen_seed,
    print_json,
)
from py2048.engine.rng import derive_seed, random_seed
from py2048.errors import Py2048Error
from py2048.players import make_player
from py2048.session import Event, Moved, Session, open_session
from py2048.ui.describe import describe

WATCHED_PLAYER = "expectimax"


class Screen(StrEnum):
    """Where to play."""

    AUTO = "auto"
    DESKTOP = "desktop"
    TERMINAL = "terminal"
    LINES = "lines"


def play(
    rules: RulesOption = None,
    size: SizeOption = None,
    seed: SeedOption = None,
    player: Annotated[
        str | None,
        typer.Option("--player", "-p", metavar="PLAYER", help="Let this player play."),
    ] = None,
    ui: Annotated[
        Screen,
        typer.Option(help="auto opens a window, else the terminal; lines suits screen readers."),
    ] = Screen.AUTO,
    theme: Annotated[
        str | None, typer.Option(metavar="THEME", help="Colours, such as dark.")
    ] = None,
    resume: Annotated[
        bool | None,
        typer.Option(
            "--resume/--new",
            help="Go on with the last game, or begin a new one. By default: go on, unless rules, "
            "size or seed are given.",
        ),
    ] = None,
    reduced_motion: Annotated[bool, typer.Option(help="Do not animate.")] = False,
    save: Annotated[bool, typer.Option(help="Keep the game and the score.")] = True,
) -> int:
    """Play. The game is saved after every move."""
    if player is not None:
        make_player(player)  # refuse an unknown one before the screen opens
    is_chosen = bool(rules or size or seed)
    wanted, number = chosen_rules(rules, size), chosen_seed(seed)
    goes_on = not is_chosen if resume is None else resume

    def begin(session: Session) -> None:
        if not (goes_on and session.resume(wanted if is_chosen else None)):
            session.start(wanted, seed=number)

    screen = _chosen_screen(ui)
    show = _desktop if screen is Screen.DESKTOP else _beside_the_prompt(screen)
    return show(open_session if save else Session, begin, theme, reduced_motion, player)


def open_game() -> int:
    """Open the best screen there is; without a terminal, watch a computer game."""
    if sys.stdout.isatty():
        return play()
    return watch()


Opener = Callable[[], Session]
Begin = Callable[[Session], None]
Show = Callable[[Opener, Begin, str | None, bool, str | None], int]
"""Opens a session and a screen on it: (open, begin, theme, reduced_motion, player) -> status."""


def _chosen_screen(ui: Screen) -> Screen:
    """Return the screen to open; where a window was wanted and cannot be, say why."""
    from py2048.ui import desktop

    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if ui is Screen.AUTO and not (is_terminal and desktop.has_display()):
        return Screen.TERMINAL if is_terminal else Screen.LINES
    if ui in (Screen.AUTO, Screen.DESKTOP):
        trouble = desktop.trouble()
        if trouble:
            return _instead_of_a_window(trouble)
        return Screen.DESKTOP
    return ui


def _instead_of_a_window(trouble: str) -> Screen:
    """Say why there is no window, and return the terminal's game, if there is a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Py2048Error(trouble)
    print(f"py2048: {trouble}; here is the terminal's game instead", file=sys.stderr)
    return Screen.TERMINAL


def _desktop(
    opener: Opener, begin: Begin, theme: str | None, reduced_motion: bool, player: str | None
) -> int:
    from py2048.storage import data_folder
    from py2048.ui import desktop

    try:
        return desktop.run(
            opener,
            theme=theme,
            reduced_motion=reduced_motion,
            player=player,
            watch=player is not None,
            begin=begin,
            memory=data_folder() / "desktop.json",
        )
    except desktop.NoDesktopError as error:
        screen = _instead_of_a_window(str(error))
    return _beside_the_prompt(screen)(opener, begin, theme, reduced_motion, player)


def _beside_the_prompt(ui: Screen) -> Show:
    return _lines if ui is Screen.LINES else _terminal


def _terminal(
    opener: Opener, begin: Begin, theme: str | None, reduced_motion: bool, player: str | None
) -> int:
    from py2048.ui import terminal

    with closing(opener()) as session:
        begin(session)
        return terminal.run(session, theme=theme, reduced_motion=reduced_motion, player=player)


def _lines(
    opener: Opener, begin: Begin, _theme: str | None, _reduced_motion: bool, player: str | None
) -> int:
    from py2048.ui.terminal import lines

    with closing(opener()) as session:
        begin(session)
        return lines.run(session, sys.stdin, sys.stdout, player=player)


def watch(
    player: PlayerOption = WATCHED_PLAYER,
    rules: RulesOption = None,
    size: SizeOption = None,
    seed: SeedOption = None,
    games: Annotated[int, typer.Option(min=1, help="How many games to play.")] = 1,
    moves: Annotated[
        int | None, typer.Option(min=1, help="Stop each game after so many moves.")
    ] = None,
    delay: Annotated[float, typer.Option(min=0, help="Seconds between moves.")] = 0.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print results only.")] = False,
    json: JsonOption = False,
) -> int:
    """Watch a computer game, printed as it goes. Nothing is saved."""
    wanted, first = chosen_rules(rules, size), chosen_seed(seed)
    adviser = make_player(player)
    base = random_seed() if first is None else first
    results = []
    for index in range(games):
        session = Session(player=adviser.name)
        if not (quiet or json):
            session.subscribe(_printer(delay))
        session.start(wanted, seed=base if index == 0 else derive_seed(base, index))
        while not session.game.is_over and (moves is None or session.game.ply < moves):
            session.autoplay_step(adviser)
        results.append(_result(session))
        if not json:
            _print_result(session)
    if json:
        print_json(results)
    return 0


def _printer(delay: float) -> Callable[[Event], None]:
    def show(event: Event) -> None:
        print(describe(event), flush=True)
        if isinstance(event, Moved) and delay:
            time.sleep(delay)

    return show


def _print_result(session: Session) -> None:
    game = session.game
    print(game.board)
    print(
        f"{game.player}: score {game.score}, largest tile {game.board.max_tile}, "
        f"{game.ply} moves, seed {game.seed}",
        flush=True,
    )


def _result(session: Session) -> dict[str, object]:
    game = session.game
    return {
        "player": game.player,
        "rules": str(game.rules),
        "seed": game.seed,
        "score": game.score,
        "max_tile": game.board.max_tile,
        "plies": game.ply,
        "outcome": game.outcome.value,
        "board": [list(row) for row in game.board.rows],
    }
