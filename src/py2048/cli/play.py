"""``play``, ``watch`` and ``desktop-entry``: your game, a computer's, and an icon to click."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli.compiling import hint_of
from py2048.cli.options import (
    DelayOption,
    JsonOption,
    PlayerOption,
    RulesOption,
    SeedOption,
    SizeOption,
    chosen_rules,
    chosen_seed,
    print_json,
)
from py2048.cli.screens import LaunchOptions, UserInterface, open_screen
from py2048.players import list_players, make_player
from py2048.rng import derive_seed, random_seed
from py2048.ui.shared.themes import THEMES, get_theme

if TYPE_CHECKING:
    from py2048.session import Event, Session

WATCHED_PLAYER = "expectimax"


def _themes() -> list[str]:
    return [theme.name for theme in THEMES]


def play(
    rules: RulesOption = None,
    size: SizeOption = None,
    seed: SeedOption = None,
    player: Annotated[
        str | None,
        typer.Option(
            "--player",
            "-p",
            metavar="PLAYER",
            help="Let this player play.",
            autocompletion=list_players,
        ),
    ] = None,
    ui: Annotated[
        UserInterface,
        typer.Option(
            help="auto plays the moves in a pipe, else opens a window, else the terminal's game; "
            "lines suits screen readers; demo shows how it is played."
        ),
    ] = UserInterface.AUTO,
    theme: Annotated[
        str | None,
        typer.Option(metavar="THEME", help="Colours, such as dark.", autocompletion=_themes),
    ] = None,
    resume: Annotated[
        bool | None,
        typer.Option(
            "--resume/--new",
            help="Resume the last game, or start a new one. By default: resume, unless rules, "
            "size, seed or a player are given.",
        ),
    ] = None,
    reduced_motion: Annotated[bool, typer.Option(help="Do not animate.")] = False,
    save: Annotated[bool, typer.Option(help="Keep the game and the score.")] = True,
) -> int:
    """Play. The game is saved after every move."""
    if player is not None:
        make_player(player)  # refuse what is unknown before the screen opens
    if theme is not None:
        get_theme(theme)
    is_chosen = bool(rules or size or seed)
    wanted, number = chosen_rules(rules, size), chosen_seed(seed)
    # A computer player does not take over what a person plays, unless it is told to.
    resumes = not (is_chosen or player) if resume is None else resume

    def begin(session: Session) -> None:
        if not (resumes and session.resume(wanted if is_chosen else None)):
            session.start(wanted, seed=number)

    return open_screen(ui, LaunchOptions(begin, theme, reduced_motion, player, save))


def watch(
    player: PlayerOption = WATCHED_PLAYER,
    rules: RulesOption = None,
    size: SizeOption = None,
    seed: SeedOption = None,
    games: Annotated[int, typer.Option(min=1, help="How many games to play.")] = 1,
    moves: Annotated[
        int | None, typer.Option(min=1, help="Stop each game after so many moves.")
    ] = None,
    delay: DelayOption = 0.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print results only.")] = False,
    json: JsonOption = False,
) -> int:
    """Watch a computer game, printed as it goes. Nothing is saved."""
    from py2048.session import Session  # costs more than a window's first picture

    wanted, first = chosen_rules(rules, size), chosen_seed(seed)
    chooser = make_player(player)
    base = random_seed() if first is None else first
    results = []
    for index in range(games):
        session = Session(player=chooser.name)
        if not (quiet or json):
            session.subscribe(_printer(delay))
        session.start(wanted, seed=base if index == 0 else derive_seed(base, index))
        while not session.game.is_over and (moves is None or session.game.ply < moves):
            snapshot = session.snapshot()
            session.play_hint(hint_of(snapshot, chooser, only_move=True, quiet=quiet or json))
        results.append(_result(session))
        if not json:
            _print_result(session)
    if json:
        print_json(results)
    return 0


def desktop_entry(
    remove: Annotated[bool, typer.Option("--remove", help="Take it out again.")] = False,
) -> int:
    """Put the game into the menu of your desktop (Linux, BSD), with its icon."""
    from py2048.ui.desktop import desktop_entry as entry

    done = entry.remove() if remove else entry.install()
    for file in done:
        print(f"{'removed' if remove else 'wrote'} {file}")
    if not done:
        print("nothing to remove")
    return 0


def _printer(delay: float) -> Callable[[Event], None]:
    from py2048.session import Moved
    from py2048.ui.shared.describe import describe

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
