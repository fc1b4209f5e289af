"""The game view, which lays out the board, its panel and the key bar."""

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

from py2048.app.controller.review import chance_title
from py2048.app.terminal import board
from py2048.core.direction import Direction
from py2048.core.language import N_, _, number
from py2048.presentation.actions import UserAction
from py2048.presentation.hints import options_of
from py2048.presentation.screen import CoachStatus, Status, title_of
from py2048.presentation.themes import DEFAULT_THEME, MOTION_MS, Theme
from py2048.presentation.words import name_of

if TYPE_CHECKING:
    from py2048.app.session import Hint
    from py2048.presentation.result import Result

NO_BREAK = "\N{NO-BREAK SPACE}"
ARROWS = {Direction.UP: "↑", Direction.DOWN: "↓", Direction.LEFT: "←", Direction.RIGHT: "→"}

GAIN_S = MOTION_MS["rise"] / 1000

ROWS_PER_DIGIT_SIZE = 24
"""The scale of the large digits is the panel's height divided by this number of rows."""

MIN_COLUMNS_BELOW = 38
"""Minimum width of a panel below the board."""

MIN_ROWS_FOR_DIGITS, MAX_PANEL_ROWS = 19, 23

MAX_GAP, MAX_BAR, COACH_ROWS = 4, 48, 4


class PanelSection(NamedTuple):
    """A section of the panel, which is shown in full or not at all.

    Attributes:
        priority: Sections with the highest priority numbers are omitted first.
        rows: Fixed height in rows, so that the sections below never move.
        lines: Content, at most `rows` lines.
    """

    priority: int
    rows: int
    lines: list[Content]


