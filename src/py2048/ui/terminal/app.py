"""The Textual application: keys to the session, the session's events to the table."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.message import Message
from textual.theme import Theme as Palette
from textual.timer import Timer

from py2048.direction import Direction
from py2048.errors import Py2048Error, StorageError
from py2048.game import Record
from py2048.players import list_players
from py2048.rules import Rules, list_rules
from py2048.session import HINT_PLAYER, Event, SavedGame, SavingChanged, Session, StorageFailed
from py2048.ui.shared.autoplay import PURPOSE, SPEEDS, START_SPEED, Autoplay
from py2048.ui.shared.describe import describe_rules
from py2048.ui.shared.themes import (
    DEFAULT_THEME,
    THEMES,
    Theme,
    ThemeError,
    get_theme,
    in_sixteen_colours,
    next_theme,
)
from py2048.ui.shared.thinking import Thinker, Thought
from py2048.ui.terminal.board import BoardView
from py2048.ui.terminal.dialogs import Choice, Help, Menu, Prompt, Question
from py2048.ui.terminal.keys import BINDINGS
from py2048.ui.terminal.presenter import Presenter
from py2048.ui.terminal.standing import standing
from py2048.ui.terminal.table import Table

HINT = "hint"

LOOKING = 0.25
"""Seconds between looks whether all is saved, while it is not."""

SHORTEST_TIMER = 0.001
"""Seconds; Textual divides by a timer's interval."""


