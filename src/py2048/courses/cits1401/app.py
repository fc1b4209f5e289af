"""The reference program: a game played by clicking the border squares, with two computer players.

The module contains, in this order, the settings of a new game, the planning computer player, the
presenter (which needs no display), and the window.
"""

from __future__ import annotations

import random
import sys
import threading
import tkinter as tk
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product
from typing import TYPE_CHECKING

from py2048.core.board import Board, Cell
from py2048.core.direction import Direction
from py2048.core.errors import CourseError
from py2048.core.game import Game, Turn
from py2048.core.rules import RandomStart, Rules, get_rules
from py2048.courses.windows import FIELD, colors, fitting_font, opened, run

if TYPE_CHECKING:
    from py2048.players.search.beam import BeamPlanner

SIDES = range(2, 17)
"""Possible numbers of rows and columns."""

PAUSES_MS = {"slow": 1000, "normal": 450, "fast": 120, "rapid": 30}
"""Delay between two computer moves in milliseconds, by speed."""


class PlayerKind(Enum):
    """Kind of player."""

    HUMAN = "human"
    RANDOM = "random computer"
    INTELLIGENT = "intelligent computer"


@dataclass(frozen=True, slots=True)
class GameSettings:
    """Settings of a new game.

    Attributes:
        player_kind: Who plays.
        rows: Number of rows.
        columns: Number of columns.
        pause_ms: Milliseconds between two computer moves.
    """

    player_kind: PlayerKind = PlayerKind.HUMAN
    rows: int = 5
    columns: int = 5
    pause_ms: int = PAUSES_MS["normal"]

    @property
    def rules(self) -> Rules:
        """The course's rules for this board size. Games start with one or more tiles."""
        preset = get_rules("cits1401")
        start = RandomStart(1, self.rows * self.columns, preset.start_weights)
        return replace(preset, rows=self.rows, columns=self.columns, start=start)


def border_direction(cell: Cell, shape: tuple[int, int]) -> Direction | None:
    """Return the direction in which a click on `cell` moves the tiles, or `None`.

    Tiles slide towards the side of the board that contains the clicked cell. Clicks on corners and
    inside the border are ignored.
    """
    (row, column), (rows, columns) = cell, shape
    at_row_end = row in (0, rows - 1)
    at_column_end = column in (0, columns - 1)
    if at_row_end == at_column_end:
        return None
    if at_row_end:
        return Direction.UP if row == 0 else Direction.DOWN
    return Direction.LEFT if column == 0 else Direction.RIGHT


# --- the intelligent computer ---

MAX_LEAD = 200_000
"""Maximum number of moves that are planned in advance."""

LEAD_CHECK_PERIOD_S = 1.0
"""How long the planning thread pauses while it is `MAX_LEAD` moves ahead, in seconds."""


class IntelligentComputer:
    """A computer player that plans in a separate thread, so that the window never blocks.

    The player never attempts an impossible move, and makes the game last as long as possible.
    """

    def __init__(self, board: Board, rules: Rules) -> None:
        self._planner: BeamPlanner | None = None
        self._fault: Exception | None = None
        self._stopped = threading.Event()
        self.thread = threading.Thread(target=self._plan, args=(board, rules), daemon=True)
        self.thread.start()

    def next(self) -> Direction | None:
        """Return the next planned move, or `None` if it has not been planned yet.

        Raises:
            CourseError: If the planning thread has failed.
        """
        if self._fault is not None:
            raise CourseError(f"the intelligent computer gave up: {self._fault}") from self._fault
        return self._planner.take() if self._planner is not None else None

    def stop(self) -> None:
        """End the thread after its current search."""
        self._stopped.set()

    def _plan(self, board: Board, rules: Rules) -> None:
        """Plan the game until the plan is complete or the player is stopped."""
        try:
            from py2048.players.search.beam import BeamPlanner  # slow: loads Numba

            planner = BeamPlanner(board, rules)
            planner.extend()
            self._planner = planner
            while not planner.is_complete and not self._stopped.is_set():
                if len(planner) - planner.played < MAX_LEAD:
                    planner.extend()
                else:
                    self._stopped.wait(LEAD_CHECK_PERIOD_S)
        except Exception as error:  # noqa: BLE001 (`next` reports it to the player)
            self._fault = error


