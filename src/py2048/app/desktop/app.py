"""Desktop application with menus and dialogs, driven by the screen controller."""

from __future__ import annotations

import json
import platform
import sys
import tkinter as tk
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from py2048 import __version__
from py2048.app.controller.background import BackgroundWorker, Failure
from py2048.app.controller.controller import ScreenController, ScreenOptions, fault_of
from py2048.app.controller.review import GameReview
from py2048.app.desktop import board_windows, dialogs
from py2048.app.desktop.board_view import MIN_RING_TILE
from py2048.app.desktop.dialogs import Dialog
from py2048.app.desktop.style import colour_menu, open_below
from py2048.app.desktop.window import MainWindow, action_of
from py2048.app.session import Hint, Session
from py2048.core.errors import Py2048Error, os_errors_as
from py2048.core.game import Record
from py2048.core.language import N_, _
from py2048.core.rng import parse_seed
from py2048.presentation import events
from py2048.presentation.actions import ACTIONS, BY_NAME, HELP_SECTIONS, MENUS, UserAction
from py2048.presentation.board_image import save_board_image, save_gif
from py2048.presentation.describe import describe
from py2048.presentation.hints import headline, options_of, reason_of
from py2048.presentation.screen import FileKind, ListRequest, Status
from py2048.presentation.themes import THEMES, Theme
from py2048.presentation.words import name_of

WIDGET_KEYS = ("space", "Return", "Tab", "ISO_Left_Tab")
"""Keys that are handled by a focused button, not by the game."""

PICTURES = FileKind(N_("PNG pictures"), ".png")
GIFS = FileKind(N_("Animated GIFs"), ".gif")
MOUSE_HELP = (
    ("", ""),
    (N_("Mouse"), N_("Drag over the board, or click near one of its sides, to slide")),
    (N_("Tab"), N_("Moves between the board and the buttons; Space or Enter presses a button")),
    (N_("Escape"), N_("Closes a dialog")),
    ("", N_("The game is saved after every move.")),
)


def text_of(event: events.Event) -> str:
    """Return the message for an event, or "" if no message is needed."""
    if isinstance(event, events.GameStarted):
        keys = _("Arrow keys move. Press ? for a hint, F1 for all keys.")
        return _("Game resumed") if event.resumed else keys
    if isinstance(event, events.Moved) and not event.redone:
        return ""
    if not isinstance(event, events.Hinted):
        return describe(event)
    if event.hint.judged:
        return f"{headline(event.hint)}\n{reason_of(event.hint)}"
    others = [row for row in options_of(event.hint) if row.direction is not event.hint.direction]
    losses = " · ".join(f"{name_of(row.direction)} {row.text}" for row in others)
    return f"{headline(event.hint)}\n{losses}"


