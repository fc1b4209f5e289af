"""The terminal application, built with Textual."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Unpack

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import App, ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.filter import LineFilter
from textual.screen import ModalScreen
from textual.theme import Theme as TextualTheme

from py2048.app.controller.controller import ScreenController, ScreenOptions
from py2048.app.controller.review import GameReview
from py2048.app.session import Session
from py2048.app.terminal import screens
from py2048.app.terminal.board import TerminalBoard
from py2048.app.terminal.game_view import GameView
from py2048.core.folders import expanded
from py2048.core.language import N_, _
from py2048.presentation import themes
from py2048.presentation.actions import ACTIONS
from py2048.presentation.describe import describe
from py2048.presentation.events import Event, GameOver, GameStarted, Hinted, Moved, Undone
from py2048.presentation.motion import BoardTransition
from py2048.presentation.result import Result
from py2048.presentation.screen import FileKind, ListRequest

if TYPE_CHECKING:
    from py2048.app.controller.practice import PracticeRun

FILE_PROMPT = N_("file name")
MIN_TIMER_S = 0.001  # Must be positive, because Textual divides by the interval.


class GameApp(App[None]):
    """The terminal game, which implements `GameScreen`.

    Args:
        session: The session. If the session has no game, the app resumes the last unfinished game
            or starts a new game.
        options: See `ScreenOptions`.

    Raises:
        ThemeError: If the theme does not exist.
    """

    CSS_PATH = "style.tcss"
    TITLE = "2048"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *screens.bindings_of(ACTIONS, "do"),
        Binding("ctrl+c", "do('quit')", "Quit", show=False),
    ]

    def __init__(self, session: Session, **options: Unpack[ScreenOptions]) -> None:
        super().__init__()
        self._begin = options.get("begin")
        self.view = view = GameView()
        # Methods of `GameScreen` that the view implements.
        self.show_status, self.show_hint = view.show_status, view.show_hint
        self.say, self.show_unsaved = view.say, view.show_unsaved
        self.show_coach, self.show_gain = view.show_coach, view.show_gain
        self._dialog_closed_at = 0.0
        saved = themes.BY_NAME.get(str(session.get_setting("theme", "")), themes.DEFAULT_THEME)
        name, player = options.get("theme"), options.get("player")
        initial = themes.get_theme(name) if name else saved
        for each in themes.THEMES:
            self.register_theme(_textual_theme(self._displayable(each)))
        self.theme = initial.name
        is_still = options.get("reduced_motion", False) or self.animation_level == "none"
        self.controller = ScreenController(
            session, self, initial, reduced_motion=is_still, player=player, text_of=brief
        )

    def compose(self) -> ComposeResult:
        """Create the game view."""
        yield self.view

    def on_mount(self) -> None:
        """Apply the theme and show the game."""
        self._quit_on_signals()
        self.set_theme(self.controller.theme)
        self.controller.begin(self._begin)

    def on_unmount(self) -> None:
        """Disconnect from the session."""
        self.controller.close()

    async def on_event(self, event: events.Event) -> None:
        """Handle an event. Input is ignored while the application is closing."""
        if self.screen_stack or not isinstance(event, events.InputEvent):
            await super().on_event(event)

    def _quit_on_signals(self) -> None:
        """Exit on SIGTERM and SIGHUP, so that Textual can restore the terminal."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP) if sys.platform != "win32" else ():
            with suppress(RuntimeError, ValueError):  # only possible in the main thread
                loop.add_signal_handler(number, self.exit, None, 128 + number)

    # Input

    def action_do(self, name: str) -> None:
        """Perform an action."""
        self.controller.do(name)

    def on_terminal_board_gesture(self, event: TerminalBoard.Gesture) -> None:
        """Move in the direction of a gesture, unless a double click just closed a dialog."""
        if monotonic() - self._dialog_closed_at > self.CLICK_CHAIN_TIME_THRESHOLD:
            self.controller.do(str(event.direction))

    def on_paste(self, event: events.Paste) -> None:
        """Start a game from a pasted board, or continue a pasted game."""
        if not isinstance(self.screen, ModalScreen):
            self.controller.game.paste(event.text)

    def pop_screen(self) -> AwaitComplete:
        """Close a dialog and record the time, to detect double clicks."""
        self._dialog_closed_at = monotonic()
        return super().pop_screen()

    # GameScreen

    def show_board(self, transition: BoardTransition, pace: float) -> None:
        """Animate a board transition."""
        self.view.set_shape(transition.board.shape)
        self.view.board.show(transition, pace)

    def cover(self, result: Result | None) -> None:
        """Show a result as an overlay and remove the hint. `None` removes the overlay."""
        self.view.show_hint(None)
        self.view.cover(result)

    def warn(self, text: str) -> None:
        """Show a warning for eight seconds."""
        self.notify(text, severity="warning", timeout=8, markup=False)

    def set_theme(self, theme: themes.Theme) -> None:
        """Apply a theme."""
        self.theme = theme.name
        self.view.set_theme(self._displayable(theme))

    def ask(self, text: str, yes: str, no: str, action: Callable[[], object]) -> None:
        """Ask a yes-no question, and run `action` if the answer is yes."""
        self.push_screen(screens.ConfirmDialog(text, yes.lower(), no.lower(), action))

    def choose(self, request: ListRequest) -> None:
        """Let the player choose from a list."""
        self.push_screen(screens.ListScreen(request))

    def ask_to_save(
        self, title: str, kind: FileKind, name: str, take: Callable[[Path], object]
    ) -> None:
        """Ask for the name of a file to write."""

        def write(typed: str) -> None:
            path = expanded(typed)
            self.controller.game.replace_file(path, lambda: take(path))

        unused = _unused_name(name, kind.ending)
        self.choose(ListRequest(title, (), write, current=unused, own=_(FILE_PROMPT)))

    def ask_to_open(self, title: str, kind: FileKind, take: Callable[[Path], object]) -> None:  # noqa: ARG002 - any file may be named
        """Ask for the name of a file to read."""
        self.choose(ListRequest(title, (), lambda typed: take(expanded(typed)), own=_(FILE_PROMPT)))

    def show_review(self, review: GameReview, leave: Callable[[str], object]) -> None:
        """Open the review screen."""
        theme = self._displayable(self.controller.theme)
        is_animated = self.controller.presenter.is_animated
        self.push_screen(screens.ReviewScreen(review, leave, theme, is_animated))

    def show_practice(self, run: PracticeRun, answer: Callable[[str], object]) -> None:
        """Open the practice screen."""
        theme = self._displayable(self.controller.theme)
        self.push_screen(screens.PracticeScreen(run, answer, theme))

    def show_help(self) -> None:
        """Show all actions and their keys."""
        self.push_screen(screens.MoreScreen(self.controller.do))

    def share(self) -> None:
        """Copy the game's result as text, or the board if there is no result yet."""
        result = self.controller.presenter.result
        self.copy_to_clipboard(result.words if result else str(self.controller.session.game.board))
        self.say(_("Copied."))

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Call `action` after a number of seconds."""
        self.set_timer(max(seconds, MIN_TIMER_S), action)

    def quit(self) -> None:
        """Exit the application."""
        self.exit()

    def _displayable(self, theme: themes.Theme) -> themes.Theme:
        """Reduce a theme's colours to those that the terminal supports."""
        reduce = COLOUR_REDUCTIONS.get(self.console.color_system or "")
        return reduce(theme) if reduce else theme

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Disable bold text on 16-colour terminals, because many of them change its colour."""
        filters = super().get_line_filters()
        return [*filters, NOT_BOLD] if self.console.color_system == "standard" else filters


class NotBold(LineFilter):
    """A filter that makes bold text normal."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the segments without bold."""
        return list(Segment.apply_style(segments, post_style=Style(bold=False)))


