"""Saved boards, measurements from them, and band trainings that survive interruptions."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import CommandLine
from tests.lab.training.band_trainers import band_trainer, learn

from py2048 import get_rules
from py2048.cli import main
from py2048.core.errors import Py2048Error, RulesError, WeightsError
from py2048.lab.training.ascent import STRETCHES, Ascent, AscentPlan, plan_from
from py2048.lab.training.bands import BandTask
from py2048.lab.training.boards import (
    SavedBoards,
    SuccessRate,
    calibrate,
    collect,
    measure_overestimate,
    play_to_tile,
)
from py2048.lab.training.run import load_checkpoint, save_checkpoint
from py2048.lab.training.trainer import Trainer, TrainingConfig
from py2048.players.ntuple.layout import NetworkLayout, parse_tuples
from py2048.players.ntuple.network import Band, Bands, Network
from py2048.players.ntuple.weights import load, save
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher

CLASSIC = get_rules("classic")
LAYOUT = NetworkLayout(4, 4, parse_tuples("0123 4567", 4, 4))
STAGES = (512, 512), (512, 768), (512, 960)


@cache
def network() -> Network:
    """Return a slightly trained network for boards up to 64."""
    trainer = Trainer(TrainingConfig.from_data({"tuples": "0123 4567", "ranks": 7, "seed": 3}))
    trainer.run(games=3000)
    return trainer.network({"games": 3000, "moves": trainer.moves, "seconds": 1.0})


def stretches(folder: Path) -> list[dict[str, int]]:
    """Read the last stretches logged by an ascent."""
    with (folder / STRETCHES).open(encoding="utf-8", newline="") as file:
        return [{name: int(row[name]) for name in row} for row in csv.DictReader(file)]


def player(of: Network, depth: int = 1) -> partial[Searcher]:
    return partial(Searcher, CLASSIC, of, SearchLimits(depth))


@cache
def saved() -> SavedBoards:
    return collect(player(network()), STAGES, 200, seed=1, continuations=3)


def test_boards_are_saved_where_games_enter_stages(tmp_path: Path) -> None:
    """Boards are saved just after entering a stage, also with two threads."""
    boards = saved()
    for stage in STAGES:
        found = boards.of(stage)
        assert len(found) > 50
        sums = (1 << found.cells.astype(np.int64)).sum(axis=1) - (found.cells == 0).sum(axis=1)
        assert (found.cells.max(axis=1) == 9).all()
        assert (sums >= stage[1]).all()
        assert stage == STAGES[0] or (sums < stage[1] + 4).mean() > 0.8
    assert np.bincount(boards.of(STAGES[2]).games).max() > 1
    again = collect(player(network()), STAGES, 200, seed=1, continuations=3, threads=2)
    boards.save(tmp_path / "boards.npz")
    for other in (again, SavedBoards.load(tmp_path / "boards.npz")):
        assert np.array_equal(other.cells, boards.cells)
        assert np.array_equal(other.games, boards.games)
        assert np.array_equal(other.stages, boards.stages)


def test_games_are_played_on_from_saved_boards() -> None:
    """Continued games keep the number of their origin, so held-out games stay apart."""
    late = saved().last()
    assert (late.stages == STAGES[2]).all()
    found = collect(player(network()), [(1024, 1024)], 40, starts=late, threads=2)
    assert 0 < len(found) < 40
    assert (found.cells.max(axis=1) == 10).all()
    assert set(found.games.tolist()) < set(late.games.tolist())
    none = late.of((2048, 2048))
    assert len(collect(player(network()), [(1024, 1024)], 40, starts=none)) == 0


def test_no_game_is_for_training_and_for_measuring() -> None:
    """Boards are held out by game and spread over as many games as possible."""
    training, held_out = saved().split()
    assert len(training) + len(held_out) == len(saved())
    assert not set(training.games.tolist()) & set(held_out.games.tolist())
    games = len(set(held_out.games.tolist()))
    assert len(set(held_out.spread(games).games.tolist())) == games
    assert len(held_out.spread(7)) == 7


def test_a_band_learns_from_saved_boards() -> None:
    """A trained band makes the next tile more often, with and without search."""
    boards = collect(player(network()), [(1024, 1024), (1024, 1920)], 300, continuations=4)
    training, held_out = boards.of((1024, 1920)).split()
    play = player(network())()
    band = Band(1024, 1920, goal=8000.0)
    level, slope = measure_overestimate(play, play, training, band, band.end, seed=3)
    band = replace(band, level=level, slope=slope)
    trainer = band_trainer(network(), LAYOUT, band, training.words)
    for rate in (0.25, 0.05):
        trainer.reset_coherence()
        learn(trainer, 700_000, rate)
    better = trainer.with_band(1.0)
    for depth in (1, 2):
        before = play_to_tile(player(network(), depth), held_out)
        after = play_to_tile(player(better, depth), held_out)
        assert len(before.successes) == len(after.successes) == len(held_out)
        assert after.last_stretch.share > before.last_stretch.share
        if depth == 1:  # with search, points are chance on so few boards
            assert after.worth(8000.0).mean() > before.worth(8000.0).mean()


def test_boards_are_played_on_until_a_larger_tile() -> None:
    """Outcomes have the points until the tile, also with two threads."""
    boards = saved().of(STAGES[1]).spread(20)
    found, again = (play_to_tile(player(network()), boards, threads=n) for n in (1, 2))
    assert np.array_equal(found.successes, again.successes)
    assert np.array_equal(found.points, again.points)
    assert found.last_stretch == (found.successes.sum(), 20)
    assert 0 < found.successes.sum() < 20
    assert (found.points[found.successes] >= 1024).all()
    assert np.array_equal(found.worth(5000.0) - found.points, 5000.0 * found.successes)


REFERENCE: dict[str, Any] = {"device": "reference", "games_at_once": 8}


@pytest.mark.parametrize("settings", [{}, REFERENCE], ids=["cpu", "reference"])
def test_a_band_training_continues_from_its_checkpoint(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    """A resumed training gives the same weights, bit for bit, as one that never stopped."""
    training, _ = saved().of(STAGES[2]).split()
    task = BandTask(network(), Band(512, 960, 50.0, 1.0, 1000.0), training.words)
    trainer, path = band_trainer(task.network, LAYOUT, *task[1:], **settings), tmp_path / "band.npz"
    learn(trainer, 20_000, 0.25)
    save_checkpoint(trainer, path, {"seen": 1})
    unmeasured = task._replace(band=Band(512, 960))
    again, notes = load_checkpoint(path, None, unmeasured)
    assert notes == {"seen": 1}
    for each in (trainer, again):
        each.reset_coherence()
        learn(each, 20_000, 0.1)
    assert np.array_equal(trainer.weights, again.weights)
    assert (trainer.games, trainer.moves) == (again.games, again.moves)
    with pytest.raises(WeightsError, match="another band"):
        load_checkpoint(path, None, task._replace(band=Band(512, 900)))
    with pytest.raises(WeightsError, match="not a whole network"):
        load_checkpoint(path)


def test_a_band_training_stays_on_its_device(tmp_path: Path) -> None:
    """A checkpoint keeps its kind of device and its number of games at once."""
    training, _ = saved().of(STAGES[2]).split()
    task, path = BandTask(network(), Band(512, 960), training.words), tmp_path / "band.npz"
    save_checkpoint(band_trainer(task.network, LAYOUT, *task[1:], **REFERENCE), path)
    with pytest.raises(WeightsError, match="on the device reference cannot resume on another"):
        load_checkpoint(path, {"device": "cpu"}, task)
    with pytest.raises(WeightsError, match="games_at_once cannot change"):
        load_checkpoint(path, {"games_at_once": 9}, task)


def test_values_are_compared_with_what_came() -> None:
    """Calibration compares expected with realised points at each reached stage."""
    found = calibrate(player(network()), [(4, 0), (64, 96), (1 << 15, 1 << 15)], 50, seed=2)
    rows = found.stages
    assert (found.games, found.seed) == (50, 2)
    assert [(row.tile, row.least) for row in rows] == [(4, 0), (64, 96)]
    assert all(row.excess == pytest.approx(row.predicted - row.realised) for row in rows)
    assert rows[0].games == 50
    assert rows[0].made[64] == rows[1].games >= rows[1].made[128] > 0
    assert rows[0].realised > rows[1].realised > 0
    assert rows[0].error > 0
    assert calibrate(player(network()), [(4, 0)], 50, seed=2).stages == rows[:1]


SMALL = """
weights = "{weights}"
depths = [1, 2]
judged = 20
[[collect]]
tile = 64
games = 60
[[bands]]
tile = 64
min_sum = {least}
goal = 400.0
moves = [3000]
rates = [0.25]
"""


def test_a_band_begins_with_what_is_known_without_it(tmp_path: Path) -> None:
    """The measured overestimate ignores the band to be replaced and earlier bands."""
    plan = plan_from(tomllib.loads(f'tuples = "0123 4567"{SMALL.format(weights="", least=96)}'))
    boards = collect(player(network()), [(64, 64), (64, 96)], 60).last()
    table = np.random.default_rng(1).integers(-100, 100, 2 * LAYOUT.size, np.int16)
    bands = Bands(LAYOUT, (Band(64, 80, goal=400.0), Band(64, 96, goal=400.0)), table, 7.0)
    ascent, (band,) = Ascent(tmp_path, plan, print), plan.bands
    measured = ascent.measured(network(), band, boards)
    assert ascent.measured(replace(network(), bands=bands), band, boards) == measured


def test_a_training_takes_no_folder_of_another(tmp_path: Path, cli: CommandLine) -> None:
    """Trainings of networks and bands refuse each other's folders."""
    save(network(), tmp_path / "base.npz")
    plan = tmp_path / "plan.toml"
    plan.write_text(f'tuples = "0123 4567"{SMALL.format(weights=tmp_path / "base.npz", least=96)}')
    bands, plain = str(tmp_path / "bands"), str(tmp_path / "plain")
    assert main(["train", bands, "--config", str(plan), "--quiet"]) == 0
    assert main(["train", plain, "--rules", "2x2", "--games", "5", "--quiet"]) == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.npz")}
    for words, message in (
        ([bands, "--games", "5"], "bands holds a training run, plan.toml"),
        ([bands, "--config", str(plan)], "bands holds a training run, plan.toml"),
        ([bands, "--resume", "--weights", "shipped"], "--resume keeps the weights"),
        ([plain, "--config", str(plan)], "plain holds a training run, checkpoint.npz"),
        ([plain, "--config", str(plan), "--resume"], "plain holds no training of bands"),
    ):
        assert message in cli.error("train", *words, "--quiet")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.npz")} == before