class GameApp(App[None]):
    """The game in a terminal.

    Args:
        session: the table to play at; if nothing was started on it, the last unfinished game is
            resumed, or a new one begins.
        theme: the name of a theme; by default the one used last.
        reduced_motion: show moves without animation; by default as chosen last.
        player: the spec of a player that plays from the start and gives hints; by default
            nobody plays, and hints come from the player chosen last.

    Raises:
        ThemeError: if there is no such theme.
    """

    CSS_PATH = "style.tcss"
    TITLE = "2048"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [*BINDINGS]

    class Thinking(Message):
        """The thinker has finished a thought."""

        def __init__(self, thought: Thought) -> None:
            super().__init__()
            self.thought = thought

    def __init__(
        self,
        session: Session,
        *,
        theme: str | None = None,
        reduced_motion: bool = False,
        player: str | None = None,
    ) -> None:
        super().__init__()
        self.session = session
        self.table = Table()
        self._wanted_player = player
        self._closed_dialog = 0.0
        self._is_looking = False
        self._palette = get_theme(theme) if theme else self._remembered_theme()
        for known in THEMES:
            self.register_theme(_palette(self._shown(known)))
        self.theme = self._palette.name
        thinker = Thinker(lambda thought: self.post_message(self.Thinking(thought)))
        self._thinker = thinker
        self.autoplay = Autoplay(session, thinker, self._later, self._show_status)
        speed = session.get_setting("autoplay_speed", START_SPEED)
        self.autoplay.speed = speed if speed in SPEEDS else START_SPEED
        animated = not reduced_motion and session.get_setting("animation", True) is not False
        animated = animated and self.animation_level != "none"
        self.presenter = Presenter(session, self.table, self.autoplay, is_animated=animated)

    def compose(self) -> ComposeResult:
        """The table is all there is."""
        yield self.table

    def on_mount(self) -> None:
        """Begin to listen, and put a game on the table."""
        self._quit_on_signals()
        self.table.set_theme(self._shown(self._palette))
        self._unsubscribe = self.session.subscribe(self._listen)
        if self.session.version == 0:
            self._begin()
        else:
            for event in standing(self.session):
                self.presenter.show(event)
        if self.session.unsaved:
            self._listen(SavingChanged(self.session.unsaved))
        if self._wanted_player:
            self.action_autoplay()

    def on_unmount(self) -> None:
        """Leave the session to others."""
        self._unsubscribe()

    async def on_event(self, event: events.Event) -> None:
        """Hear of an event; keys and clicks that come while all closes are for nobody."""
        if self.screen_stack or not isinstance(event, events.InputEvent):
            await super().on_event(event)

    def _quit_on_signals(self) -> None:
        """Give the terminal back as it was when the process is asked to end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP) if sys.platform != "win32" else ():
            # Another thread than the main one may not; there it is the host's business.
            with suppress(RuntimeError, ValueError):
                loop.add_signal_handler(number, self.exit, None, 128 + number)

    def _later(self, seconds: float, action: Callable[[], None]) -> Timer:
        return self.set_timer(max(seconds, SHORTEST_TIMER), action)

    def _show_status(self) -> None:
        self.presenter.show_status()

    def _listen(self, event: Event) -> None:
        if isinstance(event, StorageFailed):
            self._warn(event.message)
        elif isinstance(event, SavingChanged):
            self.table.show_unsaved(event.unsaved)
            self._check_saving()
        else:
            self.presenter.show(event)

    def _check_saving(self) -> None:
        """Look again and again while something is not saved."""
        self.session.check_saving()
        if self.session.unsaved and not self._is_looking:
            self._is_looking = True
            self.set_timer(LOOKING, self._look_again)

    def _look_again(self) -> None:
        self._is_looking = False
        self._check_saving()

    async def action_quit(self) -> None:
        """Quit, after asking if something is not saved."""
        self.autoplay.stop()
        if not self.session.unsaved:
            self.exit()
            return
        text = f"Not saved: {self.session.unsaved}. Quit all the same?"
        self._ask(Question(text, "quit", "stay"), self.exit)

    # Moves

    def action_move(self, direction: str) -> None:
        """Slide; a person's move ends autoplay."""
        self.autoplay.stop()
        self.session.move(Direction.parse(direction))

    def on_board_view_pushed(self, event: BoardView.Pushed) -> None:
        """Slide where the mouse went, unless it is the second half of a double click."""
        if monotonic() - self._closed_dialog > self.CLICK_CHAIN_TIME_THRESHOLD:
            self.action_move(str(event.direction))

    def pop_screen(self) -> AwaitComplete:
        """Leave a dialog; a click that follows at once was meant for it, not for the board."""
        self._closed_dialog = monotonic()
        return super().pop_screen()

    def action_undo(self) -> None:
        """Take the last move back."""
        self.autoplay.stop()
        if not self.session.undo():
            self.table.say("There is nothing to take back.")

    def action_redo(self) -> None:
        """Play a move again."""
        self.autoplay.stop()
        if not self.session.redo():
            self.table.say("There is no move to play again.")

    # Games

    def _begin(self) -> None:
        try:
            if self.session.resume():
                return
        except StorageError as error:
            self._warn(str(error))
        self.session.start(self._remembered_rules())

    def action_new(self) -> None:
        """Start a new game, after asking if one is in progress."""
        self.autoplay.stop()
        if not self.session.in_progress:
            self.session.start()
            return
        question = Question("Start a new game?", "new game", "go on with this one")
        self._ask(question, self.session.start)

    def action_rules(self) -> None:
        """Choose rules, then go on with their game or start one."""
        self.autoplay.stop()
        choices = [Choice(rules.name, rules.name, describe_rules(rules)) for rules in list_rules()]
        menu = Menu(
            "Rules",
            choices,
            current=self.session.rules.name,
            own="rules of your own, such as classic:size=5x5",
            check=lambda text: _trouble(lambda: Rules.parse(text)),
        )
        self.push_screen(menu, self._take_rules)

    def _take_rules(self, text: str | None) -> None:
        if text is None:
            return
        rules = Rules.parse(text)
        self.session.set_setting("rules", str(rules))
        if rules == self.session.rules:
            self.action_new()
        else:
            self._replace_game(lambda: self.session.switch_rules(rules))

    def action_games(self) -> None:
        """Take up another game in progress."""
        self.autoplay.stop()
        others = {game.id: game for game in self._saved_games() if game.turns}
        choices = [
            Choice(game.id, game.rules.partition(",")[0], f"{game.score} points, {game.updated}")
            for game in others.values()
        ]
        if not choices:
            self.table.say("There are no games in progress.")
            return

        def take(id_: str | None) -> None:
            if id_ is not None:
                self._attempt(lambda: self.session.resume_saved(others[id_]))

        self.push_screen(Menu("Games in progress", choices), take)

    def action_save(self) -> None:
        """Ask for a file and save the game as a record in it."""
        game = self.session.game
        name = f"{game.rules.name}-{game.score}.2048.json"
        self.push_screen(Prompt("Save this game as", name), self._save)

    def _save(self, name: str | None) -> None:
        if name is not None:
            path = Path(name).expanduser()
            if self._attempt(lambda: self.session.save_record(path)):
                self.table.say(f"Saved as {path}.")

    def action_open(self) -> None:
        """Ask for a record and go on with its game."""
        self.autoplay.stop()
        self.push_screen(Prompt("Go on from the record"), self._open)

    def _open(self, name: str | None) -> None:
        if name is not None:
            path = Path(name).expanduser()
            self._replace_game(lambda: self.session.start_from(Record.load(path)))

    def _replace_game(self, action: Callable[[], object]) -> None:
        """Put another game on the table; ask first if this one would be lost."""
        if self.session.keeps_games or not self.session.in_progress:
            self._attempt(action)
            return
        question = Question("Leave this game? It cannot be kept.", "leave it", "go on with it")
        self._ask(question, action)

    def _ask(self, question: Question, action: Callable[[], object]) -> None:
        """Do something if the player says yes."""

        def answer(yes: bool | None) -> None:
            if yes:
                self._attempt(action)

        self.push_screen(question, answer)

    # Players

    @property
    def player(self) -> str:
        """The spec of the player that gives hints and plays by itself."""
        return self._wanted_player or str(self.session.get_setting("player", HINT_PLAYER))

    def action_hint(self) -> None:
        """Ask the player what to do, in the background."""
        self.autoplay.stop()
        if self.session.game.is_over:
            self.table.say("The game is over: there is no move to hint at.")
            return
        session, player, question = self.session, self.player, self.session.snapshot()
        self.table.say(f"{player} is thinking …")
        self._thinker.ask(HINT, lambda: session.advise(question, player))

    def action_autoplay(self) -> None:
        """Let the player play, or stop it."""
        if self.autoplay.is_on:
            self.autoplay.stop()
        elif not self.session.game.is_over:
            self.autoplay.start(self.player)

    def action_faster(self) -> None:
        """Play faster."""
        self._change_speed(1)

    def action_slower(self) -> None:
        """Play slower."""
        self._change_speed(-1)

    def _change_speed(self, step: int) -> None:
        self.autoplay.change_speed(step)
        self.session.set_setting("autoplay_speed", self.autoplay.speed)

    def on_game_app_thinking(self, event: Thinking) -> None:
        """Use a thought, unless the game has moved on."""
        thought = event.thought
        if thought.error:
            self.autoplay.stop()
            self.presenter.show_compiling(None)
            self.table.say("")
            self._warn(thought.error)
        elif thought.purpose == PURPOSE:
            self.presenter.show_compiling(None)  # what a hint waited for, which nobody does now
            self.autoplay.take(thought)
        else:
            was_awaited = self.presenter.show_compiling(thought.compiling)
            if thought.hint and not self.session.show_hint(thought.hint) and was_awaited:
                self.table.say(f"{thought.hint.player} is ready: it gives hints from now on.")

    def action_player(self) -> None:
        """Choose who gives hints and plays by itself."""
        self.autoplay.stop()
        menu = Menu(
            "Player for hints and autoplay",
            [Choice(name, name) for name in list_players()],
            current=self.player.partition(":")[0],
            own="a player, such as expectimax:depth=2",
            check=lambda text: _trouble(lambda: self.session.get_player(text)),
        )
        self.push_screen(menu, self._take_player)

    def _take_player(self, spec: str | None) -> None:
        if spec is not None:
            self._wanted_player = None
            self.session.set_setting("player", spec)
            self.table.say(f"Hints and autoplay by {spec}.")

    # Looks

    def action_theme(self) -> None:
        """Switch to the next theme."""
        self._palette = next_theme(self._palette.name)
        self.theme = self._palette.name
        self.table.set_theme(self._shown(self._palette))
        self.table.say(f"Theme: {self._palette.title}.")
        self.session.set_setting("theme", self._palette.name)

    def action_animation(self) -> None:
        """Switch the animation off or on."""
        is_animated = self.presenter.is_animated = not self.presenter.is_animated
        self.table.board.finish()
        self.table.say(f"Animation {'on' if is_animated else 'off'}.")
        self.session.set_setting("animation", is_animated)

    def action_help(self) -> None:
        """Show all keys."""
        self.autoplay.stop()
        self.push_screen(Help())

    def _shown(self, theme: Theme) -> Theme:
        """Return the theme as this terminal can show it."""
        return in_sixteen_colours(theme) if self.console.color_system == "standard" else theme

    def _remembered_theme(self) -> Theme:
        try:
            return get_theme(str(self.session.get_setting("theme", DEFAULT_THEME.name)))
        except ThemeError:
            return DEFAULT_THEME

    def _remembered_rules(self) -> Rules | None:
        text = str(self.session.get_setting("rules", "classic"))
        return None if _trouble(lambda: Rules.parse(text)) else Rules.parse(text)

    # Trouble

    def _warn(self, message: str) -> None:
        self.notify(message, severity="warning", timeout=8, markup=False)

    def _attempt(self, action: Callable[[], object]) -> bool:
        """Do something that may fail; say why if it does. Return whether it worked."""
        try:
            action()
        except (Py2048Error, OSError) as error:
            self._warn(str(error))
            return False
        return True

    def _saved_games(self) -> list[SavedGame]:
        try:
            return self.session.saved_games()
        except StorageError as error:
            self._warn(str(error))
            return []


def _trouble(action: Callable[[], object]) -> str:
    """Return why `action` fails, or an empty text if it does not."""
    try:
        action()
    except Py2048Error as error:
        return str(error)
    return ""


def _palette(theme: Theme) -> Palette:
    """Return our theme as Textual's, for the style sheet and the built-in widgets."""
    return Palette(
        name=theme.name,
        primary=theme.accent,
        accent=theme.accent,
        foreground=theme.ink,
        background=theme.page,
        surface=theme.panel,
        panel=theme.panel,
        warning=theme.accent,
        error=theme.accent,
        dark=theme.dark,
        variables={"text-muted": theme.muted, "text-error": theme.accent},
    )
