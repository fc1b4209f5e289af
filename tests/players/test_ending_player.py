"""Searches that play by tables of endings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from py2048 import Board, Direction, get_rules
from py2048.ntuple.heuristic import DEFAULT
from py2048.players import make_player
from py2048.players.endings import EndingSearcher
from py2048.rng import key_of
from py2048.search._expectimax_kernels import STATE
from py2048.search.limits import SearchLimits
from py2048.search.searcher import Searcher
from py2048.solving import Formation, build_table
from py2048.solving.endings import Endings

CLASSIC = get_rules("classic")
LARGE = "1024 / 4 . . 4096 / 64 128 256 8192 / 16384 32768 65536 131072"


@pytest.fixture(scope="module")
def endings(tmp_path_factory: pytest.TempPathFactory) -> Endings:
    """A table of a formation with six free cells."""
    picture = ". . . #\n. . . #\n# # # #\n# # # #"
    formation = Formation.of("wide", {"picture": picture, "slack": 10})
    return Endings([build_table(formation, 16, tmp_path_factory.mktemp("tables") / "wide.table")])


def test_the_table_decides_where_it_knows_the_board(endings: Endings) -> None:
    """In values and in play; elsewhere, and where all is nearly lost, the search does."""
    limits = SearchLimits(1)
    plain = Searcher(CLASSIC, DEFAULT, limits)
    ours = EndingSearcher(CLASSIC, DEFAULT, limits, endings=endings)
    differ = 0
    for first in ("2 . .", "8 2 .", ". 2 8", "4 8 2", "8 4 2", "8 4 8", "2 4 8"):
        board = Board.parse(f"{first} {LARGE}")
        found, cells = ours.rate(board), ours.cells_of(board)
        chosen = max(found, key=found.__getitem__)
        if (ending := endings.find(board)) is None:
            assert found == plain.rate(board)
            continue
        assert chosen is ending.best
        assert list(ours.play_on(cells, np.zeros(STATE, np.int64), key_of(1), 5)) == [chosen.value]
        usual = plain.rate(board)
        differ += chosen is not max(usual, key=usual.__getitem__)
    assert differ > 0
    board = Board.parse("2 . . . / 4 . . . / 2 . . . / . . . .")
    assert ours.rate(board) == plain.rate(board)
    cells = [player.cells_of(board) for player in (plain, ours)]
    for player, own in zip((plain, ours), cells, strict=True):
        moves = player.play_on(own, np.zeros(STATE, np.int64), key_of(1), 5)
        assert [Direction(int(move)) for move in moves]
    assert (cells[0] == cells[1]).all()


def test_the_player_says_that_it_uses_tables(tmp_path: Path) -> None:
    """Its name makes it again; on boards that no table has it plays like the one without."""
    player = make_player("expectimax:depth=1,endings=on")
    assert player.name == "expectimax:depth=1,endings=on"
    searcher = make_player(player.name).searcher(CLASSIC)  # type: ignore[attr-defined]
    assert isinstance(searcher, EndingSearcher)


def test_tables_are_imported_only_by_those_who_play_by_them() -> None:
    """They and the solver take as long to import as much of a search."""
    code = "import sys, py2048.players.searching; print('py2048.solving' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