def test_a_plan_adds_to_bands_as_they_are(tmp_path: Path) -> None:
    """New bands need the tuples, ranks and step of existing ones."""
    bands = Bands(LAYOUT, (Band(64, 96, goal=400.0),), np.zeros(LAYOUT.size, np.int16), 7.0)
    save(replace(network(), bands=bands), tmp_path / "base.npz")
    text = SMALL.format(weights=tmp_path / "base.npz", least=112)
    plan = plan_from(tomllib.loads(text))
    Ascent(tmp_path / "new", plan, print).run()
    history = load(tmp_path / "new" / "weights.npz").history
    assert [entry["band"] for entry in history if "band" in entry] == [[64, 112]]
    for changed, message in (
        (replace(plan, tuples="0123 0145"), "have tuples = '0123 4567'"),
        (replace(plan, ranks=12), "ranks = 16"),
        (replace(plan, step=48.0), "step = 7"),
    ):
        with pytest.raises(WeightsError, match=message):
            Ascent(tmp_path / "other", changed, print).run()
        assert not list((tmp_path / "other").iterdir())


def test_an_ascent_tells_the_last_stretch_by_depth(tmp_path: Path) -> None:
    """Last stretches are logged at the start, at checkpoints and at the end."""
    save(network(), tmp_path / "base.npz")
    text = SMALL.format(weights=tmp_path / "base.npz", least=96)
    (tmp_path / "plan.toml").write_text(f'tuples = "0123 4567"\ncheckpoint_minutes = 0{text}')
    words = ["train", str(tmp_path / "run"), "--config", str(tmp_path / "plan.toml"), "--quiet"]
    assert main([*words, "--plot", str(tmp_path / "curve.png")]) == 2
    assert main(words) == 0
    rows = stretches(tmp_path / "run")
    moves = {depth: [row["moves"] for row in rows if row["depth"] == depth] for depth in (1, 2)}
    assert moves[1] == moves[2]
    assert moves[1][0] == 0 < moves[1][1] <= moves[1][-1]
    assert {(row["tile"], row["least"], row["boards"]) for row in rows} == {(64, 96, 20)}
    assert len({row["made"] for row in rows}) > 1


