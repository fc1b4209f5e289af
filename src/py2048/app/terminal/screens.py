"""Modal screens of the terminal: dialogs, lists, help, reviews and practice."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.markup import escape
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from py2048.app.controller.review import FRAME_S, GRADE_SYMBOLS, GameReview
from py2048.app.terminal.board import Canvas, TerminalBoard, fit
from py2048.app.terminal.game_view import ARROWS, bar, key_bar, key_label
from py2048.core.language import N_, _
from py2048.players import Unit
from py2048.presentation import actions
from py2048.presentation.actions import UserAction
from py2048.presentation.hints import DirectionRow
from py2048.presentation.motion import BoardTransition
from py2048.presentation.screen import Choice, ListRequest
from py2048.presentation.themes import Theme
from py2048.review import Grade

if TYPE_CHECKING:
    from py2048.app.controller.practice import PracticeRun


def bindings_of(table: Iterable[UserAction], method: str) -> list[BindingType]:
    """Bind the keys of all actions in a table to a method that takes the action's name."""
    return [
        Binding(",".join(action.keys), f"{method}('{action.name}')", action.help, show=False)
        for action in table
        if action.keys
    ]


class ModalDialog(ModalScreen[None]):
    """A modal screen, closed by Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close")]
    _is_closed = False

    def action_close(self, action: Callable[[], object] | None = None) -> None:
        """Close, then run `action`. Later calls are ignored.

        Without this check, a double click would also close the screen below.
        """
        if not self._is_closed:
            self._is_closed = True
            self.dismiss()
            if action is not None:
                self.app.call_next(action)  # the app outlives this screen


class ConfirmDialog(ModalDialog):
    """A yes-no question. Enter and y mean yes. Escape and n mean no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,Y,enter", "accept", "Yes"),
        Binding("n,N,q,Q", "close", "No"),
    ]

    def __init__(self, text: str, yes: str, no: str, action: Callable[[], object]) -> None:
        super().__init__()
        self._text, self._yes, self._no, self._action = text, yes, no, action

    def compose(self) -> ComposeResult:
        """Create the question and its answers."""
        with Vertical(classes="dialog"):
            yield Static(self._text, classes="title", markup=False)
            yield Static(
                f"[bold $accent]y[/] [@click=screen.accept()]{escape(self._yes)}[/]    "
                f"[bold $accent]n[/] [@click=screen.close()]{escape(self._no)}[/]"
            )

    def action_accept(self) -> None:
        """Close and run the action."""
        self.action_close(self._action)


class Choices(OptionList):
    """An option list that works even before its first paint and on very narrow terminals."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,J", "cursor_down", "Down"),
        Binding("k,K", "cursor_up", "Up"),
    ]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the list's height, treating 0 text columns as 1 to avoid a Textual error."""
        padding = self.get_component_styles("option-list--option").padding.width
        return super().get_content_height(container, viewport, max(width, padding + 1))

    def action_page_down(self) -> None:
        """Scroll down one page, ignoring the error that Textual raises before the first paint."""
        with suppress(KeyError):
            super().action_page_down()  # type: ignore[no-untyped-call]

    def action_page_up(self) -> None:
        """Scroll up one page."""
        with suppress(KeyError):
            super().action_page_up()  # type: ignore[no-untyped-call]


