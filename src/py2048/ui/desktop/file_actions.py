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
from py2048.ui.desktop.dialogs import Dialog
from py2048.ui.shared.controller import Controller, minute_of
from py2048.ui.shared.screen import RECORDS, Choice, FileKind, ListRequest

if TYPE_CHECKING:
    from py2048.ui.desktop.gif_export import GifExport

PICTURES = FileKind("PNG pictures", ".png")
GIFS = FileKind("Animated GIFs", ".gif")
CURRENT = "current"
"""Stands for the current game, which the store has no name for."""


class FileActions:
    """Does them for a window.

    Args:
        controller: of the game.
        root: the window.
        scale: how many pixels of this screen are one of an ordinary screen.
        open_dialog: shows a dialog in place of the one that is open.
        play_from: starts a game from a position.
    """

    def __init__(
        self,
        controller: Controller,
        root: tk.Tk,
        scale: float,
        open_dialog: Callable[[Callable[[], Dialog]], None],
        play_from: Callable[[Board], None],
    ) -> None:
        self._controller, self._session = controller, controller.session
        self._screen = controller.screen
        self._root, self._scale = root, scale
        self._open_dialog, self._play_from = open_dialog, play_from

    # The clipboard

    def copy(self) -> None:
        """Copy the board as text."""
        self._root.clipboard_clear()
        self._root.clipboard_append(str(self._session.game.board))
        self._screen.say("The board is in the clipboard, as text.")

    def paste(self) -> None:
        """Play from the board in the clipboard."""
        try:
            board = Board.parse(self._root.clipboard_get())
        except tk.TclError:
            self._screen.say("The clipboard holds no text.")
        except Py2048Error as error:
            self._screen.warn(f"the clipboard holds no board: {error}")
        else:
            self._play_from(board)

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
        self._screen.choose(ListRequest("Watch a game", choices, self._watch_chosen, more=more))

    def _watch_chosen(self, chosen: str) -> None:
        session = self._session
        self._controller.attempt(
            lambda: self.watch(
                session.record() if chosen == CURRENT else session.finished_record(chosen)
            )
        )

    def _watch_file(self) -> None:
        self._screen.ask_to_open(
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

        controller = self._controller

        def play_from(turns: int) -> None:
            controller.replace_game(lambda: self._session.start_from(record, turns))

        self._open_dialog(
            lambda: ReplayWindow(
                self._root, self._scale, controller.theme, record, play_from,
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
                self._screen.say(f"Written to {path}.")

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
        self._screen.ask_to_save(title, kind, self._controller.file_name, save)

    def _follow(self, export: GifExport) -> None:
        text = export.progress()
        if text:
            self._screen.say(text)
            self._root.after(100, lambda: self._follow(export))
        elif export.error is None:
            self._screen.say(f"Written to {export.path}.")
        else:
            self._screen.warn(f"cannot write {export.path}: {export.error.strerror}")