def test_an_ascent_on_the_reference_goes_on_after_interrupts(tmp_path: Path) -> None:
    """An interrupted ascent gives the bands and figures of an uninterrupted one.

    Every band is in the history, and kept if it plays better.
    """
    noise = np.random.default_rng(2).normal(0, 50, LAYOUT.size).astype(np.float32)
    save(Network(LAYOUT, CLASSIC, noise), tmp_path / "base.npz")
    text = SMALL.format(weights=tmp_path / "base.npz", least=96).replace("[3000]", "[30_000]")
    text = text.replace("judged = 20", "judged = 100").replace("[1, 2]", "[1]")
    text += "[[bands]]" + text.partition("[[bands]]")[2].replace("96", "80").replace("30_", "3_")
    text = f'tuples = "0123 4567"\ncheckpoint_minutes = 0\nmargin = 100\n{text}'
    plan = plan_from(tomllib.loads(text) | REFERENCE)

    def stop(sign: str, line: str) -> None:
        if sign in line:
            raise KeyboardInterrupt

    for sign in ("boards with 64", "rate 0.25"):
        with pytest.raises(KeyboardInterrupt):
            Ascent(tmp_path / "again", plan, partial(stop, sign)).run()
    assert (tmp_path / "again" / "band-64-96.npz").exists()
    found = []
    for name in ("once", "again"):
        Ascent(tmp_path / name, plan, print).run()
        found.append(load(tmp_path / name / "weights.npz"))
    once, again = ([{**entry, "seconds": 0.0} for entry in each.history[-2:]] for each in found)
    assert once == again
    assert [entry["band"] for entry in once] == [[64, 96], [64, 80]]
    assert 30_000 <= once[0]["moves"] < 30_008
    assert once[0]["kept"]
    for entry in once:
        assert entry["kept"] == all(gain > 0 for gain, _ in entry["gain"].values())
    tables = [each.bands.unpacked for each in found if each.bands]
    kept = sorted(entry["band"] for entry in once if entry["kept"])
    assert [[band.tile, band.least] for band in found[0].bands.bands] == kept
    assert np.count_nonzero(tables[0]) > 100
    assert np.array_equal(*tables)


