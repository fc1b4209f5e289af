"""Practising endings against a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from py2048 import Board, Direction
from py2048.core.errors import IllegalMoveError
from py2048.players.solving import EndingTable, Formation, build_table
from py2048.review.endings import EndingPractice

PICTURE = ". . # # / . . # # / # # # # / # # # #"
SQUARE = Formation.of("square", {"picture": "\n".join(PICTURE.split(" / ")), "slack": 10})


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the table of a small formation in a data folder."""
    folder = tmp_path_factory.mktemp("home") / "tables"
    folder.mkdir()
    return build_table(SQUARE, 16, folder / "square-16.table").path


@pytest.fixture
def table(file: Path) -> EndingTable:
    return EndingTable.load(file)


def best_of(table: EndingTable, board: Board) -> Direction:
    chances = table.move_chances(board)
    return max(chances, key=chances.__getitem__)


def test_an_ending_is_dealt_where_much_can_be_won(table):
    """A seed always deals the same ending, in which the target is neither made nor lost."""
    for seed in range(5):
        ending = EndingPractice.deal(table, seed)
        assert 0 < ending.start < 1
        assert not ending.is_over
        assert ending.start == ending.chance == table.chance_of(ending.game.board)
        again = EndingPractice.deal(table, seed)
        assert again.game.board == ending.game.board


@pytest.mark.parametrize(
    ("seed", "small", "chance"),
    [(0, "2 2 2 4", 0.212), (2, "2 . 8 2", 0.91), (8, "4 4 2 2", 0.505), (9, "2 2 2 8", 0.19)],
)
def test_a_seed_deals_the_same_ending_everywhere(table, seed, small, chance):
    """The ending of a seed never changes: the first in the range or, if none is, the closest."""
    ending, (a, b, c, d) = EndingPractice.deal(table, seed), small.split()
    large = "512 1024 2048 4096 / 8192 16384 32768 65536"
    assert ending.game.board == Board.parse(f"{a} {b} 32 64 / {c} {d} 128 256 / {large}")
    assert ending.start == pytest.approx(chance, abs=0.001)


def test_best_play_keeps_all_chances(table):
    """Best play loses no chance, and makes the target as often as the initial chance says."""
    made, expected = 0, 0.0
    for seed in range(15):
        ending = EndingPractice.deal(table, seed)
        expected += ending.start
        while not ending.is_over:
            move = ending.play(best_of(table, ending.game.board))
            assert move.values == table.move_chances(move.board)
            assert move.source == "square-16"
        assert ending.kept == 1
        assert ending.is_made == (ending.chance == 1)
        made += ending.is_made
    assert made == pytest.approx(expected, abs=7)  # four standard deviations


def test_a_move_that_breaks_the_formation_loses_all(table):
    """A move that breaks the formation loses everything; an illegal move changes nothing."""
    ending = next(
        ending
        for ending in (EndingPractice.deal(table, seed) for seed in range(100))
        if 0 in table.move_chances(ending.game.board).values()
        and len(ending.game.legal_directions()) < 4
    )
    board = ending.game.board
    chances = table.move_chances(board)
    illegal = next(each for each in Direction if each not in chances)
    with pytest.raises(IllegalMoveError):
        ending.play(illegal)
    assert ending.game.board == board
    move = ending.play(min(chances, key=chances.__getitem__))
    assert move.share == 1
    assert (ending.kept, ending.is_over, ending.is_made) == (0, True, False)


def test_the_command_shows_the_chances_after_the_move(file, capsys, cli, monkeypatch):
    """The command plays to the end, then prints the result and the initial chance."""
    monkeypatch.setenv("PY2048_HOME", str(file.parent.parent))
    words = ["practice", "--table", "square-16", "--seed", "5", "--json"]

    class Answers:
        """Answers each question by the table, as a program would."""

        def readline(self, _: int) -> str:
            asked = json.loads(capsys.readouterr().out.splitlines()[-1])
            assert "values" not in asked
            answers.append(str(best_of(EndingTable.load(file), Board.from_rows(asked["board"]))))
            return f"{answers[-1]}\n"

        def isatty(self) -> bool:
            return False

    answers: list[str] = []
    monkeypatch.setattr("sys.stdin", Answers())
    answer, end = map(json.loads, cli(*words).splitlines())
    assert (answer["grade"], answer["source"], answer["unit"]) == ("best", "square-16", "chance")
    assert end["kept"] == 1
    assert end["made"] == (answer["chance"] == 1)
    assert "there is no table none: build it" in cli.error("practice", "--table", "none")