class ListScreen(ModalDialog):
    """A dialog with a list, a text field for other values, or both."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,Q", "close", "Close")]

    def __init__(self, request: ListRequest) -> None:
        super().__init__()
        self._request = request
        # Create the list now, because keys may be pressed before it is mounted.
        more = (Choice(title, title) for title, _ in request.more)
        self._list = Choices(*(_option(choice) for choice in (*request.choices, *more)))
        self._fault = Static("", classes="fault", markup=False)

    def compose(self) -> ComposeResult:
        """Create the title, the list and the text field."""
        with Vertical(classes="dialog"):
            yield Static(self._request.title, classes="title", markup=False)
            if self._request.choices:
                yield self._list
            if self._request.own:
                value = "" if self._request.choices else self._request.current
                yield Input(value, placeholder=self._request.own)
            yield self._fault

    def on_mount(self) -> None:
        """Highlight the current value."""
        values, current = [each.value for each in self._request.choices], self._request.current
        if values:
            self._list.highlighted = values.index(current) if current in values else 0
            self._list.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close the screen, and use the chosen value or run the chosen action."""
        choices, index = self._request.choices, event.option_index
        if index < len(choices):
            self._take(choices[index].value)
        else:
            self.action_close(self._request.more[index - len(choices)][1])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close the screen with the entered text, or show why the text is invalid."""
        text = event.value.strip()
        fault = self._request.check(text) if text else f"type {self._request.own}"
        if fault:
            self._fault.update(fault)
        else:
            self._take(text)

    def _take(self, value: str) -> None:
        self.action_close(partial(self._request.take, value))


class MoreScreen(ModalDialog):
    """A menu of all actions, followed by the keys of the other screens.

    Args:
        do: Performs an action by name.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,Q,f1,slash", "close", "Close")]

    def __init__(self, do: Callable[[str], object]) -> None:
        super().__init__()
        self._do = do

    def compose(self) -> ComposeResult:
        """Create the list of actions and a line about mouse gestures."""
        options = []
        for menu in actions.MENUS:
            labelled = [
                action for action in actions.ACTIONS if action.menu == menu and action.label
            ]
            options += [_title(menu), *(Option(_line(each), id=each.name) for each in labelled)]
        for title, table in actions.HELP_SECTIONS[1:]:
            options += [_title(title), *(Option(_line(each), disabled=True) for each in table)]
        with Vertical(classes="dialog", id="more"):
            yield Choices(*options)
            yield Static(_("Swipe over the board, or click near a side. Each move is saved."))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close and perform the chosen action."""
        self.action_close(partial(self._do, str(event.option_id)))


def _title(text: str) -> Option:
    return Option(f"[bold]{escape(_(text))}[/]", disabled=True)


def _line(action: UserAction) -> str:
    return f"[bold]{escape(key_label(action)):<9}[/] {escape(_(action.help))}"


def _option(choice: Choice) -> Option:
    detail = f"  {escape(choice.detail)}" if choice.detail else ""
    return Option(f"[bold]{escape(choice.title)}[/]{detail}")


# Screens with a board

FACTS_COLUMNS = 36
NARROW_FACTS_ROWS = 7
MIN_WIDE_COLUMNS = 64
"""Minimum number of columns for text beside the board."""

MIN_GRAPH_HEIGHT = 22
"""Minimum number of rows for a graph and a title."""

MAX_GRAPH_ROWS = 9


class BoardScreen(ModalDialog):
    """A screen with a board, text beside or below the board, and optionally a graph.

    Args:
        theme: The theme, reduced to the terminal's colours.

    Attributes:
        keys: Entries of the key bar, as in `FOOTER`.
        graph: The graph, or None.
        board: The board.
        facts: The widget with the text beside or below the board.
        title_line: The title.
        is_narrow: Whether the text is below the board.
    """

    keys: ClassVar[tuple[tuple[int, str, str, str], ...]]
    graph: Widget | None = None

    def __init__(self, theme: Theme) -> None:
        super().__init__(classes="board-screen")
        self.board = TerminalBoard()
        self.board.set_theme(theme)
        self.facts = Static(id="screen-facts")
        self._side = VerticalScroll(self.facts, id="screen-side", can_focus=False)
        self.title_line = Static(id="screen-title")
        self.is_narrow = False
        self._bar = Static(id="screen-bar")

    @abstractmethod
    def refresh_facts(self) -> None:
        """Update board and facts."""

    def compose(self) -> ComposeResult:
        """Create the title, the board, the text, the graph and the key bar."""
        yield self.title_line
        with Container(id="screen-middle"):
            with Container(id="screen-stage"):
                yield self.board
            yield self._side
        if self.graph is not None:
            yield self.graph
        yield self._bar

    def on_mount(self) -> None:
        """Arrange the widgets before the first paint."""
        self.lay_out(self.app.size)

    def on_resize(self, event: events.Resize) -> None:
        """Rearrange the widgets."""
        self.lay_out(event.size)

    def lay_out(self, size: Size) -> None:
        """Lay out the board, the text and the graph for a screen size, and update their content."""
        width, height = size
        self.is_narrow, is_short = width < MIN_WIDE_COLUMNS, height < MIN_GRAPH_HEIGHT
        self.set_class(self.is_narrow, "-narrow")
        self.set_class(is_short, "-short")
        rows = height - 1 - (not is_short)
        if self.graph is not None and not is_short:
            graph_rows = min(MAX_GRAPH_ROWS, height // 5)
            self.graph.styles.height = graph_rows
            rows -= graph_rows
        facts_rows = min(NARROW_FACTS_ROWS, rows // 2) if self.is_narrow else 0
        self._side.styles.max_height = max(1, facts_rows or rows)
        board_columns = width - (2 if self.is_narrow else FACTS_COLUMNS + 4)
        self._bar.update(key_bar(width, self.keys))
        self.refresh_facts()
        shape = self.board.board.shape if self.board.board else (1, 1)
        self.board.set_grid(fit(board_columns, rows - facts_rows, *shape))

    def move_lines(self, rows: list[DirectionRow]) -> list[str]:
        """Return markup that lists the directions with their losses, best first.

        A narrow screen shows two directions per line, without bars. The best direction and the
        played direction are then at the top.
        """
        if self.is_narrow:
            ranked = sorted(rows, key=lambda row: not (row.is_best or row.is_played))
            texts = [row_text(row, 0) for row in ranked]
            return ["  ".join(texts[index : index + 2]) for index in range(0, len(texts), 2)]
        return [row_text(row, FACTS_COLUMNS - 18) for row in rows]


def row_text(row: DirectionRow, columns: int) -> str:
    """Return markup that shows a direction, a bar of `columns` characters, and the loss."""
    colour = "$good" if row.is_best else "$danger" if row.is_played else ""
    text = f"[bold {colour}]{ARROWS[row.direction]}[/]"
    if columns:
        text += f" {bar(row.share, columns, colour or '$muted').markup}"
    return f"{text} [bold {colour}]{row.text}[/]" if colour else f"{text} {row.text}"


# Reviews

GRADE_COLOURS = {
    Grade.BEST: "$good",
    Grade.GOOD: "$muted",
    Grade.INACCURACY: "$accent",
    Grade.MISTAKE: "$danger",
    Grade.BLUNDER: "$danger",
}

GRAPH_MARKS = {Grade.INACCURACY: "i", Grade.MISTAKE: "m", Grade.BLUNDER: "B"}


class ReviewScreen(BoardScreen):
    """A screen that steps through the moves of a reviewed game.

    Args:
        review: The review.
        leave: Called with ``play_on`` or ``practice`` after the screen has closed, if the player
            chose this action.
        theme: The theme, reduced to the terminal's colours.
        is_animated: Whether tiles slide during "Show me".

    Attributes:
        review: The review.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(actions.REVIEW_ACTIONS, "go")
    graph: ReviewGraph
    keys = (
        (4, "←→", N_("move"), ""),
        (1, "↓", N_("next mistake"), ""),
        (2, "s", N_("show me"), ""),
        (3, "t", N_("try it again"), ""),
        (6, "f", N_("practise"), ""),
        (7, "o", N_("level"), ""),
        (8, "⏎", N_("play on from here"), ""),
        (5, "q", N_("close"), ""),
    )

    def __init__(
        self, review: GameReview, leave: Callable[[str], object], theme: Theme, is_animated: bool
    ) -> None:
        super().__init__(theme)
        self.review, self._leave, self._is_animated = review, leave, is_animated
        self.graph = ReviewGraph(review, theme, self.seek)

    def on_mount(self) -> None:
        """Show the judged moves, and update the screen when more moves have been judged."""
        super().on_mount()
        self.review.changed = self.refresh_facts

    def on_unmount(self) -> None:
        """Cancel the review."""
        self.review.close()

    def action_go(self, name: str) -> None:
        """Perform an action of `REVIEW_ACTIONS`."""
        review = self.review
        if name == "close" and review.is_retrying:
            review.go("retry")
        elif name in ("close", "play_on", "practice"):
            self.action_close(None if name == "close" else partial(self._leave, name))
            return
        elif name == "level":
            self.app.push_screen(ListScreen(review.levels()))
        else:
            review.go(name)
        self.refresh_facts()
        if review.frame:
            self.auto_refresh = FRAME_S

    def automatic_refresh(self) -> None:
        """Show the next move while "Show me" is running."""
        if not self.review.advance():
            self.auto_refresh = None
        self.refresh_facts()

    def on_terminal_board_gesture(self, event: TerminalBoard.Gesture) -> None:
        """Use a mouse gesture to try another direction."""
        event.stop()
        self.review.answer(event.direction)
        self.refresh_facts()

    def seek(self, index: int) -> None:
        """Select a move."""
        self.review.seek(index)
        self.refresh_facts()

    def refresh_facts(self) -> None:
        """Update the text about the selected move, and the graph of the judged moves."""
        review, frame = self.review, self.review.frame
        transition = frame.transition if frame else BoardTransition((), review.board)
        if self.board.board != transition.board or not frame:
            self.board.show(transition, float(self._is_animated and frame is not None))
        self.board.mark(*review.marks, frame and frame.fear)
        self.facts.update("\n".join(self._markup()))
        facts = review.level_title, review.graph_title, review.graph_note
        self.title_line.update(escape("   ".join(filter(None, facts))))
        self.graph.refresh()

    def _markup(self) -> list[str]:
        """Return the lines about the move and the game, from the most to the least important."""
        review = self.review
        move, counts = review.move, review.counts
        grade = move.grade if move else Grade.BEST
        badge = f"[bold {GRADE_COLOURS[grade]}]{escape(review.badge)}[/]"
        moves = self.move_lines(review.rows)
        title, place, note, state = (
            text and f"[$text-muted]{escape(text)}[/]"
            for text in (review.rows_title, review.place, review.accuracy_note, review.state)
        )
        message = f"[bold]{escape(review.message)}[/]"
        accuracy = f"[bold]{_('Accuracy')} {escape(review.accuracy)}[/]   {review.luck}".rstrip()
        habits = [f"• {escape(habit)}" for habit in review.habits]
        if review.frame:
            return [place, message]
        if self.is_narrow:
            lines = [badge, *moves, message, review.place, accuracy, *habits, state, note]
            return [*filter(None, lines)]
        scale = (FACTS_COLUMNS - 4) / (len(review.moves) or 1)
        strip, legend = "", [f"[$good]✓ {counts[Grade.BEST] + counts[Grade.GOOD]}[/]"]
        for each, count in counts.items():
            strip += f"[{GRADE_COLOURS[each]}]{'━' * round(scale * count)}[/]"
            if each.is_mistake:
                legend.append(f"[{GRADE_COLOURS[each]}]{GRADE_SYMBOLS[each]} {count}[/]")
        game = [accuracy, strip, "   ".join(legend), state, *habits, note]
        return [*filter(None, [place, badge, message, title, *moves, *game])]


