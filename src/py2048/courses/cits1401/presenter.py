"""What happens in the window, without the window."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from py2048.board import Board, Cell, Motion
from py2048.direction import Direction
from py2048.errors import CourseError
from py2048.game import Game, Spawn, Turn
from py2048.rules import RandomStart, Rules, get_rules

if TYPE_CHECKING:
    from py2048.search.beam import BeamPlanner

LEAD = 200_000
"""How many moves the plan may be ahead of the play."""


class RandomComputer:
    """Any of the four directions, all equally likely, whether it moves anything or not."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)

    def next(self) -> Direction:
        """Return a random direction."""
        return self._random.choice(tuple(Direction))

    def stop(self) -> None:
        """Do nothing: chance does not think."""


class IntelligentComputer:
    """Plans in its own thread, far ahead of the play, so that the window never waits.

    It never tries a move that is not possible, and survives for as long as it can.
    """

    def __init__(self, board: Board, rules: Rules) -> None:
        self._board = board
        self._rules = rules
        self._planner: BeamPlanner | None = None
        self._fault: Exception | None = None
        self._stopped = threading.Event()
        self._wanted = threading.Event()
        self.thread = threading.Thread(target=self._think, name="cits1401-planner", daemon=True)
        self.thread.start()

    def next(self) -> Direction | None:
        """Return the next move of the plan; `None` while it is not made yet."""
        if self._fault is not None:
            raise CourseError(f"the intelligent computer gave up: {self._fault}") from self._fault
        move = self._planner.take() if self._planner is not None else None
        self._wanted.set()
        return move

    def stop(self) -> None:
        """End the thread after the search that it is in."""
        self._stopped.set()
        self._wanted.set()

    def _think(self) -> None:
        try:
            self._plan()
        except Exception as error:  # noqa: BLE001 (`next` tells the player about any)
            self._fault = error

    def _plan(self) -> None:
        from py2048.search.beam import BeamPlanner  # loads Numba, which takes a while

        planner = BeamPlanner(self._board, self._rules)
        planner.extend()
        self._planner = planner
        while not planner.is_complete and not self._stopped.is_set():
            if len(planner) - planner.played < LEAD:
                planner.extend()
            else:
                self._wanted.wait()
                self._wanted.clear()


SIDES = range(2, 17)
"""The lengths that a side of the board may have."""

FORGET_AFTER = 2000
"""A game keeps all its turns; after this many, a game without undo drops them."""


class PlayerKind(Enum):
    """Who plays."""

    HUMAN = "human"
    RANDOM = "random computer"
    INTELLIGENT = "intelligent computer"

    @property
    def is_computer(self) -> bool:
        """Whether it moves by itself."""
        return self is not PlayerKind.HUMAN


@dataclass(frozen=True, slots=True)
class PlaySpeed:
    """How fast the computer plays.

    Attributes:
        name: what the window calls it.
        pause: milliseconds between two moves that are shown.
        burst: how many moves are made for each one shown.
    """

    name: str
    pause: int
    burst: int = 1


SPEEDS = (
    PlaySpeed("slow", 1000),
    PlaySpeed("normal", 450),
    PlaySpeed("fast", 120),
    PlaySpeed("rapid", 30),
    PlaySpeed("turbo", 40, burst=100),
)
NORMAL = SPEEDS[1]


@dataclass(frozen=True, slots=True)
class GameSettings:
    """What a new game is asked for.

    Raises:
        CourseError: if a side is not a whole number in `SIDES`.
    """

    player_kind: PlayerKind = PlayerKind.HUMAN
    rows: int = 5
    columns: int = 5
    speed: PlaySpeed = NORMAL

    def __post_init__(self) -> None:
        for side in (self.rows, self.columns):
            if side != checked_side(side):
                raise CourseError(f"a side of the board must be a number, not the text {side!r}")

    @property
    def rules(self) -> Rules:
        """The course's rules on a board of this size: from one 2-tile to a board full of them."""
        preset = get_rules("cits1401")
        start = RandomStart(1, self.rows * self.columns, preset.start_weights)
        return replace(preset, rows=self.rows, columns=self.columns, start=start)


def checked_side(value: object) -> int:
    """Return the length of a side, given as a number or as text.

    Raises:
        CourseError: if it is not a whole number in `SIDES`.
    """
    text = str(value).strip()
    if not text.isdecimal() or int(text) not in SIDES:
        raise CourseError(
            f"a side of the board must be a whole number from {SIDES[0]} to {SIDES[-1]}, "
            f"not {text!r}"
        )
    return int(text)


def border_direction(cell: Cell, shape: tuple[int, int]) -> Direction | None:
    """Return where a click on `cell` slides the tiles: to the border it stands on.

    `None` for the corners, which stand on two borders, and for the squares inside.
    """
    (row, column), (rows, columns) = cell, shape
    at_row_end = row in (0, rows - 1)
    at_column_end = column in (0, columns - 1)
    if at_row_end == at_column_end:
        return None
    if at_row_end:
        return Direction.UP if row == 0 else Direction.DOWN
    return Direction.LEFT if column == 0 else Direction.RIGHT