NOT_BOLD = NotBold()
COLOUR_REDUCTIONS = {"standard": themes.in_sixteen_colours, "256": themes.in_256_colours}
"""Functions that reduce a theme's colours. The keys are Rich's names for colour systems."""


def _unused_name(name: str, ending: str) -> str:
    """Return the name of a new file, with a number appended if the name exists."""
    names = (f"{name}{suffix}{ending}" for suffix in chain([""], map("-{}".format, count(2))))
    with suppress(OSError):  # the name may be too long for the file system
        return next(each for each in names if not Path(each).exists())
    return name + ending


def brief(event: Event) -> str:
    """Return a short message for an event, or "" if no message is needed."""
    match event:
        case GameStarted(resumed=resumed):
            return _("Game resumed") if resumed else ""
        case GameOver():
            return _("Game over.")  # the result panel shows the rest
        case Moved() | Undone() | Hinted():
            return ""
    return describe(event)


def _textual_theme(theme: themes.Theme) -> TextualTheme:
    """Convert a theme to a Textual theme for style sheets and built-in widgets."""
    tokens = {name.replace("_", "-"): getattr(theme, name) for name in themes.TOKENS}
    return TextualTheme(
        name=theme.name,
        primary=theme.accent,
        accent=theme.accent,
        foreground=theme.ink,
        background=theme.page,
        surface=theme.panel,
        panel=theme.panel,
        warning=theme.accent,
        error=theme.danger,
        dark=theme.dark,
        variables={**tokens, "text-muted": theme.muted, "text-error": theme.danger},
    )