# --- the presenter ---


@dataclass(frozen=True, slots=True)
class ViewState:
    """Everything the window shows.

    Attributes:
        board: The tiles.
        score: The current score.
        status: Text of the status panel.
        moved: Squares where tiles arrived or merged in the last move.
        new: Square of the new tile, or None.
    """

    board: Board
    score: int
    status: str
    moved: frozenset[Cell] = frozenset()
    new: Cell | None = None


class BorderPresenter:
    """Runs the games and updates the screen.

    Args:
        screen: The window. The presenter calls only its methods `show`, `ask`, `later` and
            `cancel`.
        seed: Seed of the games and of the random player. Random by default.

    Attributes:
        settings: Settings of the current or the last game.
        board: Board of the current game, or `None` if no game is in progress.
        score: Score of the current game.
    """

    def __init__(self, screen: App, seed: int | None = None) -> None:
        self.screen = screen
        self.settings = GameSettings()
        self.board: Board | None = None
        self.score = 0
        self._seed = seed
        self._planner: IntelligentComputer | None = None
        self._random = random.Random(seed)

    def new_game(self) -> None:
        """End the current game, and ask who plays the next game."""
        self.end()
        self.screen.ask()

    def start(self, settings: GameSettings) -> None:
        """Start a game."""
        self.end()
        self.settings = settings
        self.board = Game(settings.rules, seed=self._seed).board
        self.score = 0
        if settings.player_kind is PlayerKind.HUMAN:
            self._show("New game: click a square on the border")
            return
        if settings.player_kind is PlayerKind.INTELLIGENT:
            self._planner = IntelligentComputer(self.board, settings.rules)
        self._show(f"New game: the {settings.player_kind.value} plays")
        self._wait()

    def click(self, cell: Cell) -> None:
        """Handle a click on a square. Clicks on corners and inner squares have no effect."""
        direction = border_direction(cell, self.settings.rules.shape)
        if direction is not None:
            self.push(direction)

    def push(self, direction: Direction) -> None:
        """Attempt a move for the human player, unless the computer is playing."""
        if self.settings.player_kind is PlayerKind.HUMAN:
            self._attempt(direction)

    def end(self) -> None:
        """End the current game."""
        self.screen.cancel()
        if self._planner is not None:
            self._planner.stop()
        self._planner = None
        self.board = None

    def _wait(self) -> None:
        self.screen.later(self.settings.pause_ms, self._let_computer_move)

    def _let_computer_move(self) -> None:
        try:
            planner = self._planner
            direction = planner.next() if planner else self._random.choice(list(Direction))
        except CourseError as error:
            self._show(str(error))
            return
        if direction is None:
            self._show("The computer is thinking")
        else:
            self._attempt(direction)
        if self.board is not None and self.board.can_move():
            self._wait()

    def _attempt(self, direction: Direction) -> None:
        """Attempt a move, and show its result."""
        if self.board is None or not self.board.can_move():
            return
        # New tiles are not random, so each move can be played in a new `Game` from the current
        # board.
        game = Game(self.settings.rules, board=self.board)
        legal = game.attempt(direction)
        self.board, self.score = game.board, self.score + game.score
        if game.is_over:
            status = f"Game over, final score {self.score}"
        elif legal:
            status = f"{direction.name.title()} movement is successful"
        else:
            status = "Movement not possible"
        self._show(status, game.turns[-1])

    def _show(self, status: str, turn: Turn | None = None) -> None:
        """Show the game, and highlight the squares that changed in `turn`."""
        assert self.board is not None
        motions = turn.slide.motions if turn and turn.legal else ()
        moved = frozenset(m.target for m in motions if m.merged or m.source != m.target)
        new = turn.spawn.cell if turn and turn.spawn else None
        self.screen.show(ViewState(self.board, self.score, status, moved, new))


# --- the window ---

TITLE = "CITS1401 - 2048 on the border"
FONT = "Helvetica"
PAGE = "#f3f1ec"
BLUE = "#003087"
GOLD = "#ffc72c"
GREEN = "#7df0c4"
WHITE = "#ffffff"
DARK = "#1d2433"

SIDE = 560
"""Side of the canvas, in pixels."""

