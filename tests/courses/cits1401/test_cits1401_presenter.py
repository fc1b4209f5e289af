"""The presenter of cits1401, with a screen that records what it is told to show."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048 import Board, Direction, Game
from py2048.courses.cits1401.app import (
    BorderPresenter,
    GameSettings,
    IntelligentComputer,
    PlayerKind,
    ViewState,
    border_direction,
)

BORDERS = {
    Direction.UP: [(0, 1), (0, 2), (0, 3)],
    Direction.DOWN: [(4, 1), (4, 2), (4, 3)],
    Direction.LEFT: [(1, 0), (2, 0), (3, 0)],
    Direction.RIGHT: [(1, 4), (2, 4), (3, 4)],
}


@dataclass
class RecordingScreen:
    states: list[ViewState] = field(default_factory=list)
    waiting: Callable[[], None] | None = None

    def show(self, state: ViewState) -> None:
        self.states.append(state)

    def ask(self) -> None:
        pass

    def later(self, milliseconds: int, action: Callable[[], None]) -> None:
        self.waiting = action

    def cancel(self) -> None:
        self.waiting = None

    def tick(self) -> None:
        assert self.waiting is not None
        action, self.waiting = self.waiting, None
        action()

    @property
    def last(self) -> ViewState:
        return self.states[-1]


def begin(
    player_kind: PlayerKind = PlayerKind.HUMAN,
    board: Board | None = None,
    size: tuple[int, int] = (5, 5),
    seed: int = 1,
) -> tuple[BorderPresenter, RecordingScreen]:
    screen = RecordingScreen()
    presenter = BorderPresenter(screen, seed)
    presenter.start(GameSettings(player_kind, *(board.shape if board else size)))
    presenter.board = board or presenter.board
    return presenter, screen


def tick_until(screen: RecordingScreen, done: Callable[[], bool], seconds: float = 170) -> None:
    """Let the presenter's timer run; wait in real time while the computer is thinking."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, screen.last.status
        if screen.states and screen.last.status == "The computer is thinking":
            time.sleep(0.01)
        screen.tick()


# --- clicks ---


@pytest.mark.parametrize("direction", Direction)
def test_a_click_on_the_border_moves_to_that_border(direction):
    """A click on any border square but the corners moves to that border."""
    board = Board.parse(". . . . . / . . . . . / . . 2 . . / . . . . . / . . . . .")
    for cell in BORDERS[direction]:
        presenter, screen = begin(board=board)
        presenter.click(cell)
        rules = presenter.settings.rules
        expected = Game(rules, board=board)
        expected.play(direction)
        assert screen.last.board == expected.board
        assert screen.last.score == 1
        assert screen.last.status == f"{direction.name.title()} movement is successful"


@given(st.integers(2, 9), st.integers(2, 9), st.data())
def test_corners_and_inner_squares_do_nothing_and_cost_nothing(rows, columns, data):
    """Clicks on corners and inner squares change nothing."""
    row = data.draw(st.integers(0, rows - 1))
    column = data.draw(st.integers(0, columns - 1))
    ends = (row in (0, rows - 1)) + (column in (0, columns - 1))
    direction = border_direction((row, column), (rows, columns))
    assert (direction is None) == (ends != 1)
    if ends != 1:
        presenter, screen = begin(size=(rows, columns))
        before = list(screen.states)
        presenter.click((row, column))
        assert screen.states == before
        assert presenter.score == 0


def test_the_state_names_moved_squares_and_the_new_tile():
    """The state names the squares that tiles moved to, and the new tile."""
    presenter, screen = begin(board=Board.parse("2 2 . . / 4 . . 8 / . . . . / . . . ."))
    presenter.push(Direction.LEFT)
    assert screen.last.moved == {(0, 0), (1, 1)}
    assert screen.last.new == (0, 3)
    presenter.push(Direction.LEFT)
    assert screen.last.moved == {(0, 1)}


# --- the end ---


def test_the_end_is_announced_with_the_final_score():
    """The end is announced with the final score, and later clicks do nothing."""
    presenter, screen = begin(board=Board.parse("4 2 4 / 2 4 8 / . 8 16"))
    presenter.push(Direction.RIGHT)  # nothing moves: minus one
    presenter.push(Direction.LEFT)
    assert screen.last.status == "Game over, final score 0"
    shown = len(screen.states)
    presenter.push(Direction.UP)
    presenter.click((0, 1))
    assert len(screen.states) == shown


# --- the computer ---


def test_the_random_computer_tries_all_four_directions_and_pays_for_failures():
    """The random computer tries all directions to the end and loses points for failures."""
    _, screen = begin(PlayerKind.RANDOM, size=(3, 3))
    tick_until(screen, lambda: screen.waiting is None)
    statuses = [state.status for state in screen.states[1:-1]]
    directions = {f"{d.name.title()} movement is successful" for d in Direction}
    assert set(statuses) == directions | {"Movement not possible"}
    successes = sum(status in directions for status in statuses) + 1
    assert screen.last.score == successes - statuses.count("Movement not possible")
    assert screen.last.status == f"Game over, final score {screen.last.score}"
    assert screen.waiting is None


def test_the_intelligent_computer_never_fails_a_move():
    """The intelligent computer never attempts an impossible move."""
    presenter, screen = begin(PlayerKind.INTELLIGENT)
    tick_until(screen, lambda: screen.last.score >= 1000)
    assert not any(state.status == "Movement not possible" for state in screen.states)
    presenter.end()


def test_an_error_of_the_planner_is_shown(monkeypatch):
    """An error in the planning thread is shown in the status panel."""

    def fail(*args: object) -> None:
        raise RuntimeError("no compiler")

    monkeypatch.setattr("py2048.players.search.beam.BeamPlanner", fail)
    _, screen = begin(PlayerKind.INTELLIGENT)
    tick_until(screen, lambda: screen.waiting is None)
    assert screen.last.status == "the intelligent computer gave up: no compiler"


def test_a_stopped_computer_ends_its_thread():
    """Stopping the intelligent computer ends its thread."""
    rules = GameSettings().rules
    computer = IntelligentComputer(Game(rules, seed=1).board, rules)
    computer.stop()
    computer.thread.join(timeout=60)
    assert not computer.thread.is_alive()
