"""The terminal's screens over the game: dialogs, the help, reviews of games, and practice."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import ClassVar, TypeVar

from rich.markup import escape
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from py2048.review import Grade
from py2048.ui.shared.actions import HELP_SECTIONS, PRACTICE_ACTIONS, REVIEW_ACTIONS, UserAction
from py2048.ui.shared.motion import BoardTransition
from py2048.ui.shared.practice import PracticeRun
from py2048.ui.shared.review import DirectionRow, GameReview, record_title
from py2048.ui.shared.screen import Choice, ListRequest
from py2048.ui.shared.themes import Theme
from py2048.ui.terminal.board import Canvas, TerminalBoard, fit, to_strip
from py2048.ui.terminal.game_view import ARROWS, key_of

Answer = TypeVar("Answer")


def bindings_of(actions: Iterable[UserAction], method: str) -> list[BindingType]:
    """Return the bindings of a table of actions to a method that takes their names."""
    return [
        Binding(",".join(action.keys), f"{method}('{action.name}')", action.help, show=False)
        for action in actions
        if action.keys
    ]


class ModalDialog(ModalScreen[Answer | None]):
    """A screen over the game that asks for something; Escape closes it without an answer.

    A double click or a second Enter reaches a dialog that has its answer already, and would close
    the screen below it; so only the first answer counts.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "Close")]
    _is_closed = False

    def action_close(self, answer: Answer | None = None) -> None:
        """Close with this answer, unless there is one."""
        if not self._is_closed:
            self._is_closed = True
            self.dismiss(answer)


class ConfirmDialog(ModalDialog[bool]):
    """A yes-or-no question; Enter and y say yes, Escape and n say no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,Y,enter", "close(True)", "Yes"),
        Binding("n,N,q,Q", "close", "No"),
    ]

    def __init__(self, text: str, yes: str, no: str) -> None:
        super().__init__()
        self._text, self._yes, self._no = text, yes, no

    def compose(self) -> ComposeResult:
        """Lay out the question over its two answers."""
        with Vertical(classes="dialog"):
            yield Static(self._text, classes="title", markup=False)
            yield Static(
                f"[bold $accent]y[/] [@click=screen.close(True)]{escape(self._yes)}[/]    "
                f"[bold $accent]n[/] [@click=screen.close()]{escape(self._no)}[/]"
            )


class Choices(OptionList):
    """A list that takes keys before it is drawn, and fits a terminal of any width."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,J", "cursor_down", "Down"),
        Binding("k,K", "cursor_up", "Up"),
    ]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the height; Textual cannot break lines where their padding leaves no column."""
        padding = self.get_component_styles("option-list--option").padding.width
        return super().get_content_height(container, viewport, max(width, padding + 1))

    def action_page_down(self) -> None:
        """Go a page down; Textual knows the pages only once it has drawn them."""
        with suppress(KeyError):
            super().action_page_down()  # type: ignore[no-untyped-call]  # Textual's own

    def action_page_up(self) -> None:
        """Go a page up, likewise."""
        with suppress(KeyError):
            super().action_page_up()  # type: ignore[no-untyped-call]  # Textual's own


class ListScreen(ModalDialog[str]):
    """A list to choose from, with a line for a text that is not in it, or one of them alone."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,Q", "close", "Close")]

    def __init__(self, request: ListRequest) -> None:
        super().__init__()
        self._request = request
        # Kept, not looked up: a dialog may hear of a key when its parts are gone, or not there yet.
        more = (Choice(title, title) for title, _ in request.more)
        self._list = Choices(*(_option(choice) for choice in (*request.choices, *more)))
        self._fault = Static("", classes="fault", markup=False)

    def compose(self) -> ComposeResult:
        """Lay out the title, the list and the text line."""
        with Vertical(classes="dialog"):
            yield Static(self._request.title, classes="title", markup=False)
            if self._request.choices:
                yield self._list
            if self._request.own:
                value = "" if self._request.choices else self._request.current
                yield Input(value, placeholder=self._request.own)
            yield self._fault

    def on_mount(self) -> None:
        """Start on the current value."""
        values, current = [each.value for each in self._request.choices], self._request.current
        if values:
            self._list.highlighted = values.index(current) if current in values else 0
            self._list.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close with the chosen value, or do what a line below them says."""
        choices, index = self._request.choices, event.option_index
        if index < len(choices):
            self.action_close(choices[index].value)
        else:
            self.action_close()
            # In the application: what opens another dialog must outlive this one.
            self.app.call_later(self._request.more[index - len(choices)][1])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close with the text, or show what is wrong with it."""
        text = event.value.strip()
        fault = self._request.check(text) if text else f"type {self._request.own}"
        if fault:
            self._fault.update(fault)
        else:
            self.action_close(text)