class ReviewGraph(Widget):
    """The graph of a review, with a letter above each mistake. A click selects a move.

    Args:
        review: The review.
        theme: The theme.
        seek: Called with the index of the move that was clicked.
    """

    def __init__(self, review: GameReview, theme: Theme, seek: Callable[[int], object]) -> None:
        super().__init__(id="review-graph")
        self._review, self._theme, self._seek = review, theme, seek

    def render(self) -> Content:
        """Draw the graph, with marks at 0 % and 100 %, and a row of letters above it."""
        review, theme, (width, height) = self._review, self._theme, self.size
        canvas = Canvas(width, height, theme.panel)
        pixel_width, pixel_height = 2 * width, 2 * (height - 1)
        for x, column in enumerate(review.graph(pixel_width, pixel_height)):
            y = 2 + pixel_height - column.height
            canvas.rectangle(x, y, 1, column.height, theme.line)
            canvas.rectangle(x, y, 1, min(1, column.height), theme.accent)
            next_height = min(1, column.next_height)
            canvas.rectangle(x, 2 + pixel_height - column.next_height, 1, next_height, theme.good)
        cursor = review.column(pixel_width)
        canvas.rectangle(cursor - cursor % 2, 2, 2, pixel_height, theme.ink)
        for x, column in enumerate(review.graph(width, 1)):
            if column.grade is not None:
                canvas.write(x, 0, GRAPH_MARKS[column.grade], theme.danger)
        if review.unit is Unit.CHANCE:
            canvas.write(0, 1, "100 %", theme.muted)
            canvas.write(0, height - 1, "0 %", theme.muted)
        return Content("\n").join(canvas.content())

    def on_click(self, event: events.Click) -> None:
        """Select the clicked move."""
        self._seek(self._review.place_at(event.x, max(1, self.size.width)))


