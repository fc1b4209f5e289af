"""The Textual application: the screen of a game in a terminal, and its keys."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

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

from py2048.app.controller.controller import ScreenController
from py2048.app.controller.presenter import Start
from py2048.app.controller.review import GameReview
from py2048.app.session import Event, GameOver, GameStarted, Hinted, Moved, Session, Undone
from py2048.app.terminal.board import TerminalBoard
from py2048.app.terminal.game_view import GameView
from py2048.app.terminal.screens import (
    Answer,
    ConfirmDialog,
    ListScreen,
    ModalDialog,
    MoreScreen,
    PracticeScreen,
    ReviewScreen,
    bindings_of,
)
from py2048.core.folders import expanded
from py2048.core.language import N_, _
from py2048.presentation import themes
from py2048.presentation.actions import ACTIONS
from py2048.presentation.describe import describe
from py2048.presentation.motion import BoardTransition
from py2048.presentation.result import Result
from py2048.presentation.screen import FileKind, ListRequest

if TYPE_CHECKING:
    from py2048.app.controller.practice import PracticeRun

FILE = N_("the name of a file")

MIN_TIMER_S = 0.001
"""Seconds; Textual divides by a timer's interval."""


class GameApp(App[None]):
    """The game in a terminal: a `py2048.app.controller.presenter.GameScreen`.

    Args:
        session: where the game is; if nothing was started on it, the last unfinished game is
            resumed, or a new one starts.
        theme: the name of a theme; by default the one used last.
        reduced_motion: show moves without animation; by default as chosen last.
        player: the spec of a player that plays from the start and gives hints; by default
            a person plays, and hints come from the player chosen last.
        begin: starts a game where there is none.

    Raises:
        ThemeError: if there is no such theme.
    """

    CSS_PATH = "style.tcss"
    TITLE = "2048"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(ACTIONS, "do"),
        Binding("ctrl+c", "do('quit')", "Quit", show=False),
    ]

    def __init__(
        self,
        session: Session,
        *,
        theme: str | None = None,
        reduced_motion: bool = False,
        player: str | None = None,
        begin: Start | None = None,
    ) -> None:
        super().__init__()
        self._begin = begin
        self.view = view = GameView()
        # Parts of the screen do much of what the controller asks for.
        self.show_status = view.show_status
        self.say, self.show_unsaved = view.say, view.show_unsaved
        self.show_coach, self.show_gain = view.show_coach, view.show_gain
        self.show_hint = view.show_hint
        self._closed_dialog = 0.0
        name = str(session.get_setting("theme", ""))
        used = themes.BY_NAME.get(name, themes.DEFAULT_THEME)
        colours = themes.get_theme(theme) if theme else used
        for known in themes.THEMES:
            self.register_theme(_textual_theme(self._visible(known)))
        self.theme = colours.name
        is_still = reduced_motion or self.animation_level == "none"
        self.controller = ScreenController(
            session, self, colours, reduced_motion=is_still, player=player, text_of=brief
        )

    def compose(self) -> ComposeResult:
        """Fill the screen with the game."""
        yield self.view

    def on_mount(self) -> None:
        """Show the session's game."""
        self._quit_on_signals()
        self._set_colours(self.controller.theme)
        self.controller.begin(self._begin)

    def on_unmount(self) -> None:
        """Leave the session to others."""
        self.controller.close()

    async def on_event(self, event: events.Event) -> None:
        """Handle an event; keys and clicks that come while the screen closes are ignored."""
        if self.screen_stack or not isinstance(event, events.InputEvent):
            await super().on_event(event)

    def _quit_on_signals(self) -> None:
        """Give the terminal back as it was when the process is asked to end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP) if sys.platform != "win32" else ():
            # Another thread than the main one may not; there it is the host's business.
            with suppress(RuntimeError, ValueError):
                loop.add_signal_handler(number, self.exit, None, 128 + number)

    # Keys, mouse, results

    def action_do(self, name: str) -> None:
        """Do the action called `name`."""
        self.controller.do(name)

    def on_terminal_board_pushed(self, event: TerminalBoard.Pushed) -> None:
        """Slide where the mouse went, unless it is the second half of a double click."""
        if monotonic() - self._closed_dialog > self.CLICK_CHAIN_TIME_THRESHOLD:
            self.controller.do(str(event.direction))

    def on_paste(self, event: events.Paste) -> None:
        """Play from a pasted board, or continue a pasted game."""
        if not isinstance(self.screen, ModalScreen):
            self.controller.game.paste(event.text)

    def pop_screen(self) -> AwaitComplete:
        """Leave a dialog; a click that follows at once was meant for it, not for the board."""
        self._closed_dialog = monotonic()
        return super().pop_screen()

    # What the controller asks for

    def show_board(self, transition: BoardTransition, pace: float) -> None:
        """Show a board become another."""
        self.view.set_shape(transition.board.shape)
        self.view.board.show(transition, pace)

    def cover(self, result: Result | None) -> None:
        """Cover the board with the end of the game, or uncover it."""
        self.view.show_hint(None)
        self.view.cover(result)

    def warn(self, text: str) -> None:
        """Show a warning for some seconds."""
        self.notify(text, severity="warning", timeout=8, markup=False)

    def set_theme(self, theme: themes.Theme) -> None:
        """Change the colours."""
        self.theme = theme.name
        self._set_colours(theme)

    def _set_colours(self, theme: themes.Theme) -> None:
        self.view.set_theme(self._visible(theme))

    def ask(self, text: str, yes: str, no: str, action: Callable[[], object]) -> None:
        """Ask a question; do `action` if the answer is yes."""
        question = ConfirmDialog(text, yes.lower(), no.lower())
        self._open(question, lambda _: action())

    def choose(self, request: ListRequest) -> None:
        """Let the player choose from a list."""
        self._open(ListScreen(request), request.take)

    def ask_to_save(
        self, title: str, kind: FileKind, name: str, take: Callable[[Path], object]
    ) -> None:
        """Ask for the name of a file to write."""

        def write(typed: str) -> None:
            path = expanded(typed)
            self.controller.records.replace_file(path, lambda: take(path))

        free = _free_name(name, kind.ending)
        self.choose(ListRequest(title, (), write, current=free, own=_(FILE)))

    def ask_to_open(self, title: str, kind: FileKind, take: Callable[[Path], object]) -> None:  # noqa: ARG002 - any file may be named
        """Ask for the name of a file to read."""
        self.choose(ListRequest(title, (), lambda typed: take(expanded(typed)), own=_(FILE)))

    def show_review(self, review: GameReview, play_on: Callable[[], object]) -> None:
        """Open a review over the game."""
        screen = ReviewScreen(review, self._visible(self.controller.theme))
        self._open(screen, lambda _: play_on())

    def show_practice(self, run: PracticeRun, answer: Callable[[str], object]) -> None:
        """Open practice over the game."""
        self.push_screen(PracticeScreen(run, answer, self._visible(self.controller.theme)))

    def show_help(self) -> None:
        """Show all that can be done, with its keys."""
        self._open(MoreScreen(), self.controller.do)

    def _open(self, dialog: ModalDialog[Answer], take: Callable[[Answer], object]) -> None:
        """Open a dialog; `take` gets its answer, if there is one."""

        def closed(answer: Answer | None) -> None:
            if answer is not None:
                take(answer)

        self.push_screen(dialog, closed)

    def share(self) -> None:
        """Put the result, or the board, into the clipboard as a text."""
        result = self.controller.presenter.result
        self.copy_to_clipboard(result.words if result else str(self.controller.session.game.board))
        self.say(_("Copied."))

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Call `action` after some seconds."""
        self.set_timer(max(seconds, MIN_TIMER_S), action)

    def quit(self) -> None:
        """Close the screen."""
        self.exit()

    def _visible(self, theme: themes.Theme) -> themes.Theme:
        """Return the theme as this terminal can show it."""
        fewer = FEWER_COLOURS.get(self.console.color_system or "")
        return fewer(theme) if fewer else theme

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Paint nothing bold with sixteen colours: a terminal may paint it in another colour."""
        filters = super().get_line_filters()
        return [*filters, NOT_BOLD] if self.console.color_system == "standard" else filters


class NotBold(LineFilter):
    """Takes the weight off all text."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """Return the segments without it."""
        return list(Segment.apply_style(segments, post_style=Style(bold=False)))


NOT_BOLD = NotBold()
FEWER_COLOURS = {"standard": themes.in_sixteen_colours, "256": themes.in_256_colours}
"""How a theme is shown, by Rich's name for how many colours a terminal has."""


def _free_name(name: str, ending: str) -> str:
    """Return a name for a file that is not there yet."""
    names = (f"{name}{more}{ending}" for more in chain([""], map("-{}".format, count(2))))
    with suppress(OSError):  # no file can have a name so long
        return next(each for each in names if not Path(each).exists())
    return name + ending


def brief(event: Event) -> str:
    """Return the message for an event, in the few words that a terminal has room for."""
    match event:
        case GameStarted(resumed=resumed):
            return _("Game resumed") if resumed else ""
        case GameOver():
            return _("Game over.")  # the result says the rest
        case Moved() | Undone() | Hinted():
            return ""
    return describe(event)


def _textual_theme(theme: themes.Theme) -> TextualTheme:
    """Return our theme as Textual's, for the style sheet and the built-in widgets."""
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
