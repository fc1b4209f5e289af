"""The game: prompts, transcripts, odds, and the abstraction barriers."""

from __future__ import annotations

import ast
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pexpect
import pytest

from py2048.board import Board
from py2048.courses.ist import __main__ as program
from py2048.courses.ist import adt
from py2048.direction import Direction
from py2048.rules import RandomSpawn, get_rules

PROMPT = "Pick a move (N, S, E, W): "
LETTERS = dict(zip("NSWE", Direction, strict=True))

Answer = Callable[[], str]


def answers(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    """Let `answer` type at every prompt, with the terminal's echo."""

    def type_in(prompt: str) -> str:
        typed = answer()
        print(prompt + typed)
        return typed

    monkeypatch.setattr("builtins.input", type_in)


def shown_boards(text: str) -> list[tuple[Board, int]]:
    """Return every board and score in `text`."""
    lines = text.splitlines()
    starts = [n - 4 for n, line in enumerate(lines) if line.startswith("Score: ")]
    return [
        (
            Board.from_rows(
                [map(int, line.strip("[ ]").split(" ] [ ")) for line in lines[n : n + 4]]
            ),
            int(lines[n + 4].removeprefix("Score: ")),
        )
        for n in starts
    ]


def test_request_move_asks_until_it_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The session printed in the document: 1, a and n are refused, N is returned."""
    typed = iter(["1", "a", "n", "", "NS", "N ", "N"])
    answers(monkeypatch, lambda: next(typed))
    assert adt.request_move() == "N"
    refused = ["1", "a", "n", "", "NS", "N "]
    expected = "".join(f"{PROMPT}{key}\nInvalid move.\n" for key in refused) + f"{PROMPT}N\n"
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("seed", range(3))
def test_whole_game(
    seed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each board follows from the last: a slide and one new tile, or nothing at all."""
    random.seed(seed)
    player, typed = random.Random(seed), []

    def choose() -> str:
        typed.append(player.choice("NSWE"))
        return typed[-1]

    answers(monkeypatch, choose)
    adt.game_2048()
    shown = shown_boards(capsys.readouterr().out)
    assert len(shown) == len(typed) + 1
    start, score = shown[0]
    assert (16 - len(start.empty_cells()), score) == (2, 0)
    for letter, (before, points), (after, total) in zip(typed, shown, shown[1:], strict=False):
        check_turn(before.slide(LETTERS[letter]), after)
        assert total == points + before.slide(LETTERS[letter]).points
    assert not shown[-1][0].legal_directions()


def check_turn(slide: Any, after: Board) -> None:
    """Assert that `after` is the slide with one new tile, or the same board if nothing moved."""
    new = [cell for cell in slide.board.empty_cells() if after[cell]]
    if slide.changed:
        assert len(new) == 1
        assert after[new[0]] in (2, 4)
        assert slide.board.with_tile(new[0], after[new[0]]) == after
    else:
        assert after == slide.before


def test_a_move_that_changes_nothing_shows_the_board_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A letter that moves nothing spawns nothing; the answer to it is the same board."""
    random.seed(0)
    typed = iter(["N", "N", "N", "N", "N", "N"])

    def answer() -> str:
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    answers(monkeypatch, answer)
    monkeypatch.setattr(adt, "fill_random_position", fill_the_first_column)
    with pytest.raises(EOFError):
        adt.game_2048()
    text = capsys.readouterr().out
    blocks = text.split(PROMPT + "N\n")
    assert blocks[2] == blocks[3] == blocks[4]
    assert "Invalid" not in text


def fill_the_first_column(board: Any) -> Any:
    """Spawn a rising sequence down the first column, so that N soon changes nothing."""
    first = next(c for c in adt.board_empty_positions(board) if adt.coordinate_col(c) == 1)
    return adt.board_fill_position(board, first, 2 ** adt.coordinate_row(first))


def test_play_goes_on_after_2048(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reaching 2048 ends nothing: the end is the first stuck board."""
    boards = iter([[[1024, 1024, 0, 0]] + [[0] * 4] * 3])
    monkeypatch.setattr(adt, "create_board", lambda: build(next(boards)))
    random.seed(1)
    player = random.Random(1)
    answers(monkeypatch, lambda: player.choice("NSWE"))
    adt.game_2048()
    shown = shown_boards(capsys.readouterr().out)
    first = next(n for n, (board, _) in enumerate(shown) if board.max_tile >= 2048)
    assert len(shown) > first + 10


def build(rows: list[list[int]]) -> Any:
    board = adt._Board(((0,) * 4,) * 4, 0)
    for row in range(4):
        for column in range(4):
            adt.board_fill_position(
                board, adt.create_coordinate(row + 1, column + 1), rows[row][column]
            )
    return board


def test_spawn_odds() -> None:
    """A 4 appears with the probability that the preset's rules say, on any empty position."""
    random.seed(20140310)
    spawn = get_rules("ist").spawn
    assert isinstance(spawn, RandomSpawn)
    tiles: Counter[int] = Counter()
    cells: Counter[tuple[int, int]] = Counter()
    games = 8000
    for _ in range(games):
        board = adt.fill_random_position(adt.create_board())
        for row in range(1, 5):
            for column in range(1, 5):
                value = adt.board_position(board, adt.create_coordinate(row, column))
                if value:
                    tiles[value] += 1
                    cells[row, column] += 1
    assert set(tiles) == {2, 4}
    assert tiles[4] / games == pytest.approx(float(spawn.weights.probability(4)), abs=0.02)
    assert len(cells) == 16
    assert max(cells.values()) < 2 * min(cells.values())


class Opaque:
    """A coordinate that has neither equality nor order nor hash nor items."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, row: int, column: int) -> None:
        self.spot = {"row": row, "column": column}

    def __eq__(self, other: object) -> bool:
        raise AssertionError("a coordinate was compared past the barrier")


@pytest.fixture
def opaque_coordinates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the coordinate type by `Opaque`."""
    types = {
        "create_coordinate": Opaque,
        "coordinate_row": lambda c: c.spot["row"],
        "coordinate_col": lambda c: c.spot["column"],
        "is_coordinate": lambda thing: isinstance(thing, Opaque),
        "coordinates_equal": lambda c1, c2: c1.spot == c2.spot,
    }
    for name, function in types.items():
        monkeypatch.setattr(adt, name, function)


@pytest.mark.usefixtures("opaque_coordinates")
def test_board_and_game_use_coordinates_through_their_operations(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With another coordinate type the board and the game work unchanged."""
    test_whole_game(2, monkeypatch, capsys)
    with pytest.raises(ValueError, match="board_position: invalid arguments"):
        adt.board_position(adt.create_board(), (1, 1))


@pytest.fixture
def other_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the board type by immutable pairs ``(Board, score)``."""

    def fill(b: Any, c: Any, v: int) -> Any:
        return (b[0].with_tile((c[0] - 1, c[1] - 1), v), b[1])

    def reduce(b: Any, d: str) -> Any:
        slid = b[0].slide(LETTERS[d])
        return (slid.board, b[1] + slid.points)

    types: dict[str, Any] = {
        "create_board": lambda: (Board.empty(4, 4), 0),
        "board_position": lambda b, c: b[0][c[0] - 1, c[1] - 1],
        "board_score": lambda b: b[1],
        "board_empty_positions": lambda b: [(r + 1, c + 1) for r, c in b[0].empty_cells()],
        "board_fill_position": fill,
        "board_update_score": lambda b, v: (b[0], b[1] + v),
        "board_reduce": reduce,
        "is_board": lambda thing: isinstance(thing, tuple),
        "board_finished": lambda b: not b[0].empty_cells() and not b[0].legal_directions(),
        "boards_equal": lambda b1, b2: b1 == b2,
    }
    for name, function in types.items():
        monkeypatch.setattr(adt, name, function)


@pytest.mark.usefixtures("other_boards")
def test_game_uses_boards_through_their_operations(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With another board type, even an immutable one, the game works unchanged."""
    test_whole_game(2, monkeypatch, capsys)


def test_source_file() -> None:
    """One ASCII file whose first line is a comment and whose head tells the representation."""
    source = Path(adt.__file__).read_bytes()
    assert source.isascii()
    assert source.startswith(b"# ")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    assert "Internal representation" in docstring
    assert "coordinate:" in docstring
    assert "board:" in docstring


def test_play_in_a_terminal() -> None:
    """``python -m`` plays a whole game in a real terminal and ends with status 0."""
    child = pexpect.spawn(
        sys.executable, ["-m", "py2048.courses.ist"], encoding="utf-8", timeout=30
    )
    child.delaybeforesend = None
    moves = 0
    while child.expect([r"Pick a move \(N, S, E, W\): ", pexpect.EOF]) == 0:
        child.sendline("NWSE"[moves % 4])
        moves += 1
    final = shown_boards((child.before or "").replace("\r", ""))[-1][0]
    child.close()
    assert child.exitstatus == 0
    assert not final.legal_directions()
    assert moves > 20


@pytest.mark.parametrize(("error", "status"), [(EOFError, 0), (KeyboardInterrupt, 130)])
def test_input_ends(
    error: type[BaseException],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """End of input ends the program; Ctrl-C does too, with the shell's status for it."""

    def stop(prompt: str) -> str:
        raise error

    monkeypatch.setattr("builtins.input", stop)
    assert program.main([]) == status
    assert capsys.readouterr().out.endswith("\n")


def test_arguments_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The program takes no arguments: one line on standard error and status 2."""
    with pytest.raises(SystemExit) as caught:
        program.main(["5"])
    assert caught.value.code == 2
    assert capsys.readouterr().err == "python -m py2048.courses.ist: unrecognized arguments: 5\n"
