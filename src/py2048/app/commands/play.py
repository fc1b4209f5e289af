"""The commands ``play``, ``watch`` and ``desktop-entry``."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.app.commands.screens import UserInterface, open_screen
from py2048.core.errors import Py2048Error
from py2048.core.language import _, number
from py2048.core.rng import derive_seed, random_seed
from py2048.players import make_player
from py2048.presentation import options
from py2048.presentation.streams import StatusLine
from py2048.presentation.themes import get_theme

if TYPE_CHECKING:
    from py2048.app.session import Session
    from py2048.presentation.events import Event

WATCHED_PLAYER = "expectimax"


def play(
    game: options.GameOptions,
    player: options.OptionalPlayer = None,
    ui: Annotated[
        UserInterface,
        typer.Option(
            help="auto plays the moves from a pipe, or opens a window, or the terminal interface; "
            "lines is for screen readers; demo plays a short demonstration."
        ),
    ] = UserInterface.AUTO,
    theme: options.ThemeOption = None,
    resume: Annotated[
        bool | None,
        typer.Option(
            "--resume/--new",
            help="Resume the last game, or start a new one. By default, resume unless rules, "
            "size, seed or player are given.",
        ),
    ] = None,
    reduced_motion: Annotated[
        bool, typer.Option("--reduced-motion", help="Turn animations off.")
    ] = False,
    no_save: Annotated[bool, typer.Option("--no-save", help="Do not save the game.")] = False,
) -> int:
    """Play the game, which is saved after every move."""
    if player is not None:
        make_player(player)  # Reject an unknown player before a screen opens.
    if theme is not None:
        get_theme(theme)
    if resume and game.seed is not None:
        raise Py2048Error(f"--seed {game.seed} is for a new game: leave it or --resume out")
    is_chosen = bool(game.rules or game.size or game.seed)
    chosen_rules, seed = game.chosen()
    # Without --resume, a computer player starts a new game.
    resumes = not (is_chosen or player) if resume is None else resume

    def begin(session: Session) -> Iterable[Event]:
        resumed = session.resume(chosen_rules if is_chosen else None) if resumes else ()
        return resumed or session.start(chosen_rules, seed=seed)

    start = begin if is_chosen or no_save or not resumes else None
    return open_screen(
        ui, save=not no_save, begin=start, theme=theme, reduced_motion=reduced_motion, player=player
    )


def watch(
    game: options.GameOptions,
    player: options.PlayerOption = WATCHED_PLAYER,
    games: options.GamesOption = 1,
    moves: Annotated[int | None, options.counting("Stop each game after this many moves.")] = None,
    delay: options.DelayOption = 0.0,
    quiet: options.QuietOption = False,
    json: options.JsonOption = False,
) -> None:
    """Watch a computer player; nothing is saved."""
    from py2048.app.session import Session  # The import is slow.
    from py2048.presentation.describe import describe
    from py2048.presentation.events import Moved
    from py2048.presentation.screen import moves as counted_moves

    def show(happened: Iterable[Event]) -> None:
        for event in () if quiet or json else happened:
            print(describe(event), flush=True)
            if isinstance(event, Moved):
                time.sleep(delay)

    chosen_rules, first = game.chosen()
    chooser = make_player(player)
    base = random_seed() if first is None else first
    results = []
    for index in range(games):
        session = Session(player=chooser.name)
        show(session.start(chosen_rules, seed=base if index == 0 else derive_seed(base, index)))
        while not session.game.is_over and (moves is None or session.game.ply < moves):
            with StatusLine(quiet=quiet or json):
                hint = session.snapshot().ask(chooser, only_move=True)
            show(session.play_hint(hint))
        played = session.game
        if not json:
            text = _("{player}: score {score}, largest tile {tile}, {moves}, seed {seed}")
            facts = {"player": played.player, "tile": played.board.max_tile, "seed": played.seed}
            facts |= {"score": number(played.score), "moves": counted_moves(played.ply)}
            print(f"{played.board}\n{text.format(**facts)}", flush=True)
        results.append(
            {"player": played.player, "rules": str(played.rules), "seed": played.seed}
            | {"score": played.score, "max_tile": played.board.max_tile, "plies": played.ply}
            | {"outcome": played.outcome.value, "board": played.board.rows}
        )
    if json:
        options.print_json(results)


def desktop_entry(
    remove: Annotated[bool, typer.Option("--remove", help="Remove the entry.")] = False,
) -> None:
    """Add the game to your desktop's menu (Linux, BSD)."""
    files = _entry_files()
    if not remove:
        _install_entry(*files)
    existing = [file for file in files if file.exists()]
    for file in existing:
        if remove:
            file.unlink()
        print((_("removed {file}") if remove else _("wrote {file}")).format(file=file))
    if not existing:
        print(_("nothing to remove"))


# Desktop entry (freedesktop.org)


def _entry_files() -> tuple[Path, Path]:
    """Return the paths of the user's desktop entry and icon.

    Raises:
        Py2048Error: The system has no desktop menu.
    """
    if sys.platform in ("win32", "darwin"):
        from sysconfig import get_path

        raise Py2048Error(
            "desktop entries are for Linux and BSD: here make a shortcut to "
            f"{Path(get_path('scripts'), 'py2048w')}"
        )
    share = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share").absolute()
    icons = share / "icons" / "hicolor" / "scalable" / "apps"
    return share / "applications" / "py2048.desktop", icons / "py2048.svg"


def _install_entry(entry: Path, picture: Path) -> None:
    """Write the desktop entry and the icon for this installation."""
    from importlib.resources import files

    for file in (entry, picture):
        file.parent.mkdir(parents=True, exist_ok=True)
    package = files("py2048")
    picture.write_bytes((package / "server" / "static" / "icons" / "icon.svg").read_bytes())
    # The option -P prevents modules in the working directory from shadowing installed modules.
    python = re.sub(r'(["`$\\])', r"\\\1", sys.executable).replace("%", "%%")
    text = (package / "app" / "desktop" / "py2048.desktop").read_text(encoding="utf-8")
    command = _string(f'"{python}" -P -m py2048')
    text = text.replace("=py2048w", f"={command}").replace(
        "=py2048\n", f"={_string(str(picture))}\n"
    )
    entry.write_text(f"{text}TryExec={_string(sys.executable)}\n", encoding="utf-8")


def _string(text: str) -> str:
    """Escape a string for a desktop entry file."""
    return text.replace("\\", "\\\\").replace("\n", "\\n")