# Practice


class PracticeScreen(BoardScreen):
    """A screen that shows one position after another and asks for the best move.

    Args:
        run: The practice run.
        answer: Callback that performs an action of `PRACTICE_ACTIONS`.
        theme: The theme, reduced to the terminal's colours.

    Attributes:
        practice: The practice run.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(actions.PRACTICE_ACTIONS, "go")
    keys = (
        (1, "←↑↓→", N_("your move"), ""),
        (2, "⏎", N_("next"), ""),
        (3, "q", N_("close"), ""),
    )

    def __init__(self, run: PracticeRun, answer: Callable[[str], object], theme: Theme) -> None:
        super().__init__(theme)
        self.practice, self._answer = run, answer

    def action_go(self, name: str) -> None:
        """Perform an action of `PRACTICE_ACTIONS`."""
        if name == "close" or (name == "next" and self.practice.is_over):
            self.action_close()
            return
        self._answer(name)
        self.lay_out(self.app.size)

    def on_terminal_board_gesture(self, event: TerminalBoard.Gesture) -> None:
        """Answer the prompt with the direction of a mouse gesture."""
        event.stop()
        self.action_go(str(event.direction))

    def refresh_facts(self) -> None:
        """Show the position and, after the player's answer, the losses of all directions."""
        run = self.practice
        self.board.display = run.board is not None
        if run.board is not None:
            self.board.show(BoardTransition((), run.board), 0)
        move = run.answer.move if run.answer else None
        self.board.mark(move.best if move else None, move.played if move else None)
        self.title_line.update(escape(run.title))
        rows = self.move_lines(run.rows)
        verdict = f"[bold $accent]{escape(run.verdict)}[/]" if run.verdict else ""
        self.facts.update("\n".join(filter(None, [verdict, *rows, escape(run.sentences)])))