@pytest.mark.parametrize(("made", "boards"), [(0, 1), (4, 4), (1, 9), (250, 500)])
def test_a_share_is_never_certain(made: int, boards: int) -> None:
    """The error of a success rate is positive and close to the usual one."""
    share, other = SuccessRate(made, boards), SuccessRate(boards - made, boards)
    usual = (share.share * (1 - share.share) / boards) ** 0.5
    assert share.error == pytest.approx(other.error)
    assert share.error > 0
    assert abs(share.error - usual) < 1 / (boards + 1)


def test_a_band_without_boards_is_refused(tmp_path: Path) -> None:
    """The error for a band without boards says to collect more games."""
    save(network(), tmp_path / "base.npz")
    band = {"tile": 4096, "min_sum": 6144, "goal": 1000.0}
    games = [{"tile": 2048, "games": 3}, {"tile": 4096, "games": 3, "after": 2048}]
    plan = {"weights": str(tmp_path / "base.npz"), "collect": games, "bands": [band]}
    with pytest.raises(WeightsError, match="band 4096 6144: too few games for 4096"):
        Ascent(tmp_path / "new", plan_from(plan), print).run()


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        *(("", name, -1) for name in ("judged", "threads", "ranks", "step", "margin", "seed")),
        *(("", name, -1) for name in ("games_at_once", "restart_length", "checkpoint_minutes")),
        ("", "device", "gpu"),
        ("", "depths", []),
        ("", "depths", [1, 0]),
        ("", "ranks", 17),
        ("", "lambda", 1.5),
        ("", "margin", float("nan")),
        *(("collect", name, 0) for name in ("tile", "games", "depth", "continuations")),
        ("collect", "tile", 63),
        ("collect", "after", -2),
        *(("bands", name, -1) for name in ("tile", "min_sum", "goal", "target_tile")),
        ("bands", "min_sum", 62),
        ("bands", "goal", float("inf")),
        ("bands", "moves", [0]),
        ("bands", "rates", [-0.1]),
    ],
)
def test_a_plan_with_an_impossible_value_is_refused(part: str, name: str, value: object) -> None:
    """The error for an invalid plan has the setting's name and value."""
    plan = tomllib.loads(SMALL.format(weights="base.npz", least=96))
    changed = plan[part][0] if part else plan
    changed[name] = value
    wrong = value[-1] if isinstance(value, list) and value else value
    with pytest.raises(Py2048Error) as refusal:
        plan_from(plan)
    assert name in str(refusal.value)
    assert str(wrong) in str(refusal.value)


def test_plans_that_cannot_be_followed_are_refused(tmp_path: Path) -> None:
    """Contradictory plans are refused with a reason."""
    band = {"tile": 128, "min_sum": 192, "goal": 1000.0}
    for values, message in (
        ({"bands": [band | {"target_tile": 100}]}, "band 128 192: target_tile = 100 is not a tile"),
        ({"bands": [band]}, "no games are collected"),
        ({"bands": [band | {"rates": [0.1]}]}, "3 moves for 1 rates"),
        ({"bands": [band | {"leest": 3}]}, "leest"),
        ({"collect": [{"tile": 64, "games": 9, "after": 32}]}, "64 cannot begin after 32"),
        ({"bands": [band | {"target_tile": 64}]}, "band 128 192 begins where 64 is made"),
    ):
        with pytest.raises((WeightsError, RulesError), match=message):
            plan_from(values)
    assert isinstance(Ascent(tmp_path / "new", plan_from({}), print).plan, AscentPlan)
