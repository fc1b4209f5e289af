"""What the menus offer besides games: the clipboard, files, exports, and windows of their own."""

from __future__ import annotations

import tkinter as tk
from pathlib import Path
from typing import TYPE_CHECKING

from py2048.board import Board
from py2048.errors import Py2048Error, RecordError
from py2048.game import Record
from py2048.game.import_2048verse import from_verse, is_verse
from py2048.players import list_players
from py2048.ui.desktop import dialogs
from py2048.ui.desktop.dialogs import Choice, Dialog, ListDialog
from py2048.ui.desktop.files import RECORDS, FileKind, ask_to_open, ask_to_save
from py2048.ui.desktop.games import Games, day

if TYPE_CHECKING:
    from py2048.ui.desktop.export import Filming

PICTURES = FileKind("PNG pictures", ".png")
FILMS = FileKind("Animated GIFs", ".gif")
THIS = "this"
"""Stands for the game on the table, which the store has no name for."""


class Features(Games):
    """The actions that open windows or deal with files, besides those of `Games`."""

    # The clipboard

    def do_copy(self) -> None:
        """Copy the board as text."""
        self.root.clipboard_clear()
        self.root.clipboard_append(str(self.session.game.board))
        self.window.say("The board is in the clipboard, as text.")

    def do_paste(self) -> None:
        """Play on from the board in the clipboard."""
        try:
            text = self.root.clipboard_get()
        except tk.TclError:
            self.window.say("The clipboard holds no text.")
            return
        try:
            board = Board.parse(text)
        except Py2048Error as error:
            self.window.warn(f"the clipboard holds no board: {error}")
            return
        self.play_from(board)

    # Records

    def do_save(self) -> None:
        """Write the game as a record to a file."""
        path = self._ask_to_save("Save this game", RECORDS)
        if path and self._app.attempt(lambda: self.session.save_record(path)):
            self.window.say(f"Saved as {path}.")

    def do_open(self) -> None:
        """Go on from a record in a file."""
        record = self._load("Go on from a record")
        if record is not None:
            self._replace_game(lambda: self.session.start_from(record))

    def do_replay(self) -> None:
        """Choose a game to watch: this one, a finished one, or one in a file."""
        try:
            finished = self.session.finished(limit=200)
        except Py2048Error as error:
            self.window.warn(str(error))
            finished = []
        choices = [Choice(THIS, "This game", f"{self.session.game.score:,} points")]
        choices += [
            Choice(
                game.id,
                game.rules.partition(":")[0],
                f"{game.score:,} points, {game.max_tile} reached, {day(game.finished)}",
            )
            for game in finished
        ]
        more = (("From a file …", self._watch_file),)
        self._open(
            lambda: ListDialog(
                self.root, self._app.scale, "Watch a game", choices, self._watch, more=more
            )
        )

    def _watch(self, chosen: str) -> str:
        try:
            record = (
                self.session.record() if chosen == THIS else self.session.finished_record(chosen)
            )
        except Py2048Error as error:
            return str(error)
        self.root.after_idle(lambda: self.watch(record))
        return ""

    def _watch_file(self) -> None:
        record = self._load("Watch a record")
        if record is not None:
            self.watch(record)

    def watch(self, record: Record) -> None:
        """Open a record in the viewer."""
        from py2048.ui.desktop.replay_window import ReplayWindow

        app = self._app

        def play_on(turns: int) -> None:
            self._replace_game(lambda: self.session.start_from(record, turns))

        def view() -> Dialog:
            is_animated = app.presenter.is_animated
            return ReplayWindow(self.root, app.scale, app.theme, record, play_on, is_animated)

        try:
            self._open(view)
        except RecordError as error:
            self.window.warn(str(error))

    def _load(self, title: str) -> Record | None:
        self._app.autoplay.stop()
        path = ask_to_open(self.root, title, RECORDS)
        if path is None:
            return None
        try:
            return read_record(path)
        except Py2048Error as error:
            self.window.warn(str(error))
            return None

    def _ask_to_save(self, title: str, kind: FileKind) -> Path | None:
        self._app.autoplay.stop()
        game = self.session.game
        return ask_to_save(self.root, title, kind, f"{game.rules.name}-{game.score}")

    # Exports

    def do_picture(self) -> None:
        """Write the board as a picture."""
        from py2048.ui.desktop.export import save_picture

        path = self._ask_to_save("Export the board", PICTURES)
        game = self.session.game
        if path and self._app.attempt(
            lambda: save_picture(path, game.board, game.score, self._app.theme)
        ):
            self.window.say(f"Written to {path}.")

    def do_film(self) -> None:
        """Write the game as an animated GIF, in the background."""
        from py2048.ui.desktop.export import Filming

        path = self._ask_to_save("Export the game", FILMS)
        if path is None:
            return
        filming = Filming(path, self.session.record(), self._app.theme)
        filming.start()
        self._follow(filming)

    def _follow(self, filming: Filming) -> None:
        text = filming.progress()
        if text:
            self.window.say(text)
            self.root.after(100, lambda: self._follow(filming))
        elif filming.error is None:
            self.window.say(f"Written to {filming.path}.")
        else:
            self.window.warn(f"cannot write {filming.path}: {filming.error.strerror}")

    # Others

    def do_player(self) -> None:
        """Choose who gives hints and plays by itself."""
        choices = [Choice(name, name) for name in list_players()]

        def take(spec: str) -> str:
            try:
                self.session.get_player(spec)
            except Py2048Error as error:
                return str(error)
            self._app.choose_player(spec)
            return ""

        self._open(
            lambda: ListDialog(
                self.root,
                self._app.scale,
                "Player for hints and autoplay",
                choices,
                take,
                current=self._app.player.partition(":")[0],
                own="or a player with options, such as expectimax:depth=3",
            )
        )

    def do_statistics(self) -> None:
        """Show one's games in numbers and plots."""
        from py2048.ui.desktop.statistics_window import StatisticsWindow

        app = self._app
        self._open(lambda: StatisticsWindow(self.root, app.scale, app.theme, self.session))

    def do_help(self) -> None:
        """Show all keys."""
        from py2048.ui.desktop.help import LINES

        self._open(lambda: dialogs.read(self.root, self._app.scale, "Keys and mouse", LINES))

    def do_about(self) -> None:
        """Say what this is."""
        from py2048.ui.desktop.help import about

        self._open(lambda: dialogs.read(self.root, self._app.scale, "About py2048", about()))


def read_record(path: Path) -> Record:
    """Return the record in a file: ours, or a replay text of 2048verse.

    Raises:
        RecordError: if the file holds neither.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return Record.load(path)  # fails too, and says why
    return from_verse(text) if is_verse(text.lstrip("\ufeff")) else Record.load(path)
