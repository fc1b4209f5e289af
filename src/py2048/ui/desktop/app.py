"""The application: keys, menus and buttons to the session, the session's events to the window."""

from __future__ import annotations

import queue
import tkinter as tk
from collections.abc import Callable

from py2048.direction import Direction
from py2048.errors import Py2048Error, StorageError
from py2048.players import list_players
from py2048.rules import Rules, get_rules
from py2048.session import HINT_PLAYER, Event, GameStarted, SavingChanged, Session
from py2048.ui.desktop.actions import Action, action_of
from py2048.ui.desktop.dialogs import Dialog
from py2048.ui.desktop.features import Features
from py2048.ui.desktop.memory import Memory
from py2048.ui.desktop.menus import Menus
from py2048.ui.desktop.presenter import PACES, Presenter
from py2048.ui.desktop.window import Window
from py2048.ui.shared.autoplay import PURPOSE, SPEEDS, START_SPEED, Autoplay
from py2048.ui.shared.themes import Theme, get_theme, next_theme
from py2048.ui.shared.thinking import Thinker, Thought

HINT = "hint"
LOOK = 250
"""Milliseconds between looks whether all is saved, while it is not."""

POLL = 15
"""Milliseconds between looks at what the thinker has found, while it thinks."""

WIDGET_KEYS = ("space", "Return", "Tab", "ISO_Left_Tab")
"""Keys that belong to the button that has the focus."""


