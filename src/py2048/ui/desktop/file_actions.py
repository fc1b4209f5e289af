"""The desktop's actions on files and the clipboard: records to watch, exports, boards as text."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from py2048.board import Board
from py2048.errors import Py2048Error
from py2048.game import Record
from py2048.game.import_2048verse import load_record
from py2048.ui.shared.controller import minute_of
from py2048.ui.shared.screen import RECORDS, Choice, FileKind, ListRequest

if TYPE_CHECKING:
    from py2048.ui.desktop.app import DesktopApp
    from py2048.ui.desktop.gif_export import GifExport

PICTURES = FileKind("PNG pictures", ".png")
GIFS = FileKind("Animated GIFs", ".gif")
CURRENT = "current"
"""Stands for the current game, which the store has no name for."""


class FileActions:
    """Does them for an application.

    Args:
        app: the application.
    """

    def __init__(self, app: DesktopApp) -> None:
        self._app = app
        self._controller = app.controller
        self._session = app.session
        self._root = app.root

    # The clipboard

    def copy(self) -> None:
        """Copy the board as text."""
        self._root.clipboard_clear()
        self._root.clipboard_append(str(self._session.game.board))
        self._app.say("The board is in the clipboard, as text.")

    def paste(self) -> None:
        """Play from the board in the clipboard."""
        try:
            board = Board.parse(self._root.clipboard_get())
        except tk.TclError:
            self._app.say("The clipboard holds no text.")
        except Py2048Error as error:
            self._app.warn(f"the clipboard holds no board: {error}")
        else:
            self._app.play_from(board)

    # Records to watch

    def choose_replay(self) -> None:
        """Choose a game to watch: the current one, a finished one, or one in a file."""
        choices = [Choice(CURRENT, "This game", f"{self._session.game.score:,} points")]

        def add_finished() -> None:
            choices.extend(
                Choice(
                    game.id,
                    game.rules.partition(":")[0],
                    f"{game.score:,} points, {game.max_tile} reached, {minute_of(game.finished)}",
                )
                for game in self._session.finished(limit=200)
            )

        self._controller.attempt(add_finished)
        more = (("From a file …", self._watch_file),)
        self._app.choose(ListRequest("Watch a game", choices, self._watch_chosen, more=more))

    def _watch_chosen(self, chosen: str) -> None:
        session = self._session
        self._controller.attempt(
            lambda: self.watch(
                session.record() if chosen == CURRENT else session.finished_record(chosen)
            )
        )

    def _watch_file(self) -> None:
        self._app.ask_to_open(
            "Watch a record",
            RECORDS,
            lambda path: self._controller.attempt(lambda: self.watch(load_record(path))),
        )

    def watch(self, record: Record) -> None:
        """Open a record in the viewer.

        Raises:
            RecordError: if the record breaks its own rules.
        """
        from py2048.ui.desktop.replay_window import ReplayWindow

        app, controller = self._app, self._controller

        def play_from(turns: int) -> None:
            controller.replace_game(lambda: self._session.start_from(record, turns))

        app.open(
            lambda: ReplayWindow(
                self._root, app.scale, controller.theme, record, play_from,
                controller.presenter.is_animated,
            )
        )  # fmt: skip

    # Exports

    def export_picture(self) -> None:
        """Write the board as a picture."""
        from py2048.ui.desktop.board_image import save_board_image

        def save(path: Path) -> None:
            game, theme = self._session.game, self._controller.theme
            if self._controller.attempt(
                lambda: save_board_image(path, game.board, game.score, theme)
            ):
                self._app.say(f"Written to {path}.")

        self._ask_to_export("Export the board", PICTURES, save)

    def export_gif(self) -> None:
        """Write the game as an animated GIF, in the background."""
        from py2048.ui.desktop.gif_export import GifExport

        def save(path: Path) -> None:
            export = GifExport(path, self._session.record(), self._controller.theme)
            export.start()
            self._follow(export)

        self._ask_to_export("Export the game", GIFS, save)

    def _ask_to_export(self, title: str, kind: FileKind, save: Callable[[Path], None]) -> None:
        self._controller.autoplay.stop()
        self._app.ask_to_save(title, kind, self._controller.file_name, save)

    def _follow(self, export: GifExport) -> None:
        text = export.progress()
        if text:
            self._app.say(text)
            self._root.after(100, lambda: self._follow(export))
        elif export.error is None:
            self._app.say(f"Written to {export.path}.")
        else:
            self._app.warn(f"cannot write {export.path}: {export.error.strerror}")
