"""The terminal's screens over the game: dialogs, the help, reviews of games, and practice."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, TypeVar

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

from py2048.app.controller.review import GRADE_SYMBOLS, GameReview
from py2048.app.terminal.board import Canvas, TerminalBoard, fit
from py2048.app.terminal.game_view import ARROWS, bar, key_bar, key_of
from py2048.core.direction import Direction
from py2048.core.language import N_, _, number
from py2048.presentation.actions import (
    ACTIONS,
    HELP_SECTIONS,
    MENUS,
    PRACTICE_ACTIONS,
    REVIEW_ACTIONS,
    UserAction,
)
from py2048.presentation.hints import DirectionRow
from py2048.presentation.motion import BoardTransition
from py2048.presentation.screen import Choice, ListRequest
from py2048.presentation.themes import Theme
from py2048.review import Grade

if TYPE_CHECKING:
    from py2048.app.controller.practice import PracticeRun

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


class MoreScreen(ModalDialog[str]):
    """All that can be done, by its key or from this list, and the keys of other screens."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,Q,f1,slash", "close", "Close")]

    def compose(self) -> ComposeResult:
        """Lay out the list under its titles, and what the mouse does."""
        options = []
        for menu in MENUS:
            named = [each for each in ACTIONS if each.menu == menu and each.label]
            options += [_title(menu), *(Option(_line(each), id=each.name) for each in named)]
        for title, actions in HELP_SECTIONS[1:]:
            options += [_title(title), *(Option(_line(each), disabled=True) for each in actions)]
        with Vertical(classes="dialog", id="more"):
            yield Choices(*options)
            yield Static(_("Swipe over the board, or click near a side. Each move is saved."))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close, and do what was chosen."""
        self.action_close(event.option_id)


def _title(text: str) -> Option:
    return Option(f"[bold]{escape(_(text))}[/]", disabled=True)


def _line(action: UserAction) -> str:
    return f"[bold]{escape(key_of(action)):<9}[/] {escape(_(action.help))}"


def _option(choice: Choice) -> Option:
    detail = f"  {escape(choice.detail)}" if choice.detail else ""
    return Option(f"[bold]{escape(choice.title)}[/]{detail}")


# Boards with words beside them

FACTS_COLUMNS = 36
WIDE_COLUMNS = 64
"""The width of the facts beside the board, and of the least screen that has them there."""

NARROW_FACTS_ROWS = 7
"""The rows of the facts below the board."""

MIN_GRAPH_HEIGHT = 22
"""The height of the least screen with a graph and a title."""

MAX_GRAPH_ROWS = 9


class BoardScreen(ModalDialog[Answer]):
    """A board with its facts, beside it or below it, over a graph if there is one.

    Args:
        theme: the colours, as the terminal can show them.

    Attributes:
        keys: those that the line at the bottom names, as in `FOOTER`.
        graph: the graph.
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

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The size of the board."""

    @abstractmethod
    def refresh_facts(self) -> None:
        """Show the board and the facts as they are now."""

    def compose(self) -> ComposeResult:
        """Lay out the title, the board with its facts, the graph and the keys."""
        yield self.title_line
        with Container(id="screen-middle"):
            with Container(id="screen-stage"):
                yield self.board
            yield self._side
        if self.graph is not None:
            yield self.graph
        yield self._bar

    def on_mount(self) -> None:
        """Show what there is."""
        self.share_room(self.app.size)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange everything for the new size."""
        self.share_room(event.size)

    def share_room(self, size: Size) -> None:
        """Share out the room among the facts, the graph and the board, and show them."""
        width, height = size
        self.is_narrow, is_short = width < WIDE_COLUMNS, height < MIN_GRAPH_HEIGHT
        self.set_class(self.is_narrow, "-narrow")
        self.set_class(is_short, "-short")
        rest = height - 1 - (not is_short)
        if self.graph is not None and not is_short:
            graph_rows = min(MAX_GRAPH_ROWS, height // 5)
            self.graph.styles.height = graph_rows
            rest -= graph_rows
        facts = min(NARROW_FACTS_ROWS, rest // 2) if self.is_narrow else 0
        self._side.styles.max_height = max(1, facts or rest)
        across = width - (2 if self.is_narrow else FACTS_COLUMNS + 4)
        self.board.set_grid(fit(across, rest - facts, *self.shape))
        self._bar.update(key_bar(width, self.keys))
        self.refresh_facts()

    def move_lines(self, rows: list[DirectionRow]) -> list[str]:
        """Return the directions with what they lose, the best first, as markup."""
        if self.is_narrow:  # without bars, two in a line, what matters first
            ranked = sorted(rows, key=lambda row: not (row.is_best or row.is_played))
            texts = [row_text(row, 0) for row in ranked]
            return ["  ".join(texts[at : at + 2]) for at in range(0, len(texts), 2)]
        return [row_text(row, FACTS_COLUMNS - 18) for row in rows]


def row_text(row: DirectionRow, columns: int) -> str:
    """Return a direction with a bar of `columns` columns, and what it loses."""
    colour = "$good" if row.is_best else "$danger" if row.is_played else ""
    words = f"[bold {colour}]{ARROWS[row.direction]}[/]"
    if columns:
        words += f" {bar(row.share, columns, colour or '$muted').markup}"
    return f"{words} [bold {colour}]{row.text}[/]" if colour else f"{words} {row.text}"


# Reviews

TRIES = {
    "back": Direction.LEFT,
    "forward": Direction.RIGHT,
    "previous_mistake": Direction.UP,
    "next_mistake": Direction.DOWN,
}
"""The directions of keys while a better move is looked for."""

COLOURS = {
    Grade.BEST: "$good",
    Grade.GOOD: "$muted",
    Grade.INACCURACY: "$accent",
    Grade.MISTAKE: "$danger",
    Grade.BLUNDER: "$danger",
}

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

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(REVIEW_ACTIONS, "go"),
        Binding("t,T", "try_again", "Try it again"),
    ]
    graph: ReviewGraph
    keys = (
        (1, "←→", N_("move"), ""),
        (2, "↓", N_("next mistake"), ""),
        (3, "t", N_("try it again"), ""),
        (5, "⏎", N_("play on from here"), ""),
        (4, "q", N_("close"), ""),
    )

    def __init__(self, review: GameReview, theme: Theme) -> None:
        super().__init__(theme)
        self.review = review
        self.graph = ReviewGraph(review, theme, self.seek)
        self._tried: list[Direction] | None = None

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
        """Do what a key of `REVIEW_ACTIONS` says, or try the direction of an arrow."""
        if self._tried is not None and name in TRIES:
            self._tried.append(TRIES[name])
        elif name == "close" and self._tried is not None:
            self._tried = None
        elif name in ("close", "play_on"):
            self.action_close(True if name == "play_on" else None)
            return
        else:
            self._tried = None
            self.review.go(name)
        self.refresh_facts()

    def action_try_again(self) -> None:
        """Look for a better move here: say nothing of it until it is found."""
        if self.review.move is not None:
            self._tried = []
            self.refresh_facts()

    def seek(self, index: int) -> None:
        """Go to a move."""
        self.review.seek(index)
        self.refresh_facts()

    def refresh_facts(self) -> None:
        """Show the move where the review is, and all that is judged."""
        review, move = self.review, self.review.move
        if move is not None and self._tried and self._tried[-1] is move.best:
            self._tried = None  # it is found
        is_asked = self._tried is not None
        self.board.show(BoardTransition((), review.board), 0)
        self.board.point(
            move.best if move and not is_asked else None, None if is_asked else review.played
        )
        self.facts.update("\n".join(self._question() if is_asked else self._markup()))
        share = review.chances or 0.0
        before, after = _("Still to come "), f" {100 * share:.0f} %"
        columns = self.app.size.width - len(before + after) - 2
        self.title_line.update(before + bar(share, columns) + after)
        self.graph.refresh()

    def _question(self) -> list[str]:
        """Return what is asked while a better move is looked for, and what the last one loses."""
        rows = {row.direction: row for row in self.review.rows}
        said = [f"[bold]{escape(self.review.place_title)}[/]", "", _("Which move is best?")]
        if self._tried:
            row = rows.get(self._tried[-1])
            said += ["", self.move_lines([row])[0] if row else _("That moves nothing.")]
        return said

    def _markup(self) -> list[str]:
        """Return what is shown of the move and of the game, the least of it last."""
        review, counts = self.review, self.review.counts
        grade = review.move.grade if review.move else Grade.BEST
        badge = f"[bold {COLOURS[grade]}]{escape(review.badge)}[/]"
        share = "…" if review.accuracy is None else number(review.accuracy, 1)
        accuracy = _("Accuracy {share} %").format(share=share)
        luck = _("luck: {luck}").format(luck=review.luck) if review.luck else ""
        state = f"[$text-muted]{escape(review.progress or review.error or review.note)}[/]"
        moves = self.move_lines(review.rows)
        if self.is_narrow:
            return [badge, *moves, escape(review.headline), review.place, accuracy, luck, state]
        scale = (FACTS_COLUMNS - 4) / (len(review.moves) or 1)
        strip = "".join(
            f"[{COLOURS[each]}]{'━' * round(scale * count)}[/]" for each, count in counts.items()
        )
        legend = [f"[$good]✓ {counts[Grade.BEST] + counts[Grade.GOOD]}[/]"] + [
            f"[{COLOURS[each]}]{GRADE_SYMBOLS[each]} {counts[each]}[/]"
            for each in Grade
            if each.is_mistake
        ]
        why = f"[bold]{escape(review.headline)}[/] {escape(review.why)}"
        place = f"[$text-muted]{review.place}[/]"
        game = [f"[bold]{accuracy}[/]   {luck}", strip, "   ".join(legend), state]
        return [*game, place, badge, why, "", *moves]


class ReviewGraph(Widget):
    """The graph of a review, with a letter over each mistake; a click goes to a move.

    Args:
        review: the review.
        theme: the colours.
        seek: goes to a move.
    """

    def __init__(self, review: GameReview, theme: Theme, seek: Callable[[int], object]) -> None:
        super().__init__(id="review-graph")
        self._review, self._theme, self._seek = review, theme, seek

    def render(self) -> Content:
        """Draw the columns, two in a character, under a row for the letters."""
        review, theme, (width, height) = self._review, self._theme, self.size
        canvas, across, high = Canvas(width, height, theme.panel), 2 * width, 2 * (height - 1)
        for x, column in enumerate(review.graph(across, high)):
            canvas.rectangle(x, 2 + high - column.height, 1, column.height, theme.line)
            canvas.rectangle(x, 2 + high - column.height, 1, min(1, column.height), theme.accent)
        here = review.column(across)
        canvas.rectangle(here - here % 2, 2, 2, high, theme.ink)
        for at, column in enumerate(review.graph(width, 1)):
            if column.grade is not None:
                canvas.write(at, 0, MARKS[column.grade], theme.danger)
        return Content("\n").join(canvas.content())

    def on_click(self, event: events.Click) -> None:
        """Go to the move that is clicked."""
        self._seek(self._review.place_at(event.x, max(1, self.size.width)))


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
    keys = (
        (1, "←↑↓→", N_("your move"), ""),
        (2, "⏎", N_("next"), ""),
        (3, "q", N_("close"), ""),
    )

    def __init__(self, run: PracticeRun, answer: Callable[[str], object], theme: Theme) -> None:
        super().__init__(theme)
        self.practice, self._answer = run, answer

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
        self.title_line.update(escape(run.title))
        rows = self.move_lines(run.rows)
        verdict = f"[bold $accent]{escape(run.verdict)}[/]" if run.verdict else ""
        self.facts.update("\n".join(filter(None, [verdict, *rows, escape(run.sentences)])))
