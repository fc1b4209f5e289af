"""Trainings in folders: checkpoints, resuming, curves and invalid settings."""

from __future__ import annotations

import csv
import math
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import CommandLine
from tests.players.ntuple.networks import edited
from tests.processes import until

from py2048 import get_rules
from py2048.cli import main
from py2048.core.errors import WeightsError
from py2048.lab.training.run import (
    CurvePoint,
    StopCriteria,
    TrainingRun,
    load_checkpoint,
    make_trainer,
    save_checkpoint,
    split_settings,
    stop_criteria,
)
from py2048.lab.training.trainer import Trainer, TrainingConfig
from py2048.players.ntuple.weights import load, shipped_network

PLAN = """
[[collect]]
tile = 64
games = 10

[[bands]]
tile = 64
min_sum = 90
goal = 700
"""
SMALL = TrainingConfig(rules_text="classic:size=2x3", tuples="lines+squares", seed=5)
STAGED = replace(SMALL, stages=(16,), carousel=True, restart_length=10)
REFERENCE = TrainingConfig(
    tuples="lines+squares", device="reference", games_at_once=64, ranks=7, restart_length=30
)


@pytest.mark.parametrize("config", [STAGED, REFERENCE], ids=["cpu", "reference"])
def test_a_checkpoint_goes_on_as_if_nothing_had_happened(
    config: TrainingConfig, tmp_path: Path
) -> None:
    """A resumed training equals an uninterrupted one, bit for bit, on every kind of device."""
    trainer, path = make_trainer(config), tmp_path / "checkpoint.npz"
    trainer.run(games=150)
    save_checkpoint(trainer, path, {"seen": 1})
    again, notes = load_checkpoint(path)
    assert notes == {"seen": 1}
    states = []
    for each in (trainer, again):
        each.run(games=150)
        states.append({name: array.tobytes() for name, array in each.arrays().items()})
    assert states[0] == states[1]
    assert trainer.tally.data() == again.tally.data()


def test_a_training_goes_on_with_another_plan(tmp_path: Path) -> None:
    """Rate, restarts, ranks and threads may change without losing progress."""
    folder, stop = tmp_path / "run", StopCriteria(games=100, evaluate_every=50)
    TrainingRun.begin(folder, SMALL).run(stop)
    wider = TrainingRun.resume(folder, {"threads": 3, "restart_length": 10, "ranks": 6})
    assert [worker.progress[0] for worker in wider.trainer.workers] == [100, 0, 0]
    wider.run(StopCriteria(games=200, evaluate_every=50))
    narrow = TrainingRun.resume(folder, {"threads": 1, "learning_rate": 0.5, "seed": SMALL.seed})
    assert narrow.trainer.games == 200
    assert narrow.trainer.moves == wider.trainer.moves
    assert narrow.trainer.tally.data() == wider.trainer.tally.data()
    assert np.array_equal(narrow.trainer.records, wider.trainer.records)
    assert narrow.network().history[-1]["changes"] == [
        {"games": 100, "before": {"ranks": 16, "restart_length": 0, "threads": 1}},
        {"games": 200, "before": {"learning_rate": 1.0, "threads": 3}},
    ]
    for wrong in ({"tuples": "lines"}, {"temporal_coherence": False}, {"seed": SMALL.seed + 1}):
        with pytest.raises(WeightsError, match=f"{next(iter(wrong))} cannot change"):
            TrainingRun.resume(folder, wrong)
    large = TrainingConfig.from_data({"rules": "classic:size=1x5", "tuples": "lines"})
    with pytest.raises(WeightsError, match="up to 4 cells a side"):
        large.changed({"ranks": 12})


