"""Tests of network records: storage next to the weights, and validity on unseen games."""

from __future__ import annotations

import shutil
from functools import partial

import pytest
from tests.players.ntuple.networks import NETWORKS, called

from py2048.core.board import Board
from py2048.core.errors import WeightsError
from py2048.lab.training.boards import calibrate
from py2048.players.ntuple.network import MIN_GAMES, START, Network, StageRecord, TrackRecord
from py2048.players.ntuple.weights import (
    SHIPPED,
    load,
    load_records,
    records_path,
    save,
    save_records,
    shipped_files,
)
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher

MADE = dict.fromkeys((4, 8, 16, 32), 500) | {64: 499, 128: 400, 256: 2}
NETWORK = NETWORKS["classic:size=3x3"]

RECORDS = TrackRecord(
    games=500,
    seed=3,
    stages=(
        StageRecord(START, 0, 500, 2100.0, 2000.0, 20.5, MADE),
        StageRecord(32, 32, 500, 2000.0, 1800.0, 20.0, {64: 499, 128: 400, 256: 2}),
        StageRecord(32, 48, 400, 2000.0, 1600.0, 20.0, {64: 300, 128: 10}),
        StageRecord(64, 64, MIN_GAMES, 900.0, 1000.0, 30.0, {}),
        StageRecord(64, 96, MIN_GAMES - 1, 900.0, 100.0, 30.0, {128: 5}),
    ),
)


def record_of(text: str) -> StageRecord | None:
    return RECORDS.of(Board.parse(text))


def test_a_board_has_the_record_of_its_stage():
    """A board has the record of the last stage it has reached that has enough games."""
    start, first, second, large, _ = RECORDS.stages
    assert record_of("2 . / 16 8") == start
    assert record_of("32 8 / . .") == first
    assert record_of("32 16 / . .") == second
    assert record_of("64 32 / 16 .") == large
    assert record_of("128 . / . .") is None
    assert TrackRecord(0, 0, ()).of(Board.parse("2 .")) is None


@pytest.mark.parametrize(
    ("text", "excess"),
    [("2 4", 100), ("32 .", 200), ("32 8", 300), ("32 16", 400), ("32 16 8", 400), ("64 32", -100)],
)
def test_the_excess_changes_steadily_between_stages(text, excess):
    """The overestimate is interpolated between stages and constant beyond the last one."""
    assert RECORDS.excess(Board.parse(text)) == pytest.approx(excess)


@pytest.mark.parametrize(
    ("text", "scale"),
    [("2 4", 20 / 21), ("32 .", 0.9), ("32 8", 0.85), ("32 16 8", 0.8), ("64 32", 10 / 9),
     ("128 .", 1)],
)  # fmt: skip
def test_the_scale_is_what_came_for_each_point_expected(text, scale):
    """The scale is interpolated between stages, and 1 without records."""
    assert RECORDS.scale(Board.parse(text)) == pytest.approx(scale)


def test_the_next_tile_is_the_first_in_doubt():
    """Tiles reached in 99 % of the games are skipped, unless no larger one was ever made."""
    assert [each.next_tile for each in RECORDS.stages] == [128, 128, 64, 128, 128]
    certain = StageRecord(512, 512, 200, 0.0, 0.0, 0.0, {1024: 200, 2048: 199})
    assert certain.next_tile == 2048


def test_values_far_off_are_not_calibrated():
    """Values that are off by more than half of the actual points are not corrected."""
    assert [each.is_calibrated for each in RECORDS.stages] == [True, True, True, True, False]


def test_records_are_kept_beside_the_weights_that_they_are_of(tmp_path):
    """Loading a network loads its records, but not those of replaced weights."""
    path = tmp_path / "net.npz"
    save(NETWORK, path)
    assert load(path).records is None
    assert save_records(RECORDS, path) == tmp_path / "net.records.json" == records_path(path)
    assert load(path).records == RECORDS
    save(Network.zeros(NETWORK.layout, NETWORK.rules), path)
    assert load(path).records is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"format": "py2048-weights"}',
        '{"format": "py2048-records", "version": 2}',
        '{"format": "py2048-records", "version": 1, "games": 1, "seed": 1, "stages": []}',
        '{"format": "py2048-records", "version": 1, "games": 1, "seed": 1, "stages": [{}]}',
    ],
)
def test_damaged_records_are_refused(text, tmp_path):
    """The error is one line that names the file and the fix."""
    path = tmp_path / "net.npz"
    save(NETWORK, path)
    records_path(path).write_text(text, encoding="utf-8")
    with pytest.raises(WeightsError, match=r"net\.records\.json is damaged .*: delete it, or"):
        load(path)


def test_a_command_measures_and_keeps_them(tmp_path, cli):
    """`weights FILE --calibrate` writes records, and `weights FILE` shows them."""
    path = tmp_path / "net.npz"
    shutil.copy(SHIPPED / "2x4.npz", path)
    said = cli("weights", str(path), "--calibrate", "--games", "20", "--seed", "5").splitlines()
    assert any(line.startswith("at       the start: expects ") for line in said)
    records = load_records(path)
    assert (records.games, records.seed, records.stages[0].games) == (20, 5, 20)
    data = cli.json("weights", str(path), "--json")
    assert data["records"]["stages"][0]["realised"] == records.stages[0].realised
    assert cli("weights", str(path)).splitlines()[-1] == "records  of 20 games, seed 5"


@pytest.mark.parametrize("path", shipped_files(), ids=called)
def test_every_shipped_file_has_records(path):
    """Every bundled network has records of its current weights.

    After a change, measure them with py2048 weights FILE --calibrate.
    """
    records = load_records(path)
    start, last = records.stages[0], records.stages[-1]
    assert (start.tile, start.games) == (START, records.games)
    assert records.games >= 4 * MIN_GAMES
    assert last.tile > 16 * START
    assert records_path(path).stat().st_size < 16_000


QUICK = {"2x4": 300, "cmput175": 100}
COMPARED = [
    pytest.param(path, QUICK.get(path.stem, 200), id=called(path), marks=marks)
    for path in shipped_files()
    for marks in [() if path.stem in QUICK else pytest.mark.slow]
    if path.stem != "5x5"
]


@pytest.mark.parametrize(("path", "games"), COMPARED)
def test_corrected_values_are_the_points_that_come(path, games):
    """Corrected values match the points of unseen games within four standard errors.

    The chance of the next tile matches as well.
    """
    network = load(path)
    records = network.records
    player = partial(Searcher, network.rules, network, SearchLimits(1))
    stages = [(each.tile, each.least) for each in records.stages if each.games >= MIN_GAMES]
    seen = calibrate(player, stages, games, seed=records.seed + 1)
    known = {(each.tile, each.least): each for each in records.stages}
    compared = 0
    for new in (each for each in seen.stages if each.games >= games // 4):
        old = known[new.tile, new.least]
        assert abs(new.excess - old.excess) <= 4 * (new.error**2 + old.error**2) ** 0.5
        share = old.made.get(old.next_tile, 0) / old.games
        made = new.made.get(old.next_tile, 0) / new.games
        spread = (share * (1 - share) * (1 / old.games + 1 / new.games)) ** 0.5
        assert abs(made - share) <= 4 * spread + 1 / new.games
        compared += 1
    assert compared > 10
