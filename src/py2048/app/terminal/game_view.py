"""The screen of a game: the board with its panel, messages and keys, arranged by size.

It knows nothing of sessions; the application tells it what to show.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.geometry import Size
from textual.timer import Timer
from textual.widgets import Static

from py2048.app.terminal.board import (
    DIGIT_HEIGHT,
    MARGINS,
    PANEL_COLUMNS,
    Arrangement,
    Canvas,
    TerminalBoard,
    TerminalGrid,
    arrange,
    digits_width,
    draw_digits,
)
from py2048.core.direction import Direction
from py2048.core.language import N_, _, number
from py2048.presentation.actions import UserAction
from py2048.presentation.hints import name_of, options_of
from py2048.presentation.screen import CoachStatus, Status, title_of
from py2048.presentation.themes import DEFAULT_THEME, MOTION_MS, Theme

if TYPE_CHECKING:
    from py2048.app.session import Hint
    from py2048.presentation.result import Result

NO_BREAK = "\N{NO-BREAK SPACE}"
ARROWS = {Direction.UP: "↑", Direction.DOWN: "↓", Direction.LEFT: "←", Direction.RIGHT: "→"}

GAIN_S = MOTION_MS["rise"] / 1000
"""How long the points of a move stand beside the score."""

FIGURE_ROWS = 24
"""The rows of the panel for which the digits of the score grow by a step."""


MIN_BELOW = 38
"""The least columns of a panel below a narrower board, where there are as many."""

PANEL_ROWS, WHOLE_PANEL = 23, 19
"""The rows of a roomy panel, and of all its sections; with fewer the score is one line."""

MAX_GAP, MAX_BAR, COACH_ROWS = 4, 48, 4


class Section(NamedTuple):
    """Lines of the panel that are shown as a whole or not at all.

    Attributes:
        rank: 1 for the one that is left out last.
        rows: its height, whatever it says, so that nothing below it moves.
        lines: what it says.
    """

    rank: int
    rows: int
    lines: list[Content]


class GameView(Container):
    """Everything on the screen of a game.

    Attributes:
        board: the board.
        arrangement: where things stand at this size.
        grid: the grid of the board at this size; `None` if it does not fit.
        status: the scores and facts that are shown.
        hint: the hint that is shown, if any.
        note: the message that is shown.
    """

    def __init__(self) -> None:
        super().__init__(id="game")
        self.board = TerminalBoard()
        self._panel = Static(id="panel")
        self._result_box = Static(id="result")
        self._result: Result | None = None
        self._result_timer: Timer | None = None
        self._shape = (4, 4)
        self._theme = DEFAULT_THEME
        self.status, self.note = Status(), ""
        self.hint: Hint | None = None
        self._coach: CoachStatus | None = None
        self._gain = 0
        self._gain_timer: Timer | None = None
        self.arrangement = Arrangement.NONE
        self.grid: TerminalGrid | None = None
        self._unsaved = ""
        self._panel_room = 1, 1
        self._is_stale = False

    def compose(self) -> ComposeResult:
        """Create every part once; the arrangement decides which are seen."""
        with Container(id="middle"):
            with Container(id="stage"):
                yield self.board
                yield self._result_box
            yield self._panel
        yield Static(id="bar")
        yield Static(_("Too small"), id="too-small", markup=False)
        yield Static(id="unsaved", markup=False)

    def set_theme(self, theme: Theme) -> None:
        """Draw the parts that draw themselves with the colours of `theme`."""
        self._theme = theme
        self.board.set_theme(theme)
        self._write()

    def set_shape(self, shape: tuple[int, int]) -> None:
        """Make room for a board of this many rows and columns."""
        if shape != self._shape:
            self._shape = shape
            self._arrange(self._room)

    @property
    def _room(self) -> Size:
        """The room there is: the whole screen until anything is laid out."""
        return self.size if self.size.area else self.app.size

    def on_mount(self) -> None:
        """Arrange everything for the first time, before anything is seen."""
        self._arrange(self._room)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange everything for the new size."""
        self._arrange(event.size)

    # What is shown

    def show_status(self, status: Status) -> None:
        """Show scores and facts."""
        self.status = status
        self._write()

    def show_gain(self, points: int) -> None:
        """Show the points of a move beside the score for a moment."""
        if points:
            if self._gain_timer is not None:
                self._gain_timer.stop()
            self._set_gain(points)
            self._gain_timer = self.set_timer(GAIN_S, lambda: self._set_gain(0))

    def _set_gain(self, points: int) -> None:
        self._gain = points
        self._write()

    def show_hint(self, hint: Hint | None) -> None:
        """Mark the side of the board that a hint points to, and list what the others lose."""
        self.hint = hint
        self.board.point(hint.direction if hint else None)
        self._write()

    def say(self, text: str) -> None:
        """Show a message until the next one; where its place is too small for it, for a while."""
        is_new, self.note = text != self.note, text
        self._write()
        if is_new and len(textwrap.wrap(text, self._panel_room[0])) > self._message_rows:
            self.notify(text, timeout=8, markup=False)

    def cover(self, result: Result | None) -> None:
        """Show the end of the game over the board, when the last tile has come; or the board."""
        is_update = result is not None and result.is_update_of(self._result)
        self._result = result
        if self._result_timer is not None and not is_update:
            self._result_timer.stop()
        if self.board.is_moving and not is_update and result is not None:
            self._result_timer = self.set_timer(MOTION_MS["wait"] / 1000, self._place_result)
        elif not self.board.is_moving or result is None:
            self._place_result()

    def _place_result(self) -> None:
        """Show the result in the middle of the board, if it fits there."""
        self._result_box.display = False
        if self._result is None or self.grid is None:
            return
        across, down = min(self.grid.width_columns - 2, RESULT_COLUMNS), self.grid.height_rows - 2
        lines = result_lines(self._result, across - 4, down - 2, self._theme)
        if across >= MIN_RESULT_COLUMNS and len(lines) <= down - 2:
            self._result_box.update(Content("\n").join(lines))
            self._result_box.styles.width = across
            left, top = self.grid.width_columns - across, self.grid.height_rows - len(lines) - 2
            self._result_box.styles.offset = left // 2, top // 2
            self._result_box.display = True

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show what the coach says, or nothing of it."""
        self._coach = status
        self._write()

    def show_unsaved(self, reason: str) -> None:
        """Say below everything why something is not saved, as long as that is so."""
        said = _("Not saved: {reason}").format(reason=reason)
        self._unsaved = said if reason else ""
        self._arrange(self._room)

    # Where it is shown

    def _warning_rows(self, size: Size) -> int:
        """Return how many rows the warning takes, a third of the screen at most."""
        rows = len(textwrap.wrap(self._unsaved, max(1, size.width - 2)))
        return min(rows, size.height // 3)

    def _arrange(self, size: Size) -> None:
        warning = self.query_one("#unsaved", Static)
        warning.update(self._unsaved)
        warning.display = bool(self._unsaved)
        height = size.height - self._warning_rows(size)
        self.arrangement, self.grid = arrange(size.width, height, *self._shape)
        for arrangement in Arrangement:
            self.set_class(arrangement is self.arrangement, f"-{arrangement.value}")
        self.board.set_grid(self.grid)
        self._panel_room = panel_size(self.arrangement, self.grid, size.width, height)
        self._panel.styles.width, self._panel.styles.height = self._panel_room
        self.query_one("#bar", Static).update(key_bar(size.width))
        self._place_result()
        self._write()

    @property
    def _message_rows(self) -> int:
        return 1 if self._panel_room[1] < 3 else 2

    def _write(self) -> None:
        """Write the panel anew, once for all that one event changes."""
        if not self._is_stale:
            self._is_stale = True
            self.call_next(self._write_now)

    def _write_now(self) -> None:
        self._is_stale = False
        width, height = self._panel_room
        rows = self._message_rows
        sections = self._sections(width, height)
        shown = fitting(sections, height - rows)
        style = "" if self.note else "$text-muted"
        said = self._message(width, is_listed=sections["hint"] in shown)
        message = Section(0, rows, [Content.styled(each, style) for each in said])
        text = Content("\n").join(spread([*shown, message], height))
        if text != self._panel.content:
            self._panel.update(text, layout=False)  # its place does not depend on it

    # What the panel says

    def _sections(self, width: int, height: int) -> dict[str, Section]:
        """Return the sections of the panel from its top, all but the message at its end."""
        score, best = number(self.status.score), number(self.status.best)
        gain = f" {self._gain:+,}" if self._gain else ""
        if height < WHOLE_PANEL:
            figures = {"score": Section(1, 1, [score_line(score, gain, best, width)])}
        else:
            scale = max(1, height // FIGURE_ROWS)
            figures = {
                "score": self._figure(1, _("Score"), score, gain, width, scale),
                "best": self._figure(3, _("Best"), best, "", width, scale - 1),
            }
        rules = title_of(self.status.rules, self._shape)
        about = _("{title} · move {n}").format(title=rules, n=number(self.status.moves))
        return {
            **figures,
            "next": self._next(width),
            "hint": self._hint_section(),
            "coach": self._coach_section(width),
            "rules": Section(4, 1, [muted(about)]),
        }

    def _figure(
        self, rank: int, title: str, digits: str, gain: str, width: int, scale: int
    ) -> Section:
        """Return a number in large digits of this scale, with points that were gained."""
        if not scale:
            return Section(rank, 1, [_fact(title, digits)])
        dots = digits_width(digits)
        across = next((each for each in (2 * scale, scale, 1) if dots * each <= 2 * width), 1)
        rows = -(-DIGIT_HEIGHT * scale // 2)
        canvas = Canvas(-(-dots * across // 2), rows, self._theme.page)
        draw_digits(canvas, digits, (0, 0), (across, scale), self._theme.ink)
        lines = [muted(title), *canvas.content()]
        beside = rows // 2 + 1 if canvas.columns + len(gain) <= width else 0
        lines[beside] = Content.assemble(lines[beside], (gain, "bold $good"))
        return Section(rank, len(lines), lines)

    def _next(self, width: int) -> Section:
        """Return the next tile to make, and how much of it there is on the board."""
        board = self.board.board
        if board is None or not board.max_tile:
            return Section(5, 2, [])
        columns, share = min(width, MAX_BAR), sum(map(sum, board.rows)) / board.max_tile - 1
        return Section(5, 2, [_fact(_("Next"), str(2 * board.max_tile)), bar(share, columns)])

    def _hint_section(self) -> Section:
        """Return what each direction loses, the best first."""
        if self.hint is None:
            return Section(2, 5, [muted(_("Hint")), muted(_("? shows the best move"))])
        lines = [muted(_("Quick hint") if self.hint.instead_of else _("Hint"))]
        options = options_of(self.hint)
        columns = max(len(name_of(each.direction)) for each in options) + 4
        for option in options:
            is_best = option.direction is self.hint.direction
            name = f"{ARROWS[option.direction]} {name_of(option.direction).lower()}".ljust(columns)
            strong, light = ("bold $good", "$good") if is_best else ("", "$text-muted")
            lines.append(Content.assemble((name, strong), (option.text, light)))
        return Section(2, 5, lines)

    def _coach_section(self, width: int) -> Section:
        lines = [muted(_("Coach"))]
        for part in self._coach.parts if self._coach else ():
            broken = textwrap.wrap(part, width)
            if len(lines) + len(broken) <= COACH_ROWS:
                style = "bold $good" if part[0] == "✓" else "bold $danger" if part[0] == "?" else ""
                lines += [Content.styled(line, style) for line in broken]
        off = [] if self._coach else [muted(_("c judges your moves"))]
        return Section(6, COACH_ROWS, [*lines, *off])

    def _message(self, width: int, *, is_listed: bool) -> list[str]:
        """Return the message, or what else is worth a line; nothing that must be cut."""
        if self.hint and not self.note and not is_listed:
            losses = [f"{ARROWS[row.direction]} {row.text}" for row in options_of(self.hint)]
            line = "  ".join(each.replace(" ", NO_BREAK) for each in losses)
            return textwrap.wrap(line, width)[:1]
        has_powers = self.grid is not None and self.grid.shows_powers
        status, powers = self.status, _("11 means 2048") if has_powers else ""
        said = self.note or powers or status.note or status.help.capitalize() or status.teaching
        lines = textwrap.wrap(said, width)
        return lines if len(lines) <= self._message_rows else []


# The layout of the panel


def panel_size(
    arrangement: Arrangement, grid: TerminalGrid | None, width: int, height: int
) -> tuple[int, int]:
    """Return the columns and rows of the panel beside or below the board."""
    if grid is None:
        return 1, 1
    across, down = grid.width_columns, grid.height_rows
    if arrangement is Arrangement.WIDE:
        columns = min(max(PANEL_COLUMNS + 2, across // 2), width - sum(MARGINS) - across)
        return columns, max(min(PANEL_ROWS, height - 1), down)
    rows = height - down - (arrangement is Arrangement.TALL)
    return min(width, max(across, MIN_BELOW)), max(1, min(rows, PANEL_ROWS))


def fitting(sections: dict[str, Section], rows: int) -> list[Section]:
    """Return the sections that there is room for, in their order."""
    found = []
    for section in sorted(sections.values(), key=lambda each: each.rank):
        if section.rows <= rows:
            rows -= section.rows
            found.append(section)
    return [section for section in sections.values() if section in found]


def spread(sections: list[Section], rows: int) -> list[Content]:
    """Return the lines of sections on `rows` rows, with what is left between them."""
    gap, more = divmod(rows - sum(section.rows for section in sections), len(sections))
    lines: list[Content] = []
    for index, section in enumerate(sections):
        above = min(MAX_GAP if index else 1, gap + (index < more))
        below = section.rows - len(section.lines)
        lines += [*[Content()] * above, *section.lines, *[Content()] * below]
    return lines


def score_line(score: str, gain: str, best: str, width: int) -> Content:
    """Return the score and the best in a line, with as much as there is room for."""
    best = f"{_('Best')} {best}"
    if len(f"{score}{gain} {best}") > width:
        gain, best = ("", best) if len(f"{score} {best}") <= width else (gain, "")
    room = " " * max(1, width - len(score + gain + best))
    return Content.assemble((score, "bold"), (gain, "bold $good"), room, (best, "$text-muted"))


# The end of a game

RESULT_COLUMNS, MIN_RESULT_COLUMNS, BAR_ROWS = 45, 24, 3


def result_lines(result: Result, width: int, height: int, theme: Theme) -> list[Content]:
    """Return a result, as much of it as fits on the given rows."""
    head = [muted(result.kind)]
    head += [Content.styled(line, "bold") for line in textwrap.wrap(result.headline, width)]
    if not result.is_final:
        title = Content.styled(result.title, "bold $accent")
        keys = key_bar(
            width, ((1, "←↑↓→", N_("keep playing"), ""), (2, "n", N_("new game"), "new"))
        )
        return [title, *head[1:], Content(), Content.from_markup(keys)]
    named = (
        (3, "y", N_("share"), "share"),
        (1, "b", result.review.lower(), "review"),
        (2, "n", N_("new"), "new"),
        (4, "u", N_("undo"), "undo"),
    )
    foot = [Content(), Content.from_markup(key_bar(width, named))]
    shown = [Content(), *figures(result, width)]
    for middle in ([*shown, *distribution(result, width, theme)], shown):
        if len(head + middle + foot) <= height:
            return head + middle + foot
    return head + foot


def figures(result: Result, width: int) -> list[Content]:
    """Return the figures of a result side by side, or in lines where they are too wide for that."""
    cell = width // len(result.figures)
    if max(len(each) for figure in result.figures for each in figure) < cell:
        labels, values = (
            "".join(each.ljust(cell) for each in row) for row in zip(*result.figures, strict=True)
        )
        return [muted(labels), Content.styled(values, "bold")]
    return [_fact(*figure) for figure in result.figures]


def distribution(result: Result, width: int, theme: Theme) -> list[Content]:
    """Return where a score stands among others: a sentence, and bars if there are enough."""
    lines = [Content(), *map(Content, textwrap.wrap(result.place, width))] if result.place else []
    if not result.bars:
        return lines
    canvas, high = Canvas(width, BAR_ROWS, theme.raised), 2 * BAR_ROWS
    across = 2 * width // len(result.bars)
    for place, count in enumerate(result.bars):
        tall = max(count > 0, round(high * count / max(result.bars)))
        colour = theme.accent if place == result.mine else theme.muted
        canvas.rectangle(across * place, high - tall, max(1, across - 1), tall, colour)
    (low, top), mine = result.low_and_high, number(result.score)
    before = max(across * result.mine // 2 - len(mine) // 2, len(low) + 1)
    after = max(width - before - len(mine), len(top) + 1)
    parts = (f"{low:<{before}}", "$text-muted"), (mine, "bold"), (f"{top:>{after}}", "$text-muted")
    return [*lines, *canvas.content(), Content.assemble(*parts)]


# Texts


def muted(text: str) -> Content:
    """Return a text of less weight."""
    return Content.styled(text, "$text-muted")


def bar(share: float, columns: int, colour: str = "$accent") -> Content:
    """Return a bar that is filled to a share, 0 to 1."""
    filled = round(columns * min(max(share, 0.0), 1.0))
    return Content.assemble(("━" * filled, colour), ("━" * (columns - filled), "$line"))


def _fact(name: str, value: str) -> Content:
    return Content.assemble((f"{name} ", "$text-muted"), (value, "bold"))


# The keys

FOOTER = (
    (6, "←↑↓→", N_("move"), ""),
    (2, "u", N_("undo"), "undo"),
    (3, "?", N_("hint"), "hint"),
    (7, "space", N_("watch"), "autoplay"),
    (4, "n", N_("new"), "new"),
    (1, "F1", N_("more"), "help"),
    (5, "q", N_("quit"), "quit"),
)
"""The keys below the board: how soon each is named, the key, its word, and the action."""


def key_of(action: UserAction) -> str:
    """Return the keys of an action as a terminal's users call them: in lower case, but F1."""
    return action.shown if action.shown[1:].isdigit() else action.shown.lower()


def key_bar(width: int, named: Sequence[tuple[int, str, str, str]] = FOOTER) -> str:
    """Return keys as Textual markup, as many as fit a line of this width."""
    for count in range(len(named), 0, -1):
        keys = [(key, _(word), action) for rank, key, word, action in named if rank <= count]
        used = sum(len(key) + 1 + len(word) for key, word, _action in keys)
        for gap in (3, 2):
            if used + gap * (count - 1) + 2 <= width or (count, gap) == (1, 2):
                return (" " * gap).join(entry(*each) for each in keys)
    return ""


def entry(key: str, word: str, action: str) -> str:
    """Return a key and its word as markup; a click on the word does the action."""
    link = f"[@click=app.do('{action}')]{word}[/]" if action else word
    return f"[bold $accent]{key}[/] {link}"
