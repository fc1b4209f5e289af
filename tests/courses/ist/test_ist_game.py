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
