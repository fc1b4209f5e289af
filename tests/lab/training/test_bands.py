"""Bands: selection, files, lazy unpacking, and search."""

from __future__ import annotations

import threading
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from tests.command_line import CommandLine
from tests.engine.boards import boards
from tests.players.ntuple.networks import NETWORKS

from py2048 import Board, Direction, get_rules
from py2048.core.errors import WeightsError
from py2048.core.rng import derive_seed
from py2048.engine.boards import exponents_of, tiles_of
from py2048.players.ntuple.layout import NetworkLayout, parse_tuples
from py2048.players.ntuple.network import UNPACKING, Band, Bands, LazyTable, Network
from py2048.players.ntuple.weights import load, save, save_packed
from py2048.players.search.expectimax import Expectimax
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher, play_games

BASE = NetworkLayout(4, 4, parse_tuples("0123 4567 0145 1259", 4, 4), ranks=7)
LAYOUT = NetworkLayout(4, 4, parse_tuples("0123 4567 01 456", 4, 4), ranks=9)
LATE = (
    Band(64, 90, 900.0, 2.5, 700.0),
    Band(64, 110, -300.0, -1.0, 900.0),
    Band(128, 140, 5.0, 0.0, 300.0, makes=32),
)

LATE_BOARD = "64 16 8 2/4 2 . ./2 . . ./. . . ."
"""A board of the first band."""


def banded(bands: tuple[Band, ...] = LATE) -> Network:
    """Return a network with random weights and bands."""
    generator = np.random.default_rng(4)
    table = generator.integers(-100, 300, BASE.weights, np.int16)
    added = generator.integers(-100, 300, len(bands) * LAYOUT.size, np.int16)
    kept = Bands(LAYOUT, bands, added, 2.0)
    return Network(BASE, get_rules("classic"), table, step=0.5, bands=kept)


NETWORK = banded()


def test_a_band_is_chosen_by_the_largest_tile_and_the_sum() -> None:
    """A board's band has its largest tile, the highest reached sum, and an unmade target."""
    for tiles, expected in (
        ((32, 32, 16, 16), None),
        ((64, 16, 8), None),
        ((64, 16, 8, 2), LATE[0]),
        ((64, 32, 8, 4, 2), LATE[1]),
        ((64, 64, 64), LATE[1]),
        ((128, 8), None),
        ((128, 16, 8), LATE[2]),
        ((128, 16, 16), LATE[2]),
        ((128, 32), None),
        ((128, 64), LATE[2]),
        ((256, 128), None),
    ):
        cells = np.pad(tiles, (0, 16 - len(tiles)))
        assert NETWORK.band_of(Board.from_rows(cells.reshape(4, 4))) == expected


@given(boards([(4, 4)], top=8))
def test_a_search_is_of_one_band(board: Board) -> None:
    """A search values all leaves by the root's band, and the target tile by its goal."""
    band = NETWORK.band_of(board)
    value = SEARCHERS[1].values(exponents_of(board.rows))
    assert value == pytest.approx(NETWORK.value(board, band), rel=1e-4, abs=0.1)
    for depth in (1, 2):
        plain = BandedExpectimax(band, depth)
        found, expected = SEARCHERS[depth].rate(board), plain.rate(board)
        assert list(found) == list(expected)
        assert list(found.values()) == pytest.approx(list(expected.values()), rel=1e-4, abs=0.1)


class BandedExpectimax(Expectimax):
    """A plain search with one band, ending where its target tile is made."""

    def __init__(self, band: Band | None, depth: int) -> None:
        goal = band.goal if band else 0.0
        super().__init__(NETWORK.rules, lambda leaf: NETWORK.value(leaf, band), depth, goal)
        self._ending = band.ending if band else None

    def _is_won(self, board: Board) -> bool:
        return any(self._ending in row for row in board.rows)


SEARCHERS = {depth: Searcher(NETWORK.rules, NETWORK, SearchLimits(depth)) for depth in (1, 2)}