def test_damaged_checkpoints_are_refused(tmp_path: Path) -> None:
    """Truncated and foreign checkpoint files are refused."""
    path = tmp_path / "checkpoint.npz"
    save_checkpoint(Trainer(SMALL), path)
    data = path.read_bytes()
    for length in (0, 500, len(data) // 2, len(data) - 3):
        path.write_bytes(data[:length])
        with pytest.raises(WeightsError, match=r"checkpoint\.npz"):
            load_checkpoint(path)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("plan", {"threads": "two"}, "plan: threads = 'two': expected `int`"),
        ("plan", {"lambda": 10**400}, "plan: lambda = 1000"),
        ("history", [5], "history, changes or notes: "),
        ("notes", {"curve": []}, "notes: 'seconds'"),
        ("curve", [{"games": "many"}], "notes: games = 'many': expected `int`"),
        ("stop", {"minutes": -1}, "notes: minutes = -1: expected `float` >= 0.0"),
        ("before", {}, "notes: 'ranks'"),
        ("before", {"ranks": [1]}, r"notes: .* into shape \(64,\)"),
    ],
)
def test_a_wrong_header_of_a_checkpoint_is_refused(
    name: str, value: object, reason: str, tmp_path: Path
) -> None:
    """The error for a wrong header names file, field and value."""
    path = tmp_path / "checkpoint.npz"
    TrainingRun.begin(tmp_path, SMALL).run(StopCriteria(games=10))

    def edit(header: dict[str, Any]) -> None:
        holder = header if name in header else header["notes"]
        holder[name] = holder[name] | value if name == "plan" else value

    edited(path, edit)
    with pytest.raises(WeightsError, match=f"checkpoint.npz is damaged: {reason}"):
        TrainingRun.resume(tmp_path)


def test_whole_numbers_may_be_written_as_1e6(tmp_path: Path) -> None:
    """Integer settings and limits accept floats such as 1e6."""
    assert (
        TrainingConfig.from_data({"rules": "2x3", "trajectory_length": 1e3}).trajectory_length
        == 1000
    )
    TrainingRun.begin(tmp_path, SMALL).run(StopCriteria(games=1e1))  # type: ignore[arg-type]
    assert TrainingRun.resume(tmp_path).stop == StopCriteria(games=10)


def test_there_is_a_checkpoint_to_resume(tmp_path: Path) -> None:
    """Resuming without a checkpoint says what to leave out."""
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(WeightsError, match=r"no checkpoint\.npz to continue: leave out --r"):
            TrainingRun.resume(folder)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "plan.toml cannot be read: No such file or directory"),
        (b"lambda = ", "plan.toml is not valid TOML in UTF-8: Invalid value"),
        (b"run = 5", "run = 5 must be a table"),
        (b"threads = [[1]]", r"threads = [[1]]: expected `int`"),
    ],
)
def test_settings_that_cannot_be_read_are_refused(
    data: bytes | None, reason: str, tmp_path: Path, cli: CommandLine
) -> None:
    """Unreadable settings are refused with the file's name."""
    path = tmp_path / "plan.toml"
    if data is not None:
        path.write_bytes(data)
    assert reason in cli.error("train", str(tmp_path / "run"), "--config", str(path))
    assert not (tmp_path / "run").exists()


LONG = ["--rules", "classic:size=2x3", "--set", "tuples=lines+squares", "--seed", "5"]
LONG += ["--games", "10000000", "--set", "checkpoint_minutes=0.0"]


def command(folder: Path, *words: str) -> list[str]:
    """Return the command line of a training in its own process."""
    return [sys.executable, "-m", "py2048", "train", str(folder), "--quiet", *words]


