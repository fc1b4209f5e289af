"""Other games on the table: new ones, other rules, games in progress, boards set up by hand."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from py2048.board import Board
from py2048.errors import Py2048Error
from py2048.rng import parse_seed
from py2048.rules import RandomStart, Rules, list_rules
from py2048.session import Session
from py2048.ui.desktop import dialogs
from py2048.ui.desktop.dialogs import Choice, Dialog, ListDialog
from py2048.ui.desktop.menus import Menus
from py2048.ui.desktop.presenter import Presenter
from py2048.ui.desktop.window import Window
from py2048.ui.shared.autoplay import Autoplay
from py2048.ui.shared.describe import describe_rules
from py2048.ui.shared.themes import Theme


class Host(Protocol):
    """What the features ask of the application."""

    session: Session
    window: Window
    root: tk.Tk
    scale: float
    theme: Theme
    autoplay: Autoplay
    presenter: Presenter
    menus: Menus

    @property
    def player(self) -> str:
        """The spec of the player that gives hints and plays by itself."""

    def choose_player(self, spec: str) -> None:
        """Let another player give hints and play."""

    def attempt(self, action: Callable[[], object]) -> bool:
        """Do something that may fail; say why if it does. Return whether it worked."""


class Games:
    """The actions that put another game on the table, and the dialogs that ask for it.

    Args:
        app: the application that they belong to.
    """

    def __init__(self, app: Host) -> None:
        self._app = app
        self.session = app.session
        self.window = app.window
        self.root = app.root
        self.dialog: Dialog | None = None

    def close(self) -> None:
        """Close what is open."""
        if self.dialog is not None:
            self.dialog.close()

    def _open(self, make: Callable[[], Dialog]) -> None:
        """Show a dialog in place of the one that is open; autoplay rests meanwhile."""
        self._app.autoplay.stop()
        self.close()
        self.dialog = dialog = make()
        dialog.when_closed(lambda: self._closed(dialog))

    def _closed(self, dialog: Dialog) -> None:
        if self.dialog is dialog:
            self.dialog = None
            self.window.board.focus_force()  # closing it was a deed in this window

    # Games

    def do_new(self) -> None:
        """Start a new game, after asking if one is in progress."""
        self._app.autoplay.stop()
        self._new(self.session.start)

    def _new(self, action: Callable[[], object]) -> None:
        if not self.session.in_progress:
            self._app.attempt(action)
            return
        text = "A game is in progress. Start a new one?"
        self.ask(text, "New game", action)

    def ask(self, text: str, yes: str, action: Callable[[], object], *, no: str = "Go on") -> None:
        """Ask before doing something; Enter does it."""

        def attempt() -> None:
            self._app.attempt(action)

        self._open(lambda: dialogs.ask(self.root, self._app.scale, text, yes, no, attempt))

    def do_seed(self) -> None:
        """Start a game from a seed."""

        def take(text: str) -> str:
            try:
                seed = parse_seed(text)
            except Py2048Error as error:
                return str(error)
            self.root.after_idle(lambda: self._new(lambda: self.session.start(seed=seed)))
            return ""

        text = "The same seed and the same moves give the same game, everywhere."
        seed = str(self.session.game.seed)
        self._prompt("New game from a seed", text, take, seed)

    def _prompt(self, title: str, text: str, take: Callable[[str], str], value: str) -> None:
        self._open(
            lambda: dialogs.prompt(self.root, self._app.scale, title, text, take, value=value)
        )

    def do_rules(self) -> None:
        """Choose rules from the presets, or make rules of one's own."""
        choices = [Choice(each.name, each.name, describe_rules(each)) for each in list_rules()]
        self._open(
            lambda: ListDialog(
                self.root,
                self._app.scale,
                "Rules",
                choices,
                self._take_rules,
                current=self.session.rules.name,
                own="or rules as a text, such as classic:size=5x5",
                more=(("Make your own …", self.open_rules_form),),
            )
        )

    def _take_rules(self, text: str) -> str:
        try:
            rules = Rules.parse(text)
        except Py2048Error as error:
            return str(error)
        self.root.after_idle(lambda: self.play_by(rules))
        return ""

    def choose_rules(self, name: str) -> None:
        """Play by a preset."""
        self._app.autoplay.stop()
        self._app.menus.rules.set(self.session.rules.name)
        self.play_by(Rules.parse(name))

    def open_rules_form(self) -> None:
        """Make rules of one's own in a form."""
        from py2048.ui.desktop.rules_dialog import RulesDialog

        self._open(
            lambda: RulesDialog(self.root, self._app.scale, self.session.rules, self.play_by)
        )

    def play_by(self, rules: Rules) -> None:
        """Go on with the last game under `rules`, or start one."""
        self.session.set_setting("rules", str(rules))
        if rules == self.session.rules:
            self.do_new()
        else:
            self._replace_game(lambda: self.session.switch_rules(rules))

    def _replace_game(self, action: Callable[[], object]) -> None:
        """Put another game on the table; ask first if this one would be lost."""
        if not self.session.in_progress or self.session.keeps_games:
            self._app.attempt(action)
        else:
            self.ask("Leave this game? It cannot be kept.", "Leave it", action)

    def _saved(self) -> list[Choice]:
        try:
            games = self.session.saved_games()
        except Py2048Error as error:
            self.window.warn(str(error))
            return []
        return [
            Choice(
                game.id,
                game.rules.partition(":")[0],
                f"{game.score:,} points, {game.position} moves, last played {day(game.updated)}",
            )
            for game in games
            if game.turns
        ]

    def do_games(self) -> None:
        """Take up another game in progress."""
        choices = self._saved()
        if not choices:
            self.window.say("There are no games in progress.")
            return

        def take(chosen: str) -> str:
            # As it is now: it may have been played on, or finished, in another window.
            try:
                found = [game for game in self.session.saved_games() if game.id == chosen]
            except Py2048Error as error:
                return str(error)
            if not found:
                return "This game is no longer in progress."
            self._app.attempt(lambda: self.session.resume_saved(found[0]))
            return ""

        self._open(
            lambda: ListDialog(self.root, self._app.scale, "Games in progress", choices, take)
        )

    def do_edit(self) -> None:
        """Set up a board."""
        from py2048.ui.desktop.editor import EditorDialog

        app, board = self._app, self.session.game.board
        self._open(lambda: EditorDialog(self.root, app.scale, app.theme, board, self.play_from))

    def play_from(self, board: Board) -> None:
        """Start a game from this position."""
        rules = rules_for(self.session.rules, board)
        self._new(lambda: self.session.start(rules, board=board))


def rules_for(rules: Rules, board: Board) -> Rules:
    """Return `rules` for a board of this size."""
    rows, columns = board.shape
    if rules.shape == board.shape:
        return rules
    most = rows * columns
    start = RandomStart(
        min(rules.start.low, most), min(rules.start.high, most), rules.start.weights
    )
    return replace(rules, rows=rows, columns=columns, start=start)


def day(moment: str) -> str:
    """Return the date and the minute of a time in ISO 8601."""
    return moment[:16].replace("T", " ")