class DesktopApp:
    """The desktop application: implements `GameScreen` and adds desktop-only actions.

    Args:
        window: The main window.
        session: The session.
        remember: Function that saves window settings.
        options: How the game is opened.
    """

    def __init__(
        self,
        window: MainWindow,
        session: Session,
        remember: Callable[..., None],
        options: ScreenOptions,
    ) -> None:
        self.window, self.root, self.session = window, window.root, session
        # Methods of `GameScreen` that the widgets implement.
        self.show_board, self.cover = window.board.show, window.cover
        self.show_gain, self.show_coach = window.header.show_gain, window.show_coach
        self.say, self.warn, self.show_unsaved = window.say, window.warn, window.show_unsaved
        self.ask = partial(self.open, dialogs.ask)
        self.choose = partial(self.open, dialogs.ListDialog)
        self.show_practice = partial(self.open, board_windows.PracticeWindow)
        self.dialog: Dialog | None = None
        self._is_closed = False
        self._remember = remember
        self._exporter = BackgroundWorker(self.later)
        self.controller = controller = ScreenController(
            session,
            self,
            window.look.theme,
            reduced_motion=options.get("reduced_motion", False),
            player=options.get("player"),
            text_of=text_of,
        )
        self._follow, controller.presenter.follow = controller.presenter.follow, self._animate
        controller.game.open_pasted = self.watch
        controller.game.more_rules = ((_("Custom rules …"), self.open_rules_form),)
        controller.commands |= {
            "seed": self.new_from_seed,
            "edit": lambda: self.open(
                dialogs.EditorDialog, session.game.board, controller.game.play_from
            ),
            "replay": lambda: controller.game.choose(_("Watch a game"), self.watch),
            "picture": self.export_picture,
            "animated_gif": self.export_gif,
            "copy": self.copy,
            "paste": self.paste,
            "statistics": self.show_statistics,
            "full_screen": self.toggle_full_screen,
            "about": self.show_about,
            "keep_going": self.keep_going,
            "more": self.show_more,
        }
        self.menus = Menus(self.root, controller)
        self.menus.paint()
        self.root.protocol("WM_DELETE_WINDOW", lambda: controller.do("quit"))

    def _animate(self, event: events.Event) -> None:
        """Animate an illegal move or a new largest tile."""
        self._follow(event)
        board = self.window.board
        match event:
            case events.IllegalMove(direction) if self.controller.presenter.is_animated:
                board.lean(direction)
            case events.Moved() if board.is_animated:
                largest = event.board.max_tile
                if largest > max(MIN_RING_TILE - 1, event.before.max_tile):
                    merged = (each.target for each in event.turn.slide.motions if each.merged)
                    board.show_ring(next(cell for cell in merged if event.board[cell] == largest))

    def close(self) -> None:
        """Save the window settings and disconnect from the session."""
        self._is_closed = True
        self.controller.close()
        self._exporter.cancel()
        if self.dialog is not None:
            self.dialog.close()
        language = str(self.session.get_setting("language", ""))
        theme, geometry = self.window.look.theme.name, self.root.geometry()
        now, last = self.session.game.position, ""
        if self.session.keeps_games and now.turn_count and not self.session.game.is_over:
            last = json.dumps((now.board.rows, self.window.header.status))
        self._remember(theme=theme, geometry=geometry, language=language, last=last)

    def press(self, event: tk.Event[tk.Misc]) -> str | None:
        """Handle a key press. Return "break" after an action, so that Tk ignores the key."""
        is_button = event.widget not in (self.window.board, self.root)
        if is_button and event.keysym in WIDGET_KEYS:
            return None
        action = action_of(event.keysym, int(event.state), event.keycode, event.char)
        if action is None:
            return None
        self.window.board.hide_focus_ring()
        self.controller.do(action.name)
        return "break"

    # GameScreen

    def show_hint(self, hint: Hint) -> None:
        """Mark the recommended direction on the board, and show the chances of all directions."""
        rows = options_of(hint) if hint.judged else []
        chances = {row.direction: row.share for row in rows}
        self.window.board.mark(hint.direction, chances=chances)

    def show_status(self, status: Status) -> None:
        """Update scores, buttons and menus."""
        self.window.show_status(status, is_playing=bool(self.controller.players.playing))
        self.menus.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme and remember it."""
        self.window.set_theme(theme)
        self.menus.paint()
        self._remember(theme=theme.name)

    def ask_to_save(
        self, title: str, kind: FileKind, name: str, take: Callable[[Path], object]
    ) -> None:
        """Open the system's file dialog to choose a file to write."""
        chosen = dialogs.ask_file(self.root, title, kind, name)
        if chosen is None:
            return
        if chosen.suffix:
            take(chosen)
        else:  # the file dialog did not check whether this file exists
            path = chosen.with_name(chosen.name + kind.ending)
            self.controller.game.replace_file(path, lambda: take(path))

    def ask_to_open(self, title: str, kind: FileKind, take: Callable[[Path], object]) -> None:
        """Open the system's file dialog to choose a file to read."""
        path = dialogs.ask_file(self.root, title, kind)
        if path is not None:
            take(path)

    def show_review(self, review: GameReview, leave: Callable[[str], object]) -> None:
        """Open the review window."""
        is_animated = self.controller.presenter.is_animated
        self.open(board_windows.ReviewWindow, review, leave, is_animated)

    def show_help(self) -> None:
        """Show all keys and mouse gestures."""
        lines: list[tuple[str, str]] = []
        for title, actions in HELP_SECTIONS:
            lines += [("", ""), ("", _(title))] if title else []
            lines += [(action.shown, _(action.help)) for action in actions if action.shown]
        lines += [(name and _(name), text and _(text)) for name, text in MOUSE_HELP]
        self.open(dialogs.show_table, _("Keys and mouse"), lines)

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Call `action` after a number of seconds."""
        self.root.after(round(1000 * seconds), action)

    def quit(self) -> None:
        """Close the window after pending events."""
        self.root.event_generate("<<Quit>>", when="tail")

    # Dialogs

    def open(self, make: Callable[..., Dialog], *args: Any) -> None:
        """Open a dialog and close any other dialog."""
        if self.dialog is not None:
            self.dialog.close()
        self.dialog = dialog = make(self.window, *args)
        dialog.on_close = lambda: self._on_dialog_closed(dialog)

    def _on_dialog_closed(self, dialog: Dialog) -> None:
        if self.dialog is dialog:
            self.dialog = None
            self.window.board.focus_force()  # takes no focus from other applications

    def new_from_seed(self) -> None:
        """Ask for a seed, and start a game with it."""
        own = _("The same seed and the same moves give the same game, everywhere.")

        def start(seed: str) -> None:
            self.controller.game.start(lambda: self.session.start(seed=parse_seed(seed)))

        check, seed = partial(fault_of, parse_seed), str(self.session.game.seed)
        self.choose(ListRequest(_("New game from a seed"), (), start, seed, own, check))

    def open_rules_form(self) -> None:
        """Open the form for custom rules."""
        self.open(dialogs.RulesDialog, self.session.rules, self.controller.game.play_by)

    def show_statistics(self) -> None:
        """Show statistics of the finished games."""
        from py2048.app.desktop.statistics_window import StatisticsWindow

        self.open(StatisticsWindow, self.session)

    def show_about(self) -> None:
        """Show the versions of py2048 and Python."""
        lines = (
            ("py2048", _("version {version}").format(version=__version__)),
            ("", _("The game 2048, to play, teach and study.")),
            ("Python", platform.python_version()),
        )
        self.open(dialogs.show_table, _("About py2048"), lines)

    def keep_going(self) -> None:
        """Remove the overlay after a win."""
        self.cover(None)
        self.window.board.focus_set()
        self.say(_("Keep going: there are larger tiles."))

    def show_more(self) -> None:
        """Open the menu of the "More" button."""
        open_below(self.window.buttons["more"], self.menus.more)

    def toggle_full_screen(self) -> None:
        """Enter or leave full screen."""
        self.root.attributes("-fullscreen", not self.root.attributes("-fullscreen"))

    # The clipboard

    def copy(self) -> None:
        """Copy the board as text."""
        self._set_clipboard(str(self.session.game.board))
        self.say(_("The board was copied to the clipboard as text."))

    def _set_clipboard(self, text: str) -> None:
        self.root.clipboard_clear()
        self.root.clipboard_append(text)

    def paste(self) -> None:
        """Start a game from a board on the clipboard, or replay a game on the clipboard."""
        try:
            text = self.root.clipboard_get()
        except tk.TclError:
            text = ""
        if self._is_closed:  # the window may close while Tk waits for the clipboard
            return
        if text:
            self.controller.game.paste(text)
        else:
            self.say(_("The clipboard contains no text."))

    def share(self) -> None:
        """Copy the result as text and offer to save a picture. Without a result, copy the board."""
        result = self.controller.presenter.result
        if result is None:
            self.copy()
        else:
            self._set_clipboard(result.words)
            self.export_picture()

    # Replays and exports

    def watch(self, record: Record) -> None:
        """Open a record in the viewer.

        Raises:
            RecordError: If a turn breaks the record's rules.
        """

        def play_from(turns: int) -> None:
            self.controller.game.replace(lambda: self.session.start_from(record, turns))

        def review() -> None:
            self.controller.presenter.attempt(lambda: self.controller.reviews.open(record))

        is_animated = self.controller.presenter.is_animated
        self.open(board_windows.ReplayWindow, record, play_from, review, is_animated)

    def export_picture(self) -> None:
        """Save the board as a PNG picture."""
        game, theme = self.session.game, self.window.look.theme
        write = partial(save_board_image, position=game.board, score=game.score, theme=theme)
        self._export(_("Export the board"), PICTURES, write)

    def export_gif(self) -> None:
        """Save the game as an animated GIF."""
        write = partial(save_gif, record=self.session.record(), theme=self.controller.theme)
        self._export(_("Export the game"), GIFS, write)

    def _export(self, title: str, kind: FileKind, write: Callable[[Path], object]) -> None:
        """Ask for a file name and write the file in the background."""

        def save(path: Path) -> None:
            def export() -> Iterator[str]:
                yield _("Writing {path} …").format(path=path)
                with os_errors_as(Py2048Error, f"cannot write {path}"):
                    write(path)
                yield _("Written to {path}.").format(path=path)

            def report(answer: str | Failure) -> None:
                self.warn(answer.reason) if isinstance(answer, Failure) else self.say(answer)

            self._exporter.run(export, report)

        self.ask_to_save(title, kind, self.controller.game.file_name, save)


# Menus

AFTER_SEPARATOR = ("up", "undo", "theme", "quit", "level", "help", "picture", "copy")
MORE = (
    *("redo", "rules", "games", "coach", "level"),
    *("player", "practice", "review", "statistics", "help"),
)
"""Actions in the menu of the "More" button."""


class Menus:
    """The menu bar with all actions and themes, and the menu of the "More" button.

    Args:
        root: The main window.
        controller: Performs the chosen actions.
    """

    def __init__(self, root: tk.Tk, controller: ScreenController) -> None:
        self._controller = controller
        self.theme, self.animated = tk.StringVar(root), tk.BooleanVar(root)
        self.bar, self.more = tk.Menu(root), tk.Menu(root, tearoff=False)
        self.menus = {name: tk.Menu(self.bar, tearoff=False) for name in MENUS}
        self.themes = tk.Menu(self.bar, tearoff=False)
        for name, menu in self.menus.items():
            self.bar.add_cascade(label=_(name), menu=menu, underline=0)
        for action in ACTIONS:
            menu = self.menus[action.menu]
            if action.name in AFTER_SEPARATOR:
                menu.add_separator()
            self._add(menu, action)
            if action.name == "theme":
                menu.add_cascade(label=_("Colours"), menu=self.themes)
        for name in MORE:
            self._add(self.more, BY_NAME[name])
        for theme in THEMES:
            choose = partial(controller.set_theme, theme.name)
            line = {"label": _(theme.title), "value": theme.name, "command": choose}
            self.themes.add_radiobutton(line | {"variable": self.theme})
        root.configure(menu=self.bar)
        self.refresh()

    def _add(self, menu: tk.Menu, action: UserAction) -> None:
        control = "Command+" if sys.platform == "darwin" else "Ctrl+"
        line: dict[str, Any] = {"label": _(action.title)}
        line["accelerator"] = action.shown.replace("Ctrl+", control)
        line["command"] = partial(self._controller.do, action.name)
        if action.name == "animation":
            menu.add_checkbutton(line | {"variable": self.animated})
        else:
            menu.add_command(line)

    def refresh(self) -> None:
        """Update the check marks of the menu items for the theme and for animation."""
        self.theme.set(self._controller.theme.name)
        self.animated.set(self._controller.presenter.is_animated)

    def paint(self) -> None:
        """Apply the theme's colours to the menus, except on macOS, where the system draws menus."""
        if sys.platform != "darwin":
            for menu in (self.bar, *self.menus.values(), self.themes, self.more):
                colour_menu(menu)