KEYS = {
    Direction.UP: ("Up", "w", "k"),
    Direction.DOWN: ("Down", "s", "j"),
    Direction.LEFT: ("Left", "a", "h"),
    Direction.RIGHT: ("Right", "d", "l"),
}


class BoardCanvas(tk.Canvas):
    """The squares of a board.

    Args:
        parent: The parent widget.
        on_cell: Called with the (row, column) of a clicked square.
    """

    def __init__(self, parent: tk.Misc, on_cell: Callable[[Cell], None]) -> None:
        super().__init__(parent, width=SIDE, height=SIDE, background=FIELD, highlightthickness=0)
        self._on_cell = on_cell
        self.bind("<Button-1>", self._click)
        self.lay_out((5, 5))

    def lay_out(self, shape: tuple[int, int]) -> None:
        """Draw an empty board with a `shape` of (rows, columns)."""
        self.delete("all")
        rows, columns = shape
        self._step = step = SIDE // max(shape)
        self._left, self._top = (SIDE - columns * step) // 2, (SIDE - rows * step) // 2
        self.tile = step - max(4, step // 8)
        self.squares: dict[Cell, tuple[int, int]] = {}
        """Canvas items of each square: the rectangle and the number."""
        for row, column in product(range(rows), range(columns)):
            x, y = self._left + column * step + step // 2, self._top + row * step + step // 2
            half = self.tile // 2
            box = x - half, y - half, x + half, y + half
            square = self.create_rectangle(*box, fill=colors[0], outline="")
            self.squares[row, column] = square, self.create_text(x, y, fill=WHITE)

    def show(self, state: ViewState) -> None:
        """Show the tiles, with a ring around the tiles that moved or are new."""
        ring = max(2, self.tile // 20)
        for cell, (square, number) in self.squares.items():
            value = state.board[cell]
            face, text = colors[value], str(value or "")
            edge = GOLD if cell in state.moved else GREEN if cell == state.new else face
            self.itemconfigure(square, fill=face, outline=edge, width=ring)
            font = fitting_font(self, text, self.tile * 85 // 100, self.tile * 46 // 100, "bold")
            self.itemconfigure(number, text=text, font=font)

    def _click(self, event: tk.Event[BoardCanvas]) -> None:
        cell = (event.y - self._top) // self._step, (event.x - self._left) // self._step
        if cell in self.squares:
            self._on_cell(cell)


def label(
    parent: tk.Misc, text: str, size: int, ink: str = DARK, weight: str = "normal"
) -> tk.Label:
    """Return a label with its parent's background colour."""
    return tk.Label(
        parent, text=text, font=(FONT, -size, weight), foreground=ink, background=parent["bg"]
    )


def button(
    parent: tk.Misc, text: str, command: Callable[[], None], face: str = BLUE, ink: str = WHITE
) -> tk.Button:
    """Return a flat button that is highlighted under the mouse."""
    made = tk.Button(parent, text=text, command=command, font=(FONT, -18, "bold"), relief="flat")
    made.configure(background=face, foreground=ink, activebackground=GOLD, activeforeground=DARK)
    made.configure(borderwidth=0, padx=22, pady=9)
    return made


class NewGamePanel(tk.Frame):
    """A panel over the board, in which the user chooses the next game's settings.

    Args:
        parent: The board.
        on_answer: Called with the chosen settings.
    """

    def __init__(self, parent: tk.Misc, on_answer: Callable[[GameSettings], None]) -> None:
        super().__init__(parent, background=WHITE, padx=30, pady=24)
        self._on_answer = on_answer
        self.rows, self.columns = tk.IntVar(self, 5), tk.IntVar(self, 5)
        self.skill, self.speed = tk.StringVar(self, "random"), tk.StringVar(self, "normal")
        label(self, "New game", 30, BLUE, "bold").grid(row=0, columnspan=2, pady=(0, 14))
        options = {
            "Rows": self._number(self.rows),
            "Columns": self._number(self.columns),
            "Computer": self._choice(self.skill, ("random", "intelligent")),
            "Speed": self._choice(self.speed, PAUSES_MS),
        }
        for row, (name, option) in enumerate(options.items(), 1):
            label(self, name, 16).grid(row=row, sticky="e", padx=(0, 14), pady=4)
            option.grid(row=row, column=1, sticky="w", pady=4)
        label(self, "Who plays?", 20).grid(row=5, columnspan=2, pady=(16, 8))
        self.human = button(self, "Human", lambda: self._answer(PlayerKind.HUMAN))
        self.human.grid(row=6, column=0)
        self.computer = button(
            self, "Computer", lambda: self._answer(PlayerKind(f"{self.skill.get()} computer"))
        )
        self.computer.grid(row=6, column=1)

    def open(self) -> None:
        """Show the panel with the options that were chosen last."""
        self.place(relx=0.5, rely=0.5, anchor="center")

    def _number(self, variable: tk.IntVar) -> tk.Spinbox:
        box = tk.Spinbox(self, from_=SIDES[0], to=SIDES[-1], textvariable=variable)
        box.configure(width=4, font=(FONT, -16), state="readonly")
        return box

    def _choice(self, variable: tk.StringVar, values: Iterable[str]) -> tk.Frame:
        row = tk.Frame(self, background=WHITE)
        for value in values:
            choice = tk.Radiobutton(row, text=value, value=value, variable=variable)
            choice.configure(font=(FONT, -15), background=WHITE, highlightthickness=0)
            choice.pack(side="left")
        return row

    def _answer(self, player_kind: PlayerKind) -> None:
        self.place_forget()
        sides = self.rows.get(), self.columns.get()
        self._on_answer(GameSettings(player_kind, *sides, PAUSES_MS[self.speed.get()]))


class App(tk.Tk):
    """The window of the game.

    Args:
        seed: Seed of the games. Defaults to a random seed.
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__()
        self.title(TITLE)
        self.configure(background=PAGE)
        self.resizable(False, False)
        self.presenter = BorderPresenter(self, seed)
        self._waiting: str | None = None
        header = tk.Frame(self, background=BLUE)
        header.pack(fill="x")
        label(header, "2048", 38, GOLD, "bold").pack(side="left", padx=20, pady=12)
        self.score = label(header, "", 24, WHITE, "bold")
        self.score.pack(side="right", padx=20)
        self.board = BoardCanvas(self, self.presenter.click)
        self.board.pack(padx=20, pady=(16, 8))
        self.status = label(self, "", 20)
        self.status.pack(fill="x", padx=20)
        bar = tk.Frame(self, background=PAGE)
        bar.pack(fill="x", padx=20, pady=16)
        button(bar, "New game", self.presenter.new_game).pack(side="left")
        button(bar, "Quit", self.quit_game, "#d8d3c7", DARK).pack(side="right")
        self.panel = NewGamePanel(self.board, self._start)
        for direction, names in KEYS.items():
            for name in names:
                self.bind(f"<KeyPress-{name}>", lambda _, way=direction: self.presenter.push(way))  # type: ignore[misc]
        self.protocol("WM_DELETE_WINDOW", self.quit_game)
        self.ask()

    def _start(self, settings: GameSettings) -> None:
        self.board.lay_out((settings.rows, settings.columns))
        self.presenter.start(settings)

    def quit_game(self) -> None:
        """End the current game and close the window."""
        self.presenter.end()
        self.destroy()

    # --- called by the presenter ---

    def show(self, state: ViewState) -> None:
        """Show the board, the score and the status."""
        self.status["text"] = state.status
        self.score["text"] = f"Score: {state.score}"
        self.board.show(state)

    def ask(self) -> None:
        """Ask who plays the next game, and start it with the answer."""
        self.status["text"] = "Choose who plays"
        self.panel.open()

    def later(self, milliseconds: int, action: Callable[[], None]) -> None:
        """Call `action` after a delay, and cancel any pending action."""
        self.cancel()
        self._waiting = self.after(milliseconds, action)

    def cancel(self) -> None:
        """Cancel the pending action, if there is one."""
        if self._waiting is not None:
            self.after_cancel(self._waiting)
            self._waiting = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Show the window until it is closed, and return the exit status."""
    given = sys.argv[1:] if arguments is None else arguments

    def play() -> None:
        if given:
            raise CourseError(
                f"{' '.join(given)!r}: this program takes no arguments; "
                "choose the size of the board with New game"
            )
        opened(App).mainloop()

    return run(play)


if __name__ == "__main__":
    sys.exit(main())