class GameView(Container):
    """The view of a game.

    Attributes:
        board: The board.
        arrangement: Current position of the panel.
        grid: Current layout of the board, or `None` if the board does not fit.
        status: The displayed scores and facts.
        hint: The current hint, if any.
        note: The current message.
    """

    def __init__(self) -> None:
        super().__init__(id="game")
        self.board = board.TerminalBoard()
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
        self.arrangement = board.Arrangement.NONE
        self.grid: board.TerminalGrid | None = None
        self._unsaved = ""
        self._panel_size = 1, 1
        self._is_stale = False

    def compose(self) -> ComposeResult:
        """Create all widgets, including those that the current layout hides."""
        with Container(id="middle"):
            with Container(id="stage"):
                yield self.board
                yield self._result_box
            yield self._panel
        yield Static(id="bar")
        yield Static(_("Too small"), id="too-small", markup=False)
        yield Static(id="unsaved", markup=False)

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme to the parts that Textual does not style."""
        self._theme = theme
        self.board.set_theme(theme)
        self._update_panel()

    def set_shape(self, shape: tuple[int, int]) -> None:
        """Set the board's number of rows and columns."""
        if shape != self._shape:
            self._shape = shape
            self._arrange(self._available_size)

    @property
    def _available_size(self) -> Size:
        """Size of the view or, before the first layout, size of the screen."""
        return self.size if self.size.area else self.app.size

    def on_mount(self) -> None:
        """Arrange the widgets before the first paint."""
        self._arrange(self._available_size)

    def on_resize(self, event: events.Resize) -> None:
        """Rearrange the widgets."""
        self._arrange(event.size)

    # Display

    def show_status(self, status: Status) -> None:
        """Update scores and facts."""
        self.status = status
        self._update_panel()

    def show_gain(self, points: int) -> None:
        """Briefly show the points gained by a move beside the score."""
        if points:
            if self._gain_timer is not None:
                self._gain_timer.stop()
            self._set_gain(points)
            self._gain_timer = self.set_timer(GAIN_S, lambda: self._set_gain(0))

    def _set_gain(self, points: int) -> None:
        self._gain = points
        self._update_panel()

    def show_hint(self, hint: Hint | None) -> None:
        """Mark the recommended direction, and list the other directions with their losses."""
        self.hint = hint
        self.board.mark(hint.direction if hint else None)
        self._update_panel()

    def say(self, text: str) -> None:
        """Show a message in the panel, or as a toast if it does not fit."""
        is_new, self.note = text != self.note, text
        self._update_panel()
        if is_new and len(textwrap.wrap(text, self._panel_size[0])) > self._message_rows:
            self.notify(text, timeout=8, markup=False)

    def cover(self, result: Result | None) -> None:
        """Show a result overlay after the last move's animation. `None` removes the overlay."""
        is_update = result is not None and result.is_update_of(self._result)
        self._result = result
        if self._result_timer is not None and not is_update:
            self._result_timer.stop()
        if self.board.is_moving and not is_update and result is not None:
            self._result_timer = self.set_timer(MOTION_MS["wait"] / 1000, self._place_result)
        elif not self.board.is_moving or result is None:
            self._place_result()

    def _place_result(self) -> None:
        """Show the result in the centre of the board, if there is room."""
        self._result_box.display = False
        if self._result is None or self.grid is None:
            return
        columns, rows = self.grid.width_columns, self.grid.height_rows
        width = min(columns - 2, RESULT_COLUMNS)
        lines = result_lines(self._result, width - 4, rows - 4, self._theme)
        if width >= MIN_RESULT_COLUMNS and len(lines) <= rows - 4:
            self._result_box.update(Content("\n").join(lines))
            self._result_box.styles.width = width
            offset = (columns - width) // 2, (rows - len(lines) - 2) // 2
            self._result_box.styles.offset = offset
            self._result_box.display = True

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show the coach's comments, or remove them if `status` is `None`."""
        self._coach = status
        self._update_panel()

    def show_unsaved(self, reason: str) -> None:
        """Show why changes are not saved. An empty reason removes the warning."""
        self._unsaved = _("Not saved: {reason}").format(reason=reason) if reason else ""
        self._arrange(self._available_size)

    # Layout

    def _arrange(self, size: Size) -> None:
        warning = self.query_one("#unsaved", Static)
        warning.update(self._unsaved)
        warning.display = bool(self._unsaved)
        warning_rows = len(textwrap.wrap(self._unsaved, max(1, size.width - 2)))
        height = size.height - min(warning_rows, size.height // 3)
        self.arrangement, self.grid = board.arrange(size.width, height, *self._shape)
        for arrangement in board.Arrangement:
            self.set_class(arrangement is self.arrangement, f"-{arrangement.value}")
        self.board.set_grid(self.grid)
        self._panel_size = panel_size(self.arrangement, self.grid, size.width, height)
        self._panel.styles.width, self._panel.styles.height = self._panel_size
        self.query_one("#bar", Static).update(key_bar(size.width))
        self._place_result()
        self._update_panel()

    @property
    def _message_rows(self) -> int:
        return 1 if self._panel_size[1] < 3 else 2

    def _update_panel(self) -> None:
        """Schedule one update for all changes that are made while an event is handled."""
        if not self._is_stale:
            self._is_stale = True
            self.call_next(self._update_panel_now)

    def _update_panel_now(self) -> None:
        self._is_stale = False
        width, height = self._panel_size
        rows = self._message_rows
        sections = self._sections(width, height)
        visible = visible_sections(sections, height - rows)
        style = "" if self.note else "$text-muted"
        lines = self._message(width, shows_hint=sections["hint"] in visible)
        message = PanelSection(0, rows, [Content.styled(line, style) for line in lines])
        text = Content("\n").join(spread([*visible, message], height))
        if text != self._panel.content:
            self._panel.update(text, layout=False)  # the panel's size is fixed

    # Panel content

    def _sections(self, width: int, height: int) -> dict[str, PanelSection]:
        """Return all sections of the panel except the message, from top to bottom."""
        score, best = number(self.status.score), number(self.status.best)
        gain = f" {self._gain:+,}" if self._gain else ""
        if height < MIN_ROWS_FOR_DIGITS:
            scores = {"score": PanelSection(1, 1, [score_line(score, gain, best, width)])}
        else:
            scale = max(1, height // ROWS_PER_DIGIT_SIZE)
            scores = {
                "score": self._score_section(1, _("Score"), score, gain, width, scale),
                "best": self._score_section(3, _("Best"), best, "", width, scale - 1),
            }
        rules = title_of(self.status.rules, self._shape)
        about = _("{title} · move {n}").format(title=rules, n=number(self.status.moves))
        race = [_fact(label, _cut(value, width - len(label))) for label, value in self.status.race]
        return {
            **scores,
            **({"race": PanelSection(3, len(race), race)} if race else {}),
            "next": self._next_section(width),
            "hint": self._hint_section(),
            "coach": self._coach_section(width),
            "rules": PanelSection(4, 1, [muted(about)]),
        }

    def _score_section(
        self, priority: int, title: str, digits: str, gain: str, width: int, scale: int
    ) -> PanelSection:
        """Return the section with a score in large digits, or in one line if `scale` is 0."""
        if not scale:
            return PanelSection(priority, 1, [_fact(title, digits)])
        dots = board.digits_width(digits)
        across = next((size for size in (2 * scale, scale, 1) if dots * size <= 2 * width), 1)
        rows = -(-board.DIGIT_HEIGHT * scale // 2)
        canvas = board.Canvas(-(-dots * across // 2), rows, self._theme.page)
        board.draw_digits(canvas, digits, (0, 0), (across, scale), self._theme.ink)
        lines = [muted(title), *canvas.content()]
        beside = rows // 2 + 1 if canvas.columns + len(gain) <= width else 0
        lines[beside] = Content.assemble(lines[beside], (gain, "bold $good"))
        return PanelSection(priority, len(lines), lines)

    def _next_section(self, width: int) -> PanelSection:
        """Return the section with the next tile to reach and a progress bar."""
        shown = self.board.board
        if shown is None or not shown.max_tile:
            return PanelSection(5, 2, [])
        columns, share = min(width, MAX_BAR), sum(map(sum, shown.rows)) / shown.max_tile - 1
        return PanelSection(5, 2, [_fact(_("Goal"), str(2 * shown.max_tile)), bar(share, columns)])

    def _hint_section(self) -> PanelSection:
        """Return the section that lists the directions with their losses, best first."""
        if self.hint is None:
            return PanelSection(2, 5, [muted(_("Hint")), muted(_("? shows the best move"))])
        name = _("Quick hint") if self.hint.instead_of else _("Hint")
        lines = [muted(chance_title(self.hint.judged) or name)]
        rows = options_of(self.hint)
        columns = max(len(name_of(row.direction)) for row in rows) + 4
        for row in rows:
            name = f"{ARROWS[row.direction]} {name_of(row.direction).lower()}".ljust(columns)
            strong, light = ("bold $good", "$good") if row.is_best else ("", "$text-muted")
            text = f"{row.text:>5} " if row.chance else row.text
            line = Content.assemble((name, strong), (text, light))
            if row.chance:
                columns_left = min(MAX_BAR, self._panel_size[0] - len(name) - len(text))
                line = Content.assemble(line, bar(row.share, columns_left, light))
            lines.append(line)
        return PanelSection(2, 5, lines)

    def _coach_section(self, width: int) -> PanelSection:
        lines, coach = [muted(_("Coach"))], self._coach
        if coach is None:
            return PanelSection(6, COACH_ROWS, [*lines, muted(_("c judges your moves"))])
        style = "bold $danger" if coach.comment.startswith("?") else "bold $good"
        for part, look in ((coach.comment, style), *((fact, "") for fact in coach.facts)):
            wrapped = textwrap.wrap(part, width)
            if len(lines) + len(wrapped) <= COACH_ROWS:
                lines += [Content.styled(line, look) for line in wrapped]
        return PanelSection(6, COACH_ROWS, lines)

    def _message(self, width: int, *, shows_hint: bool) -> list[str]:
        """Return the lines of the message area.

        A message takes precedence over hints, status and help. Messages that do not fit are
        hidden, not truncated.
        """
        if self.hint and not self.note and not shows_hint:
            losses = [f"{ARROWS[row.direction]} {row.text}" for row in options_of(self.hint)]
            line = "  ".join(loss.replace(" ", NO_BREAK) for loss in losses)
            return textwrap.wrap(line, width)[:1]
        has_powers = self.grid and self.grid.label_columns <= board.MAX_POWER_COLUMNS
        status, powers = self.status, _("11 means 2048") if has_powers else ""
        text = self.note or powers or status.note or status.help.capitalize() or status.teaching
        lines = textwrap.wrap(text, width)
        return lines if len(lines) <= self._message_rows else []


# Panel layout


def panel_size(
    arrangement: board.Arrangement, grid: board.TerminalGrid | None, width: int, height: int
) -> tuple[int, int]:
    """Return the panel's size as (columns, rows)."""
    if grid is None:
        return 1, 1
    board_columns, board_rows = grid.width_columns, grid.height_rows
    if arrangement is board.Arrangement.WIDE:
        available = width - sum(board.MARGINS) - board_columns
        columns = min(max(board.PANEL_COLUMNS + 2, board_columns // 2), available)
        return columns, max(min(MAX_PANEL_ROWS, height - 1), board_rows)
    rows = height - board_rows - (arrangement is board.Arrangement.TALL)
    columns = min(width, max(board_columns, MIN_COLUMNS_BELOW))
    return columns, max(1, min(rows, MAX_PANEL_ROWS))


def visible_sections(sections: dict[str, PanelSection], rows: int) -> list[PanelSection]:
    """Return the sections that fit, selected by priority, in the original order."""
    visible = []
    for section in sorted(sections.values(), key=lambda each: each.priority):
        if section.rows <= rows:
            rows -= section.rows
            visible.append(section)
    return [section for section in sections.values() if section in visible]


def spread(sections: list[PanelSection], rows: int) -> list[Content]:
    """Return the lines of all sections, and distribute unused rows as gaps between sections."""
    gap, extra = divmod(rows - sum(section.rows for section in sections), len(sections))
    lines: list[Content] = []
    for index, section in enumerate(sections):
        above = min(MAX_GAP if index else 1, gap + (index < extra))
        below = section.rows - len(section.lines)
        lines += [*[Content()] * above, *section.lines, *[Content()] * below]
    return lines


def score_line(score: str, gain: str, best: str, width: int) -> Content:
    """Return the score, the gain and the best score in one line.

    If the line is too narrow, either the gain or the best score is omitted, preferably the gain.
    """
    best = f"{_('Best')} {best}"
    if len(f"{score}{gain} {best}") > width:
        gain, best = ("", best) if len(f"{score} {best}") <= width else (gain, "")
    space = " " * max(1, width - len(score + gain + best))
    return Content.assemble((score, "bold"), (gain, "bold $good"), space, (best, "$text-muted"))


# Results

RESULT_COLUMNS, MIN_RESULT_COLUMNS, BAR_ROWS = 45, 24, 3


def result_lines(result: Result, width: int, height: int, theme: Theme) -> list[Content]:
    """Return the lines of a result, omitting parts that do not fit into `height` rows."""
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
    race = [_fact(*each) for each in result.race]
    figures = [Content(), *figure_lines(result, width), *race]
    for middle in ([*figures, *distribution_lines(result, width, theme)], figures):
        if len(head + middle + foot) <= height:
            return head + middle + foot
    return head + foot


def figure_lines(result: Result, width: int) -> list[Content]:
    """Return the figures of a result, side by side if they fit, otherwise one per line."""
    cell = width // len(result.figures)
    if max(len(each) for figure in result.figures for each in figure) < cell:
        labels, values = (
            "".join(each.ljust(cell) for each in row) for row in zip(*result.figures, strict=True)
        )
        return [muted(labels), Content.styled(values, "bold")]
    return [_fact(*figure) for figure in result.figures]


def distribution_lines(result: Result, width: int, theme: Theme) -> list[Content]:
    """Return the lines that compare the game with others: a sentence and a bar chart."""
    lines = [Content(), *map(Content, textwrap.wrap(result.place, width))] if result.place else []
    if not result.bars:
        return lines
    canvas, height = board.Canvas(width, BAR_ROWS, theme.raised), 2 * BAR_ROWS
    pitch = 2 * width // len(result.bars)
    for index, count in enumerate(result.bars):
        bar_height = max(count > 0, round(height * count / max(result.bars)))
        colour = theme.accent if index == result.mine else theme.muted
        y = height - bar_height
        canvas.rectangle(pitch * index, y, max(1, pitch - 1), bar_height, colour)
    (low, top), mine = result.low_and_high, number(result.score)
    before = max(pitch * result.mine // 2 - len(mine) // 2, len(low) + 1)
    after = max(width - before - len(mine), len(top) + 1)
    parts = (f"{low:<{before}}", "$text-muted"), (mine, "bold"), (f"{top:>{after}}", "$text-muted")
    return [*lines, *canvas.content(), Content.assemble(*parts)]


# Styled text


def muted(text: str) -> Content:
    """Return muted text."""
    return Content.styled(text, "$text-muted")


def bar(share: float, columns: int, colour: str = "$accent") -> Content:
    """Return a horizontal bar. `share` is the filled part, from 0 to 1."""
    filled = round(columns * min(max(share, 0.0), 1.0))
    return Content.assemble(("━" * filled, colour), ("━" * (columns - filled), "$line"))


def _cut(text: str, width: int) -> str:
    """Shorten a text by dropping its last parts, which are separated by middle dots."""
    while len(text) >= width and " \N{MIDDLE DOT} " in text:
        text = text.rpartition(" \N{MIDDLE DOT} ")[0]
    return text


def _fact(name: str, value: str) -> Content:
    return Content.assemble((f"{name} ", "$text-muted"), (value, "bold"))


# Key bar

FOOTER = (
    (6, "←↑↓→", N_("move"), ""),
    (2, "u", N_("undo"), "undo"),
    (3, "?", N_("hint"), "hint"),
    (7, "space", N_("watch"), "autoplay"),
    (4, "n", N_("new"), "new"),
    (1, "F1", N_("more"), "help"),
    (5, "q", N_("quit"), "quit"),
)
"""Entries of the key bar: (priority, key, label, action). Priority 1 is omitted last."""


def key_label(action: UserAction) -> str:
    """Return the label of an action's keys, in lower case except for function keys."""
    return action.shown if action.shown[1:].isdigit() else action.shown.lower()


def key_bar(width: int, entries: Sequence[tuple[int, str, str, str]] = FOOTER) -> str:
    """Return markup for the key bar with as many entries as fit on a line."""
    for count in range(len(entries), 0, -1):
        keys = [(key, _(label), action) for rank, key, label, action in entries if rank <= count]
        used = sum(len(key) + 1 + len(label) for key, label, _action in keys)
        for gap in (3, 2):
            if used + gap * (count - 1) + 2 <= width or (count, gap) == (1, 2):
                return (" " * gap).join(_entry(*key) for key in keys)
    return ""


def _entry(key: str, label: str, action: str) -> str:
    link = f"[@click=app.do('{action}')]{label}[/]" if action else label
    return f"[bold $accent]{key}[/] {link}"
