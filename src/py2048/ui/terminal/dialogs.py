"""The terminal's dialogs: a question, a list, a prompt for a text, the help. Each closes once."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import ClassVar, TypeVar

from rich.markup import escape
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from py2048.folders import expanded
from py2048.ui.shared.actions import ACTIONS, PRACTICE_ACTIONS, REVIEW_ACTIONS, UserAction
from py2048.ui.shared.screen import Choice, ListRequest
from py2048.ui.terminal.game_view import key_of

Answer = TypeVar("Answer")


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
    """A list to choose from, with a line for a text that is not in it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,J", "down", "Down"),
        Binding("k,K", "up", "Up"),
        Binding("q,Q", "close", "Close"),
    ]

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
            yield self._list
            if self._request.own:
                yield Input(placeholder=self._request.own)
            yield self._fault

    def on_mount(self) -> None:
        """Start on the current value."""
        values, current = [each.value for each in self._request.choices], self._request.current
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

    def action_down(self) -> None:
        """Move down the list."""
        self._list.action_cursor_down()

    def action_up(self) -> None:
        """Move up the list."""
        self._list.action_cursor_up()


class PromptScreen(ModalDialog[Path]):
    """A line to type the name of a file into; Enter accepts, Escape cancels."""

    def __init__(self, title: str, value: str = "") -> None:
        super().__init__()
        self._title, self._value = title, value

    def compose(self) -> ComposeResult:
        """Lay out the title over the text line."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="title", markup=False)
            yield Input(self._value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close with the file."""
        name = event.value.strip()
        self.action_close(expanded(name) if name else None)


class HelpScreen(ModalDialog[None]):
    """All keys, and what the mouse does."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,Q,f1,slash,enter,space", "close", "Close")]

    def compose(self) -> ComposeResult:
        """Lay out the keys in a list that scrolls where it must."""
        with VerticalScroll(classes="dialog", id="help"):
            yield Static("Keys", classes="title")
            yield Static("\n".join(_line(action) for action in ACTIONS if action.label))
            yield Static(
                "\nMouse: swipe over the board, or click near one of its sides.\n"
                "The game is saved after every move.\n",
                markup=False,
            )
            yield Static("In a review", classes="title")
            yield Static("\n".join(map(_line, REVIEW_ACTIONS)) + "\n")
            yield Static("While practising", classes="title")
            yield Static("\n".join(map(_line, PRACTICE_ACTIONS)) + "\n")
            yield Static("[$text-muted]Escape closes this help.[/]")


def _line(action: UserAction) -> str:
    return f"[bold $accent]{escape(key_of(action)):<9}[/] {escape(action.help)}"


def _option(choice: Choice) -> Option:
    detail = f"  {escape(choice.detail)}" if choice.detail else ""
    return Option(f"[bold]{escape(choice.title)}[/]{detail}")