def test_a_killed_training_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    """A training killed at any moment ends with the same weights after resuming."""
    often = ["--set", "checkpoint_minutes=0.0", "--set", "evaluate_every=20000"]
    process = subprocess.Popen(command(tmp_path / "killed", *LONG, *often))
    checkpoint = tmp_path / "killed" / "checkpoint.npz"
    until(checkpoint.exists)
    time.sleep(random.uniform(0, 0.3))
    process.send_signal(signal.SIGKILL)
    process.wait()
    trainer, _ = load_checkpoint(checkpoint)
    games = str(trainer.games + 5000)
    resumed = command(tmp_path / "killed", "--resume", *often, "--games", games)
    subprocess.run(resumed, check=True, env=os.environ, stdout=subprocess.DEVNULL)
    alone = Trainer(SMALL)
    alone.run(games=int(games))
    assert np.array_equal(
        load(tmp_path / "killed" / "weights.npz").weights, alone.network().weights
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_training_is_saved(number: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C and SIGTERM save the training and exit with 130."""
    words = command(tmp_path / "run", *LONG)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    until((tmp_path / "run" / "checkpoint.npz").exists)
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output.startswith("stopped and saved")
    assert load(tmp_path / "run" / "weights.npz").history[-1]["games"] > 0


def test_a_second_ctrl_c_does_not_interrupt_the_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second Ctrl-C does not interrupt saving."""
    save, heard = TrainingRun.save, list[int]()

    def interrupted(run: TrainingRun) -> None:
        signal.raise_signal(signal.SIGINT)
        save(run)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(TrainingRun, "save", interrupted)
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, _: heard.append(number)) for number in numbers]
    try:
        TrainingRun.begin(tmp_path / "run", SMALL).run(StopCriteria(games=20))
        assert heard == []
        for number in numbers:
            signal.raise_signal(number)
        assert heard == [*numbers]  # after the save they are heard again
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    assert load(tmp_path / "run" / "weights.npz").history[-1]["games"] == 20


def test_shipped_weights_get_a_later_stage(tmp_path: Path, cli: CommandLine) -> None:
    """A stage added to shipped weights keeps their rules, tuples, ranks and history."""
    words = ["train", str(tmp_path / "a"), "--weights", "shipped", "--games", "300", "--quiet"]
    later = ["--set", "stages=[64]", "--set", "learning_rate=0.1"]
    cli(*words, "--rules", "3x3", *later)
    network, shipped = load(tmp_path / "a" / "weights.npz"), shipped_network(get_rules("3x3"))
    assert network.layout == replace(shipped.layout, stages=(64,))
    assert network.history[:-1] == shipped.history
    first, second = network.weights.reshape(2, -1)
    assert 0 < np.abs(first - shipped.weights).max() < np.abs(shipped.weights).max() / 4
    assert not np.array_equal(second, first)
    words[1] = str(tmp_path / "b")
    for rules, setting, reason in (
        ("3x3", "stages=[64,32]", "must ascend"),
        ("3x3", "tuples=squares", "leave these settings out"),
        ("6x6", "learning_rate=0.1", "no weights come with py2048 for the rules 6x6"),
    ):
        assert reason in cli.error(*words, "--rules", rules, "--set", setting)
        assert not (tmp_path / "b").exists()


