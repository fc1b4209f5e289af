"""What the menus offer besides playing: other games, files, exports, and windows of their own."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from py2048.engine import Board
from py2048.engine.rng import parse_seed
from py2048.errors import Py2048Error, RecordError
from py2048.game import Record
from py2048.game.verse import from_verse, is_verse
from py2048.players import list_players
from py2048.rules import RandomStart, Rules, list_rules
from py2048.session import Session
from py2048.ui.autoplay import Autoplay
from py2048.ui.describe import describe_rules
from py2048.ui.desktop import dialogs
from py2048.ui.desktop.dialogs import Choice, Dialog, ListDialog
from py2048.ui.desktop.files import RECORDS, FileKind, ask_to_open, ask_to_save
from py2048.ui.desktop.menus import Menus
from py2048.ui.desktop.presenter import Presenter
from py2048.ui.desktop.window import Window
from py2048.ui.themes import Theme

if TYPE_CHECKING:
    from py2048.ui.desktop.export import Filming

PICTURES = FileKind("PNG pictures", ".png")
FILMS = FileKind("Animated GIFs", ".gif")
THIS = "this"
"""Stands for the game on the table, which the store has no name for."""


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


class Features:
    """The actions that open dialogs or windows, or that deal with files.

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
            self.window.board.focus_set()

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
        self._ask(text, "New game", action)

    def _ask(self, text: str, yes: str, action: Callable[[], object]) -> None:
        def attempt() -> None:
            self._app.attempt(action)

        self._open(lambda: dialogs.ask(self.root, self._app.scale, text, yes, "Go on", attempt))

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
            self._replace_game(lambda: self._turn_to(rules))

    def _turn_to(self, rules: Rules) -> None:
        if not self.session.resume(rules):
            self.session.start(rules)

    def _replace_game(self, action: Callable[[], object]) -> None:
        """Put another game on the table; ask first if this one would be lost."""
        if not self.session.in_progress or self._saved():
            self._app.attempt(action)
        else:
            self._ask("Leave this game? It cannot be kept.", "Leave it", action)

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
                f"{game.score:,} points, {game.position} moves, last played {_day(game.updated)}",
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
            games = {game.id: game for game in self.session.saved_games()}
            self._app.attempt(lambda: self.session.resume_saved(games[chosen]))
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
                f"{game.score:,} points, {game.max_tile} reached, {_day(game.finished)}",
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
            def lay() -> None:
                self.session.start_from(record)
                while self.session.game.turn_count > turns:
                    self.session.undo()

            self._replace_game(lay)

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
                self.session.adviser(spec)
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


def _day(moment: str) -> str:
    """Return the date and the minute of a time in ISO 8601."""
    return moment[:16].replace("T", " ")