MOUSE_HELP = """\
Mouse: swipe over the board, or click near one of its sides.
The game is saved after every move.
"""


class HelpScreen(ModalDialog[None]):
    """All keys, and what the mouse does."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,Q,f1,slash,enter,space", "close", "Close")]

    def compose(self) -> ComposeResult:
        """Lay out the keys in a list that scrolls where it must."""
        with VerticalScroll(classes="dialog", id="help"):
            for title, actions in HELP_SECTIONS:
                lines = [_line(action) for action in actions if action.label or title]
                yield Static(title or "Keys", classes="title")
                yield Static("\n".join(lines) + "\n")
            yield Static(MOUSE_HELP, markup=False)
            yield Static("[$text-muted]Escape closes this help.[/]")


def _line(action: UserAction) -> str:
    return f"[bold $accent]{escape(key_of(action)):<9}[/] {escape(action.help)}"


def _option(choice: Choice) -> Option:
    detail = f"  {escape(choice.detail)}" if choice.detail else ""
    return Option(f"[bold]{escape(choice.title)}[/]{detail}")


# Boards with words beside them

FACTS_COLUMNS = 34
WIDE_COLUMNS = 64
"""The width of the facts beside the board, and of the least screen that has them there."""

MIN_MARKED_COLUMNS = 36
"""The least width at which words mark the best direction and the one played."""

NARROW_FACTS_ROWS = 7
"""The rows of the facts below the board."""

MIN_GRAPH_HEIGHT = 16
"""The height of the least screen with a graph and a title."""

MAX_GRAPH_ROWS = 9


class BoardScreen(ModalDialog[Answer]):
    """A board with its facts, beside it or below it, over a graph if there is one.

    Args:
        theme: the colours, as the terminal can show them.

    Attributes:
        keys: what the line at the bottom says, the most useful first.
        graph: the graph.
    """

    keys: ClassVar[tuple[str, ...]]
    graph: Widget | None = None

    def __init__(self, theme: Theme) -> None:
        super().__init__(classes="board-screen")
        self.board = TerminalBoard()
        self.board.set_theme(theme)
        self.facts = Static(id="screen-facts")
        self._title = Static(id="screen-title", markup=False)
        self._bar = Static(id="screen-bar", markup=False)

    @property
    @abstractmethod
    def heading(self) -> str:
        """The line at the top."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The size of the board."""

    @abstractmethod
    def refresh_facts(self) -> None:
        """Show the board and the facts as they are now."""

    def compose(self) -> ComposeResult:
        """Lay out the title, the board with its facts, the graph and the keys."""
        yield self._title
        with Container(id="screen-middle"):
            with Container(id="screen-stage"):
                yield self.board
            with VerticalScroll(id="screen-side", can_focus=False):
                yield self.facts
        if self.graph is not None:
            yield self.graph
        yield self._bar

    def on_mount(self) -> None:
        """Show what there is."""
        self.share_room(self.app.size)
        self.refresh_facts()

    def on_resize(self, event: events.Resize) -> None:
        """Arrange everything for the new size."""
        self.share_room(event.size)
        self.refresh_facts()

    def share_room(self, size: Size) -> None:
        """Share out the room: the facts, the graph, and the board with the rest."""
        width, height = size
        is_narrow, is_short = width < WIDE_COLUMNS, height < MIN_GRAPH_HEIGHT
        self.set_class(is_narrow, "-narrow")
        self.set_class(is_short, "-short")
        graph_rows = 0
        if self.graph is not None:
            self.graph.styles.height = graph_rows = (
                0 if is_short else min(MAX_GRAPH_ROWS, height // 5)
            )
        rest = height - 1 - (0 if is_short else 1 + graph_rows)
        rows, columns = self.shape
        if is_narrow:
            across, down = width - 2, rest - min(NARROW_FACTS_ROWS, rest // 2)
        else:
            across, down = width - FACTS_COLUMNS - 4, rest
        self.board.set_grid(fit(across, down, rows, columns) if down > 0 else None)
        self._title.update(self.heading)
        self._bar.update("  ".join(self.keys))


def row_text(row: DirectionRow, *, is_marked: bool) -> str:
    """Return a direction with its value, or with what it loses; `is_marked` by words too."""
    words = f"{ARROWS[row.direction]} {row.loss or row.value}"
    if is_marked:
        words = f"{words:<11}{' '.join(row.marks):<6}"
    return f"[bold]{words}[/]" if row.marks else words


# Reviews

MARKS = {Grade.INACCURACY: "i", Grade.MISTAKE: "m", Grade.BLUNDER: "B"}
"""The letters over the graph."""


class ReviewScreen(BoardScreen[bool]):
    """Walks through a game with its review; closes with `True` to play on from where it is.

    Args:
        review: the review.
        theme: the colours, as the terminal can show them.

    Attributes:
        review: the review.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(REVIEW_ACTIONS, "go")
    graph: ReviewGraph
    keys = ("←→ move", "↑↓ mistake", "q close", "⏎ play on", "PgUp PgDn ten moves")

    def __init__(self, review: GameReview, theme: Theme) -> None:
        super().__init__(theme)
        self.review = review
        self.graph = ReviewGraph(review, theme)

    @property
    def heading(self) -> str:
        """Which game it is."""
        return record_title(self.review.record)

    @property
    def shape(self) -> tuple[int, int]:
        """The size of the game's board."""
        return self.review.record.rules.shape

    def on_mount(self) -> None:
        """Show what there is, and what is judged later."""
        super().on_mount()
        self.review.changed = self.refresh_facts

    def on_unmount(self) -> None:
        """Stop judging, however the screen was closed."""
        self.review.close()

    def action_go(self, name: str) -> None:
        """Do what a key of `REVIEW_ACTIONS` says."""
        if name in ("close", "play_on"):
            self.action_close(True if name == "play_on" else None)
        else:
            self.review.go(name)
            self.refresh_facts()

    def on_review_graph_pointed(self, event: ReviewGraph.Pointed) -> None:
        """Go to the move that was clicked in the graph."""
        self.review.seek(event.index)
        self.refresh_facts()

    def refresh_facts(self) -> None:
        """Show the move where the review is, and all that is judged."""
        review, move = self.review, self.review.move
        self.board.show(BoardTransition((), review.board), 0)
        self.board.point(move.best if move else None, review.played)
        self.facts.update(self._markup())
        self.graph.refresh()

    def _markup(self) -> str:
        """Return the facts, the directions two to a line where there is little room."""
        review, room = self.review, self.app.size.width
        rows = [row_text(row, is_marked=room >= MIN_MARKED_COLUMNS) for row in review.rows]
        if room < WIDE_COLUMNS:
            rows = ["  ".join(rows[at : at + 2]) for at in range(0, len(rows), 2)]
        verdict = f"[bold $accent]{escape(review.verdict)}[/]"
        figures = escape(", ".join(review.figures).capitalize())
        summary = f"[$text-muted]{escape(review.summary)}[/]"
        return "\n".join([verdict, *rows, f"[bold]{escape(review.place)}[/]", figures, summary])


class ReviewGraph(Widget):
    """The graph of a review, with a letter over each mistake; a click goes to a move.

    Args:
        review: the review.
        theme: the colours.
    """

    class Pointed(Message):
        """The player clicked a move in the graph."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, review: GameReview, theme: Theme) -> None:
        super().__init__(id="review-graph")
        self._review, self._theme = review, theme
        self._canvas = Canvas(0, 0, theme.panel)

    def render_line(self, y: int) -> Strip:
        """Return one row of the graph, all of which is drawn with its first row."""
        width, height = self.size
        if y == 0 or (self._canvas.columns, self._canvas.rows) != (width, height):
            self._canvas = self._draw(width, height)
        return to_strip(self._canvas.runs(y))

    def _draw(self, width: int, height: int) -> Canvas:
        """Draw the columns, two in a character, under a row for the letters."""
        review, theme = self._review, self._theme
        canvas, across, high = Canvas(width, height, theme.panel), 2 * width, 2 * (height - 1)
        for x, column in enumerate(review.graph(across, high)):
            canvas.rectangle(x, 2 + high - column.height, 1, column.height, theme.muted)
        here = review.column(across)
        canvas.rectangle(here - here % 2, 2, 2, high, theme.accent)
        for at, column in enumerate(review.graph(width, 1)):
            if column.grade is not None:
                canvas.write(at, 0, MARKS[column.grade], theme.accent)
        return canvas

    def on_click(self, event: events.Click) -> None:
        """Go to the move that is clicked."""
        self.post_message(self.Pointed(self._review.place_at(event.x, max(1, self.size.width))))


# Practice


class PracticeScreen(BoardScreen[None]):
    """Asks for moves until nothing more is asked; Enter goes to the next position.

    Args:
        run: what is asked.
        answer: does an action of `PRACTICE_ACTIONS`.
        theme: the colours, as the terminal can show them.

    Attributes:
        practice: what is asked.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(PRACTICE_ACTIONS, "go")
    keys = ("↑↓←→ your move", "⏎ next", "q close")

    def __init__(self, run: PracticeRun, answer: Callable[[str], object], theme: Theme) -> None:
        super().__init__(theme)
        self.practice, self._answer = run, answer

    @property
    def heading(self) -> str:
        """What is practised, and where this is."""
        return self.practice.title

    @property
    def shape(self) -> tuple[int, int]:
        """The size of the board; any, where there is none."""
        return self.practice.board.shape if self.practice.board else (1, 1)

    def action_go(self, name: str) -> None:
        """Do what a key of `PRACTICE_ACTIONS` says."""
        if name == "close" or (name == "next" and self.practice.is_over):
            self.action_close()
            return
        self._answer(name)
        self.share_room(self.app.size)
        self.refresh_facts()

    def on_terminal_board_pushed(self, event: TerminalBoard.Pushed) -> None:
        """Answer with the direction where the mouse went."""
        event.stop()
        self.action_go(str(event.direction))

    def refresh_facts(self) -> None:
        """Show the position, and what each direction was worth once a move is made."""
        run = self.practice
        self.board.display = run.board is not None
        if run.board is not None:
            self.board.show(BoardTransition((), run.board), 0)
        move = run.answer.move if run.answer else None
        self.board.point(move.best if move else None, move.played if move else None)
        is_marked = self.app.size.width >= MIN_MARKED_COLUMNS
        rows = [row_text(row, is_marked=is_marked) for row in run.rows]
        verdict = f"[bold $accent]{escape(run.verdict)}[/]" if run.verdict else ""
        self.facts.update("\n".join(filter(None, [verdict, *rows, escape(run.sentences)])))