def test_a_campaign_keeps_its_curve(tmp_path: Path) -> None:
    """The curve file is the same with and without a resume, and new points are shown."""
    shown = list[CurvePoint]()
    stop = StopCriteria(games=400, evaluate_every=100, evaluate_games=20)
    TrainingRun.begin(tmp_path / "a", SMALL).run(stop)
    TrainingRun.begin(tmp_path / "b", SMALL).run(
        StopCriteria(games=250, evaluate_every=100, evaluate_games=20)
    )
    TrainingRun.resume(tmp_path / "b").run(stop, show=shown.append)
    assert [point.games for point in shown] == [300, 400]
    curves = []
    for name in "ab":
        with (tmp_path / name / "curve.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        curves.append([{k: v for k, v in row.items() if k != "seconds"} for row in rows])
    assert curves[0] == curves[1]
    assert [row["games"] for row in curves[0]] == ["100", "200", "300", "400"]
    with pytest.raises(WeightsError, match="holds a training"):
        TrainingRun.begin(tmp_path / "a", SMALL)
    (tmp_path / "a" / "checkpoint.npz").unlink()
    with pytest.raises(WeightsError, match=r"holds a training run, weights\.npz"):
        TrainingRun.begin(tmp_path / "a", SMALL)


@pytest.mark.parametrize("given", [{}, {"games": 0}, {"moves": 0, "minutes": 0}])
def test_a_training_without_a_limit_takes_ten_minutes(given: dict[str, int]) -> None:
    """Without limits, a training stops after ten minutes."""
    stop = stop_criteria(split_settings({}, given)[1])
    assert (stop.games, stop.moves, stop.minutes) == (0, 0, 10.0)


def test_a_training_goes_on_to_the_limit_that_it_had(tmp_path: Path, cli: CommandLine) -> None:
    """A resumed training keeps its limits unless new ones are given."""
    folder = tmp_path / "run"
    begun = TrainingRun.begin(folder, SMALL)

    def interrupt() -> None:
        if begun.trainer.games >= 150:
            raise KeyboardInterrupt

    stop = StopCriteria(games=300, evaluate_every=50, evaluate_games=7, checkpoint_minutes=9)
    with pytest.raises(KeyboardInterrupt):
        begun.run(stop, interrupt)
    words = ["train", str(folder), "--resume", "--quiet"]
    assert "300 games" in cli(*words)
    run = TrainingRun.resume(folder)
    assert run.stop == stop
    assert [point.games for point in run.curve] == [50, 100, 150, 200, 250, 300]
    assert all(point.evaluated for point in run.curve)
    for again in (words, [*words, "--games", "200"]):
        assert "the limits count from the beginning" in cli.error(*again, status=0)
    assert main([*words, "--set", "moves=20000", "--set", "evaluate_every=1000"]) == 0
    run = TrainingRun.resume(folder)
    assert run.trainer.moves == pytest.approx(20000, abs=9)
    assert run.stop == replace(stop, games=0, moves=20000, evaluate_every=1000)


def test_one_process_trains_in_a_folder(tmp_path: Path, cli: CommandLine) -> None:
    """A second process is refused while one trains, and allowed after it was killed."""
    pytest.importorskip("fcntl")
    folder, plan, ascent = tmp_path / "run", tmp_path / "plan.toml", tmp_path / "ascent"
    TrainingRun.begin(folder, SMALL).run(StopCriteria(games=10))
    ascent.mkdir()
    (ascent / "plan.toml").write_text("kept", encoding="utf-8")
    plan.write_text(PLAN, encoding="utf-8")
    code = "import sys; from pathlib import Path; from py2048.lab.training.run import folder_lock\n"
    code += "with folder_lock(Path(sys.argv[1])): print(); input()"
    for place, more in ((folder, []), (ascent, ["--config", str(plan)])):
        words = ["train", str(place), "--resume", "--quiet", *more]
        holder = subprocess.Popen(
            [sys.executable, "-c", code, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        with holder:
            holder.stdout.readline()
            assert f"another process trains in {place}" in cli.error(*words)
            holder.kill()
    assert (ascent / "plan.toml").read_text(encoding="utf-8") == "kept"
    assert main(["train", str(folder), "--resume", "--quiet"]) == 0


def test_files_are_as_small_as_what_was_learnt(tmp_path: Path) -> None:
    """Untrained weights take almost no space in files."""
    run = TrainingRun.begin(tmp_path / "run", TrainingConfig(rules_text="3x3"))
    run.run(StopCriteria(games=30))
    sizes = [path.stat().st_size for path in run.folder.iterdir()]
    assert max(sizes) < 2_000_000 < 4 * run.trainer.layout.weights
    again = TrainingRun.resume(run.folder)
    assert np.array_equal(again.trainer.records, run.trainer.records)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"lamda": 1}, "did you mean 'lambda'"),
        ({"lambda": "half"}, "lambda = 'half': expected `float`"),
        ({"lambda": 2.0}, "lambda = 2.0: expected `float` <= 1.0"),
        ({"stages": "16"}, "stages = '16': expected `array`"),
        ({"optimistic_init": math.nan}, "optimistic_init = nan: expected `float`"),
        ({"carousel": True}, "a carousel needs stages"),
        ({"tuples": "4x6", "rules": "3x3"}, "for 4x4 boards"),
    ],
)
def test_wrong_plans_are_refused(values: dict[str, object], reason: str) -> None:
    """The error for an invalid setting names the value."""
    with pytest.raises(WeightsError, match=reason):
        TrainingConfig.from_data(values)