class DesktopApp:
    """The game in a window.

    Args:
        window: the widgets.
        session: the table to play at.
        theme: the colours that the window has.
        memory: what to remember about the window.
        reduced_motion: show moves without animation.
        player: the spec of the player that gives hints and plays by itself.
    """

    def __init__(
        self,
        window: Window,
        session: Session,
        theme: Theme,
        memory: Memory,
        *,
        reduced_motion: bool = False,
        player: str | None = None,
    ) -> None:
        self.window, self.root, self.scale = window, window.root, window.scale
        self.session = session
        self.theme = theme
        self.dialog: Dialog | None = None
        self._memory = memory
        self._reduced = reduced_motion
        self._wanted_player = player
        self._thoughts: queue.SimpleQueue[Thought] = queue.SimpleQueue()
        self._polling = self._looking = ""
        self._thinker = Thinker(self._thoughts.put)
        self.autoplay = Autoplay(session, self._thinker, self._later, self._show_autoplay)
        speed = session.get_setting("autoplay_speed", START_SPEED)
        self.autoplay.speed = speed if speed in SPEEDS else START_SPEED
        animated = not reduced_motion and session.get_setting("animation", True) is not False
        self.presenter = Presenter(session, window, self.autoplay, is_animated=animated)
        pace = str(session.get_setting("animation_speed", "normal"))
        self.presenter.speed = pace if pace in PACES else "normal"
        self.menus = Menus(self.root, self.act, self.choose, list_players)
        self.features = Features(self)
        self._unsubscribe = session.subscribe(self._listen)
        self._show_looks()
        self.root.protocol("WM_DELETE_WINDOW", self.do_quit)
        if session.unsaved:
            self._listen(SavingChanged(session.unsaved))

    # Beginning and ending

    def begin(self, lay: Callable[[Session], object] | None) -> None:
        """Show the game on the table, or put one there."""
        if self.session.version == 0:
            self._lay(lay or self._resume)
        else:
            game = self.session.game
            self.presenter.show(
                GameStarted(game.board, game.score, self.session.best, resumed=game.ply > 0)
            )
        self._show_possible()

    def _lay(self, lay: Callable[[Session], object]) -> None:
        try:
            lay(self.session)
        except StorageError as error:
            self.window.warn(str(error))
            self.session.start(remembered_rules(self.session))

    def _resume(self, session: Session) -> None:
        if not session.resume():
            session.start(remembered_rules(session))

    def close(self) -> None:
        """Leave the session to others, and remember the window."""
        self.autoplay.stop()
        self._unsubscribe()
        self.features.close()
        self._memory.set(theme=self.theme.name, geometry=self.root.geometry())

    def _listen(self, event: Event) -> None:
        self.presenter.show(event)
        self._show_possible()
        if isinstance(event, SavingChanged):
            self._check_saving()

    def _check_saving(self) -> None:
        """Look again and again while something is not saved."""
        self.session.check_saving()
        if self.session.unsaved and not self._looking:
            self._looking = self.root.after(LOOK, self._look_again)

    def _look_again(self) -> None:
        self._looking = ""
        self._check_saving()

    def _show_possible(self) -> None:
        self.window.show_possible(undo=self.session.can_undo, redo=self.session.can_redo)
        self.menus.rules.set(self.session.rules.name)

    # Actions

    def press(self, event: tk.Event[tk.Misc]) -> str | None:
        """Do what a key asks for."""
        is_button = event.widget not in (self.window.board, self.root)
        if is_button and event.keysym in WIDGET_KEYS:
            return None
        state = int(event.state)
        action = action_of(event.keysym, state, event.keycode, event.char)
        if action is None:
            return None
        self.window.board.hide_ring()
        self.do(action)
        return "break"

    def act(self, name: str) -> None:
        """Do the action called `name`."""
        method = getattr(self, f"do_{name}", None) or getattr(self.features, f"do_{name}")
        method()

    def do(self, action: Action) -> None:
        """Do an action."""
        self.act(action.name)

    def choose(self, what: str, value: str) -> None:
        """Take what was chosen from a list in the menus."""
        method = getattr(self, f"choose_{what}", None) or getattr(self.features, f"choose_{what}")
        method(value)

    def move(self, direction: Direction) -> None:
        """Slide; a person's move ends autoplay."""
        self.autoplay.stop()
        self.session.move(direction)

    def do_up(self) -> None:
        """Slide up."""
        self.move(Direction.UP)

    def do_down(self) -> None:
        """Slide down."""
        self.move(Direction.DOWN)

    def do_left(self) -> None:
        """Slide to the left."""
        self.move(Direction.LEFT)

    def do_right(self) -> None:
        """Slide to the right."""
        self.move(Direction.RIGHT)

    def do_undo(self) -> None:
        """Take the last move back."""
        self.autoplay.stop()
        if not self.session.undo():
            self.window.say("There is nothing to take back.")

    def do_redo(self) -> None:
        """Play a move again."""
        self.autoplay.stop()
        if not self.session.redo():
            self.window.say("There is no move to play again.")

    def do_keep_going(self) -> None:
        """Uncover the board after a win."""
        self.window.cover(None, is_animated=False)
        self.window.board.focus_set()
        self.window.say("Go on: there are larger tiles.")

    # Players

    @property
    def player(self) -> str:
        """The spec of the player that gives hints and plays by itself."""
        return self._wanted_player or str(self.session.get_setting("player", HINT_PLAYER))

    def choose_player(self, spec: str) -> None:
        """Let another player give hints and play."""
        self._wanted_player = None
        self.session.set_setting("player", spec)
        self.window.say(f"Hints and autoplay by {spec}.")
        self.menus.player.set(spec.partition(":")[0])
        if self.autoplay.is_on:
            self.autoplay.stop()
            self.do_autoplay()

    def do_hint(self) -> None:
        """Ask the player what to do, in the background."""
        self.autoplay.stop()
        if self.session.game.is_over:
            self.window.say("The game is over: there is no move to hint at.")
            return
        self.window.cover(None, is_animated=False)
        session, player, question = self.session, self.player, self.session.snapshot()
        self._think(player)
        self._thinker.ask(HINT, lambda: session.advise(question, player))

    def do_autoplay(self) -> None:
        """Let the player play, or stop it."""
        if self.autoplay.is_on:
            self.autoplay.stop()
        elif self.session.game.is_over:
            self.window.say("The game is over: there is nothing to play.")
        else:
            self.window.cover(None, is_animated=False)
            self.autoplay.start(self.player)

    def do_faster(self) -> None:
        """Play faster."""
        self.set_speed(SPEEDS.index(self.autoplay.speed) + 1)

    def do_slower(self) -> None:
        """Play slower."""
        self.set_speed(SPEEDS.index(self.autoplay.speed) - 1)

    def set_speed(self, index: int) -> None:
        """Play at the speed with this place in the table of speeds."""
        step = index - SPEEDS.index(self.autoplay.speed)
        if step:
            self.autoplay.change_speed(step)
            self.session.set_setting("autoplay_speed", self.autoplay.speed)
            speed = self.autoplay.speed
            pace = "as fast as it thinks" if speed == SPEEDS[-1] else f"{speed} moves a second"
            self.window.say(f"Autoplay: {pace}.")

    def _show_autoplay(self) -> None:
        self.window.show_autoplay(self.autoplay, self.set_speed)
        if self.autoplay.is_on:
            self._poll_soon()
        self._forget_thinking()

    def _think(self, player: str) -> None:
        self.presenter.thinking = player
        self.presenter.show_status()
        self._poll_soon()

    def _poll_soon(self) -> None:
        if not self._polling:
            self._polling = self.root.after(POLL, self._poll)

    def _poll(self) -> None:
        """Look whether the thinker has found something; only here do its thoughts reach Tk."""
        self._polling = ""
        while not self._thoughts.empty():
            self._use(self._thoughts.get())
        if self.presenter.thinking or self.autoplay.is_on:
            self._poll_soon()

    def _use(self, thought: Thought) -> None:
        if thought.error:
            self.autoplay.stop()
            self._forget_thinking()
            self.window.warn(thought.error)
        elif thought.purpose == PURPOSE:
            self.autoplay.take(thought)
        else:
            self._take_advice(thought)

    def _take_advice(self, thought: Thought) -> None:
        was_awaited = self.presenter.compiling is not None
        if thought.is_last:
            self._forget_thinking()
        else:
            self.presenter.compiling = thought.compiling
            self.presenter.show_status()
        if thought.hint and not self.session.show_hint(thought.hint) and was_awaited:
            self.window.say(f"{thought.hint.player} is ready: it gives hints from now on.")

    def _forget_thinking(self) -> None:
        self.presenter.thinking, self.presenter.compiling = "", None
        self.presenter.show_status()

    def _later(self, seconds: float, action: Callable[[], None]) -> _Timer:
        return _Timer(self.root, seconds, action)

    # Looks

    def choose_theme(self, name: str) -> None:
        """Change the colours."""
        self.theme = get_theme(name)
        self.window.set_theme(self.theme)
        self._show_looks()
        self.session.set_setting("theme", name)
        self._memory.set(theme=name)
        self.window.say(f"Theme: {self.theme.title}.")

    def do_theme(self) -> None:
        """Switch to the next theme."""
        self.choose_theme(next_theme(self.theme.name).name)

    def choose_speed(self, name: str) -> None:
        """Animate at another speed."""
        self.presenter.speed = name
        self.menus.speed.set(name)
        self.session.set_setting("animation_speed", name)
        self.window.say(f"Animation speed: {name}.")

    def do_animation(self) -> None:
        """Switch the animation off or on."""
        is_animated = self.presenter.is_animated = not self.presenter.is_animated
        self.menus.animated.set(is_animated)
        self.window.board.finish()
        self.session.set_setting("animation", is_animated)
        self.window.say(f"Animation {'on' if is_animated else 'off'}.")

    def do_full_screen(self) -> None:
        """Fill the screen, or not."""
        self.root.attributes("-fullscreen", not self.root.attributes("-fullscreen"))

    def do_quit(self) -> None:
        """Close the window, after asking if something is not saved."""
        self.autoplay.stop()
        if not self.session.unsaved:
            self._quit()
            return
        text = f"Not saved: {self.session.unsaved}. Quit all the same?"
        self.features.ask(text, "Quit", self._quit, no="Stay")

    def _quit(self) -> None:
        self.root.event_generate("<<Quit>>", when="tail")

    def _show_looks(self) -> None:
        self.menus.set_theme(self.theme, self.scale)
        self.menus.animated.set(self.presenter.is_animated)
        self.menus.speed.set(self.presenter.speed)
        self.menus.player.set(self.player.partition(":")[0])

    # Trouble

    def attempt(self, action: Callable[[], object]) -> bool:
        """Do something that may fail; say why if it does. Return whether it worked."""
        try:
            action()
        except (Py2048Error, OSError) as error:
            self.window.warn(str(error))
            return False
        return True


class _Timer:
    """Calls a function after some seconds, unless it is stopped."""

    def __init__(self, root: tk.Tk, seconds: float, action: Callable[[], None]) -> None:
        self._root = root
        self._id = root.after(round(1000 * seconds), action)

    def stop(self) -> None:
        """Do not call."""
        self._root.after_cancel(self._id)


def remembered_rules(session: Session) -> Rules:
    """Return the rules that were chosen last."""
    try:
        return Rules.parse(str(session.get_setting("rules", "classic")))
    except Py2048Error:
        return get_rules("classic")