def test_a_game_goes_through_the_bands() -> None:
    """A kernel's game consists of the moves of single searches."""
    searcher = SEARCHERS[2]
    cells = searcher.cells_of(Board.parse(LATE_BOARD))
    state = np.zeros(3, np.int64)
    seen = set()
    for _ in range(200):
        board = Board.from_rows(tiles_of(cells.reshape(4, 4)))
        seen.add(NETWORK.band_of(board))
        rated = searcher.rate(board)
        moves = searcher.play_on(cells, state, 5, 1)
        if state[2]:
            assert not rated or not board.legal_directions()
            break
        assert Direction(int(moves[0])) is max(rated, key=rated.__getitem__)
    assert len(seen) > 1


@pytest.mark.parametrize("packed", [False, True])
def test_bands_are_saved_and_loaded_again(packed: bool, tmp_path: Path) -> None:
    """Bands are saved and loaded bit for bit, with exact and packed weights."""
    path = tmp_path / "network.npz"
    if packed:
        save_packed(NETWORK, path, step=0.5)
    else:
        save(NETWORK, path)
    again = load(path)
    assert np.array_equal(again.weights, NETWORK.weights)
    assert np.array_equal(again.bands.unpacked, NETWORK.bands.table)
    assert replace(again.bands, table=NETWORK.bands.table) == NETWORK.bands
    save(NETWORKS["classic"], path)
    assert load(path).bands is None


def lazily_loaded(folder: Path, depth: int) -> tuple[Searcher, LazyTable]:
    """Load the network from a file; return a searcher and its bands' table."""
    save_packed(NETWORK, folder / "network.npz", step=0.5)
    loaded = load(folder / "network.npz")
    assert loaded.bands.lazy is not None
    return Searcher(loaded.rules, loaded, SearchLimits(depth)), loaded.bands.lazy


def test_a_band_is_unpacked_while_games_need_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bands are unpacked only while needed, and games stay the same."""
    monkeypatch.setattr("py2048.players.ntuple.network.PREFETCH_SUM", 0)
    searcher, lazy = lazily_loaded(tmp_path, depth=1)
    searcher.rate(Board.parse("32 16 8 4/2 . . ./. . . ./. . . ."))
    assert not lazy.loaded
    assert not lazy.table.any()
    late = Board.parse(LATE_BOARD)
    assert searcher.rate(late) == SEARCHERS[1].rate(late)
    assert sorted(lazy.loaded) == [0]
    found, expected = (play_games(each, [1, 2, 3]) for each in (searcher, SEARCHERS[1]))
    assert np.array_equal(found.scores, expected.scores)
    assert expected.tiles.max() >= 128
    assert sorted(lazy.loaded) == [0, 1, 2]
    with lazy.holding([0]):
        monkeypatch.setattr("py2048.players.ntuple.network.IDLE_S", -1.0)
        late = Board.parse("128 64 8 2/4 2 . ./2 . . ./. . . .")
        assert searcher.rate(late) == SEARCHERS[1].rate(late)
    assert sorted(lazy.loaded) == [0, 2]  # one that is held, and the one of this board
    assert not lazy.table.reshape(3, -1)[1].any()
    games = play_games(searcher, [1, 2, 3])
    assert np.array_equal(games.scores, expected.scores)
    assert np.array_equal(lazy.hold_all(), NETWORK.bands.table if NETWORK.bands else [])


def test_a_band_is_unpacked_before_a_game_comes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A band is unpacked in the background before a game reaches it."""
    monkeypatch.setattr("py2048.players.ntuple.network.PREFETCH_SUM", 4)
    searcher, lazy = lazily_loaded(tmp_path, depth=2)
    for text, expected in (
        ("64 16 4 ./. . . ./. . . ./. . . .", set()),  # six less than the first
        ("128 4 2 ./2 . . ./2 . . ./. . . .", {2}),  # two less than the last
        ("64 16 4 2/. . . ./. . . ./. . . .", {0, 2}),  # four less than the first
        ("128 . . ./. . . ./. . . ./. . . .", {0, 2}),  # no board for any
    ):
        board = Board.parse(text)
        assert searcher.rate(board) == SEARCHERS[2].rate(board)
        for thread in [each for each in threading.enumerate() if each.name == UNPACKING]:
            thread.join()
        assert set(lazy.loaded) == expected
    late = Board.parse(LATE_BOARD)
    assert searcher.rate(late) == SEARCHERS[2].rate(late)


