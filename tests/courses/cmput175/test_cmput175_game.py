"""`Game` in the terminal, the document's tests, and the command."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.courses.cmput175 import __main__ as program
from py2048.courses.cmput175 import game, tests

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())
KEYS = {"w": Direction.UP, "a": Direction.LEFT, "s": Direction.DOWN, "d": Direction.RIGHT}
HEAD = (
    'Press "w", "a", "s", or "d" to move Up, Left, Down or Right respectively.\n'
    'Enter "p" to quit. \n'
)
PROMPT = " Enter a move: "
END = "No more legal moves.\n"

Player = Callable[[], str]


def play(monkeypatch: pytest.MonkeyPatch, player: Player, *shape: int) -> tuple[Any, list[str]]:
    """Play a game, echoing the keys; return the `Game` and the typed keys."""
    keys: list[str] = []

    def type_in(prompt: str) -> str:
        keys.append(player())
        print(prompt + keys[-1])
        return keys[-1]

    monkeypatch.setattr("builtins.input", type_in)
    return game.Game(*shape), keys


def typing(keys: Sequence[str]) -> Player:
    return iter(keys).__next__


def shown(block: str) -> tuple[Board, int]:
    """Return the board and the score printed in `block`."""
    lines = [line for line in block.splitlines() if line.startswith("\t|")]
    rows = [[int(cell) if cell.strip() else 0 for cell in line[2:-1].split("|")] for line in lines]
    return Board.from_rows(rows), int(block.split(" Score: ")[1].split("\n")[0])


def test_recorded_sessions(monkeypatch, capsys):
    """Seeded sessions of a public solution are repeated, up to white space.

    Both draw their random numbers as the document's code does, so the boards agree. The program of
    the third session adds a tile after its tenth key, which changed nothing; that session is
    compared up to there.
    """
    for session in RECORDED["sessions"]:
        random.seed(session["seed"])
        keys = [*session["inputs"][:9], "p"]
        play(monkeypatch, typing(keys))
        ours = capsys.readouterr().out.split()
        theirs = session["stdout"].split()
        played = ours[: ours.index("p")] if len(session["inputs"]) > 10 else theirs
        assert ours[: len(played)] == theirs[: len(played)]


def test_a_session_to_the_letter(monkeypatch, capsys):
    """An invalid key prints everything again, and ``p`` quits silently."""
    random.seed(2)
    play(monkeypatch, typing(["x", "A", "", "w ", "wa", "p"]))
    screen = (
        HEAD
        + "\t|     |  2  |  2  |     |\n"
        + "\t|     |     |     |     |\n" * 3
        + "\n Score: 0\n"
        + PROMPT
    )
    expected = "".join(screen + key + "\n" for key in ["x", "A", "", "w ", "wa", "p"])
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("shape", [(4, 4, 2), (3, 5, 3), (2, 2, 1), (1, 6, 2), (5, 1, 1)])
def test_whole_game(shape, monkeypatch, capsys):
    """Each grid follows from the last by a slide and one new tile, until no move is left."""
    random.seed(sum(shape))
    player = random.Random(sum(shape))
    finished, keys = play(monkeypatch, lambda: player.choice("wasdx"), *shape)
    *prompts, last = capsys.readouterr().out.split(HEAD)[1:]
    prompt, end = last.split(f"{PROMPT}{keys[-1]}\n")
    assert end.startswith("\n\t|")
    assert end.endswith(END)
    boards = [shown(block) for block in (*prompts, prompt, end)]
    assert len(boards) == len(keys) + 1
    for key, (before, points), (after, score) in zip(keys, boards, boards[1:], strict=False):
        check_turn(key, before, points, after, score)
    assert not boards[-1][0].legal_directions()
    assert finished.game.score == boards[-1][1]


def check_turn(key: str, before: Board, points: int, after: Board, score: int) -> None:
    """Assert that `key` leads from one board and score to the next."""
    slide = before.slide(KEYS[key]) if key in KEYS else None
    if slide is None or not slide.changed:
        assert (after, score) == (before, points)
        return
    new = [cell for cell in slide.board.empty_cells() if after[cell]]
    assert len(new) == 1
    assert after[new[0]] in (2, 4)
    assert slide.board.with_tile(new[0], after[new[0]]) == after
    assert score == points + slide.points


def test_a_stuck_start_ends_at_once(monkeypatch, capsys):
    """A grid without a move prints the end message and asks nothing."""
    _, keys = play(monkeypatch, typing([]), 1, 1, 1)
    assert keys == []
    assert capsys.readouterr().out == "\n\t|  2  |\n\n Score: 0\nNo more legal moves.\n"


def test_end_of_input_quits(monkeypatch, capsys):
    """End of input quits like ``p``."""

    def at_the_end(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", at_the_end)
    game.main()
    out = capsys.readouterr().out
    assert out.startswith(HEAD)
    assert END not in out


def test_the_documents_checks_pass(capsys):
    """The document's five tests pass and print the document's lines."""
    for line in Path(tests.__file__).read_text().splitlines():
        if line.startswith("# test"):  # as students uncomment them
            exec(line.removeprefix("# "), vars(tests))
    assert capsys.readouterr().out == "\n".join([*RECORDED["tests_output"], ""])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x"], "invalid int value: 'x'"),
        (["0"], "a 0x0 grid: give from 1 to 50"),
        (["4", "-3"], ""),
        (["4", "99"], "a 4x99 grid: give from 1 to 50"),
        (["1", "1"], "a 1x1 grid has no move"),
        (["4", "4", "17"], "initial is 17, but a 4x4 grid takes 1 to 16 tiles"),
        (["4", "4", "0"], "initial is 0"),
        (["4", "4", "2", "9"], "9"),
    ],
)
def test_bad_arguments(arguments, words, capsys):
    """Invalid arguments print one line on standard error and exit with status 2."""
    with pytest.raises(SystemExit) as caught:
        program.main(arguments)
    assert caught.value.code == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1
    assert words in error


def test_play_in_a_terminal():
    """In a terminal, every prompt is on a cleared screen with a grid of the given size."""
    child = pexpect.spawn(
        sys.executable,
        ["-m", "py2048.courses.cmput175", "3", "2", "6"],
        encoding="utf-8",
        timeout=30,
        env=os.environ | {"TERM": "xterm"},
    )
    child.delaybeforesend = None
    screen = pyte.Screen(100, 24)
    stream = pyte.Stream(screen)
    moves = 0
    while child.expect([PROMPT, pexpect.EOF]) == 0:
        stream.feed(child.before + child.after)
        assert screen.display[0].startswith("Press")
        assert sum(line.startswith("Enter") for line in screen.display) == 1
        grid = [line.split("|")[1:-1] for line in screen.display if "|" in line]
        assert [len(row) for row in grid] == [2, 2, 2]
        assert moves or all(cell.strip() == "2" for row in grid for cell in row)
        child.sendline("wasd"[moves % 4])
        moves += 1
    stream.feed(child.before or "")
    child.close()
    assert child.exitstatus == 0
    assert any(line.startswith("No more legal moves.") for line in screen.display)