@dataclass(frozen=True, slots=True)
class ViewState:
    """Everything that is to be seen.

    Attributes:
        board: the tiles.
        score: the points so far.
        status: the text of the status panel.
        motions: how the tiles moved in the last move; empty if nothing moved.
        spawn: the tile that appeared after it.
        is_over: whether the game is over.
        listens: whether clicks on the border make moves.
        animated: whether the screen has time to show the tiles moving.
    """

    board: Board
    score: int
    status: str
    motions: tuple[Motion, ...] = ()
    spawn: Spawn | None = None
    is_over: bool = False
    listens: bool = False
    animated: bool = True

    @property
    def moved(self) -> frozenset[Cell]:
        """The squares to highlight: those that a tile reached in the last move."""
        return frozenset(m.target for m in self.motions if m.merged or m.source != m.target)

    @property
    def made(self) -> frozenset[Cell]:
        """The squares of the tiles that the last move made: by merging, and the new one."""
        merged = frozenset(motion.target for motion in self.motions if motion.merged)
        return merged | {self.spawn.cell} if self.spawn else merged


class BorderScreen(Protocol):
    """What a presenter needs of a window."""

    def show(self, state: ViewState) -> None:
        """Show `state`."""

    def ask(self) -> None:
        """Ask who is to play; the answer is a call of `BorderPresenter.start`."""

    def later(self, milliseconds: int, action: Callable[[], None]) -> None:
        """Call `action` after a while, in place of one still waiting."""

    def cancel(self) -> None:
        """Forget the action still waiting, if there is one."""


@dataclass
class BorderPresenter:
    """The course of the program.

    Attributes:
        screen: where everything is shown.
        seed: of the games and of the random player, for tests; by default every game differs.
        settings: those of the game in progress, or of the last one.
        game: the game in progress, `None` before the first and between two.
    """

    screen: BorderScreen
    seed: int | None = None
    settings: GameSettings = field(default_factory=GameSettings)
    game: Game | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._computer: RandomComputer | IntelligentComputer | None = None
        self._earlier = 0

    @property
    def score(self) -> int:
        """The points of the game in progress."""
        return self._earlier + (self.game.score if self.game else 0)

    @property
    def is_human(self) -> bool:
        """Whether it is a person's turn to move."""
        is_running = self.game is not None and not self.game.is_over
        return is_running and self.settings.player_kind is PlayerKind.HUMAN

    def new_game(self) -> None:
        """End the game in progress and ask who is to play the next one."""
        self._end()
        self.screen.ask()

    def start(self, settings: GameSettings) -> None:
        """Begin a game."""
        self._end()
        self.settings = settings
        self._earlier = 0
        self.game = Game(settings.rules, seed=self.seed)
        match settings.player_kind:
            case PlayerKind.HUMAN:
                self._show("New game: click a square on the border")
                return
            case PlayerKind.RANDOM:
                self._computer = RandomComputer(self.seed)
            case PlayerKind.INTELLIGENT:
                self._computer = IntelligentComputer(self.game.board, self.game.rules)
        self._show(f"New game: the {settings.player_kind.value} plays")
        self._wait()

    def click(self, cell: Cell) -> None:
        """Take a click on a square; corners and the squares inside do nothing."""
        direction = border_direction(cell, self.settings.rules.shape)
        if direction is not None:
            self.push(direction)

    def push(self, direction: Direction) -> None:
        """Take a person's move; do nothing while the computer plays or no game is in progress."""
        if self.is_human:
            self._attempt(direction)
            self._show_turn()

    def quit(self) -> None:
        """Stop everything that is still going on."""
        self._end()

    def _end(self) -> None:
        self.screen.cancel()
        if self._computer is not None:
            self._computer.stop()
        self._computer = None
        self.game = None

    def _wait(self) -> None:
        self.screen.later(self.settings.speed.pause, self._let_computer_move)

    def _let_computer_move(self) -> None:
        speed = self.settings.speed
        for made in range(speed.burst):
            direction = self._next_direction()
            if direction is None:
                break
            self._attempt(direction)
            if self._is_over or made == speed.burst - 1:
                self._show_turn(animated=speed.burst == 1)
                break
        if self._computer is not None and not self._is_over:
            self._wait()

    def _next_direction(self) -> Direction | None:
        """Ask the computer for its next move; if there is none, say why."""
        assert self._computer is not None
        try:
            direction = self._computer.next()
        except CourseError as error:
            self._computer = None
            self._show(str(error))
            return None
        if direction is None:
            self._show("The computer is thinking")
        return direction

    @property
    def _running(self) -> Game:
        assert self.game is not None
        return self.game

    @property
    def _is_over(self) -> bool:
        return self._running.is_over

    def _attempt(self, direction: Direction) -> None:
        """Play `direction`, or pay for it."""
        game = self._running
        if len(game.turns) >= FORGET_AFTER:
            self._earlier += game.score
            game = self.game = Game(game.rules, board=game.board)
        game.attempt(direction)

    def _show_turn(self, *, animated: bool = True) -> None:
        """Show what the last turn did."""
        turn = self._running.turns[-1]
        if self._is_over:
            status = f"Game over, final score {self.score}"
        elif turn.legal:
            status = f"{turn.direction.name.title()} movement is successful"
        else:
            status = "Movement not possible"
        self._show(status, turn, animated=animated)

    def _show(self, status: str, turn: Turn | None = None, *, animated: bool = True) -> None:
        """Show the game, with what moved in `turn`."""
        self.screen.show(
            ViewState(
                board=self._running.board,
                score=self.score,
                status=status,
                motions=turn.slide.motions if turn and turn.legal else (),
                spawn=turn.spawn if turn else None,
                is_over=self._is_over,
                listens=self.is_human,
                animated=animated,
            )
        )