def test_a_damaged_band_is_noticed(tmp_path: Path, cli: CommandLine) -> None:
    """Damaged bands are reported by the command, and by a search that needs them."""
    path = tmp_path / "network.npz"
    save_packed(NETWORK, path, step=0.5)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("band0/low.npy")
    data[info.header_offset + 200 + info.compress_size // 2] ^= 255
    path.write_bytes(data)
    assert "damaged" in cli.error("weights", str(path))
    loaded = load(path)
    path.unlink()
    searcher = Searcher(loaded.rules, loaded, SearchLimits(1))
    assert loaded.bands is not None
    assert searcher.rate(Board.parse("16 8 4 2/2 . . ./. . . ./. . . ."))
    for _ in range(2):
        with pytest.raises(WeightsError, match=r"network\.npz is damaged"):
            searcher.rate(Board.parse(LATE_BOARD))


def test_a_band_is_added_or_replaced() -> None:
    """Adding or replacing a band leaves the others unchanged."""
    old = NETWORK.bands.table.reshape(3, -1)
    for band, before in ((Band(64, 100), [0, None, 1, 2]), (Band(64, 110, 7.0), [0, None, 2])):
        ones = np.ones(LAYOUT.size, np.int16)
        bands = NETWORK.bands.with_band(band, ones)
        assert bands.bands.index(band) == 1
        for row, at in zip(bands.table.reshape(len(before), -1), before, strict=True):
            assert np.array_equal(row, ones if at is None else old[at])


def test_bands_beyond_one_are_those_without_it_and_what_is_before_it() -> None:
    """`beyond` drops a band and earlier ones of its tile."""
    old = NETWORK.bands.table.reshape(3, -1)
    for band, left in (
        (Band(64, 80), [0, 1, 2]),
        (Band(64, 90, 7.0), [1, 2]),
        (Band(64, 200), [2]),
        (Band(128, 140), [0, 1]),
    ):
        bands = NETWORK.bands.beyond(band)
        assert bands.bands == tuple(LATE[at] for at in left)
        assert np.array_equal(bands.table.reshape(len(left), -1), old[left])
    assert Bands(LAYOUT, LATE[:1], old[0], 2.0).beyond(LATE[0]) is None


def test_bands_that_cannot_be_are_refused() -> None:
    """Bands are refused on other boards, with a target end, or in the wrong order."""
    assert NETWORK.bands is not None
    with pytest.raises(WeightsError, match="4x4"):
        replace(NETWORKS["classic:size=3x3"], bands=NETWORK.bands)
    with pytest.raises(WeightsError, match="continue after the target"):
        replace(NETWORK, rules=replace(NETWORK.rules, target=2048, ends_at_target=True))
    with pytest.raises(WeightsError, match="ascend"):
        replace(NETWORK.bands, bands=LATE[::-1])


def test_a_file_with_bands_is_described(tmp_path: Path, cli: CommandLine) -> None:
    """`py2048 weights` describes bands and measures strength with them."""
    path = tmp_path / "network.npz"
    facts = {"games": 3, "moves": 50, "seconds": 1.0}
    history = tuple({"band": [64, least], "kept": least > 70, **facts} for least in (90, 70))
    save_packed(replace(NETWORK, history=history), path, step=0.5)
    data = cli.json("weights", str(path), "--games", "5", "--calibrate", "--seed", "3", "--json")
    played = play_games(SEARCHERS[1], [derive_seed(3, number) for number in range(5)])
    assert data["strength"]["mean"] == played.scores.mean()
    assert data["bands"]["bands"][0] == asdict(LATE[0])
    lines = cli("weights", str(path), "--calibrate").splitlines()
    assert "band     from 64 and a sum of 90" in lines
    assert "trained  band 64, 90: 3 games, 50 moves, 1.0 s" in lines
    assert "trained  band 64, 70: 3 games, 50 moves, 1.0 s; not kept, as it was no better" in lines
    assert any(line.startswith("at       256, sum 256: expects ") for line in lines)
