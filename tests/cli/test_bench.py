"""The benchmarks measure what they say, and say it as table, JSON and picture."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from py2048.cli import main
from py2048.cli.bench import (
    Contestant,
    Effort,
    Measurement,
    data_of,
    draw,
    race,
    stretch,
    text_of,
)
from py2048.compiled.batch import behaviour_signature
from py2048.compiled.rules import CompiledRules
from py2048.rules import get_rules

ROOT = Path(__file__).resolve().parent.parent.parent
EFFORT = Effort(rounds=3, seconds=0.001, threads=1)


def test_contestants_take_turns_and_the_first_does_not_count() -> None:
    """Each plays once a round, in order; the warm-up is left out."""
    played: list[str] = []

    def contestant(name: str) -> float:
        played.append(name)
        return float(len(played))

    runners = {name: lambda name=name: contestant(name) for name in "ab"}  # type: ignore[misc]
    table = race("title", runners, EFFORT, unit="x/s", base="a")
    assert "".join(played) == "abababab"
    assert [row.values for row in table.rows] == [(3, 5, 7), (4, 6, 8)]
    assert [row.median for row in table.rows] == [5, 6]


@pytest.mark.parametrize(("is_less_better", "best", "ratio"), [(False, 8, 2), (True, 4, 0.5)])
def test_ratio_compares_the_best(is_less_better: bool, best: float, ratio: float) -> None:
    """The best is the largest speed or the shortest time; a ratio above 1 is better."""
    rows = Contestant("own", (4, 8)), Contestant("base", (2, 4))
    table = Measurement("title", "x", rows, "base", is_less_better)
    assert table.best(rows[0]) == best
    assert table.ratio(rows[0]) == ratio
    assert Measurement("title", "x", rows).ratio(rows[0]) is None


def test_a_stretch_is_what_was_done_in_its_time() -> None:
    """It lasts at least as long as asked for, and counts what was done."""
    done: list[int] = []
    speed = stretch(lambda: done.append(1) or 100, 0.01)()  # type: ignore[func-returns-value]
    assert 0 < speed <= 100 * len(done) / 0.01


def test_table_as_text_and_data() -> None:
    """Both have every contestant, median, best and ratio."""
    table = Measurement(
        "play", "moves/s", (Contestant("ours", (3e6, 2e6, 9e6)), Contestant("C", (1.5, 1, 2))), "C"
    )
    lines = text_of(table).splitlines()
    assert lines[0].split() == ["play", "moves/s", "best", "ratio"]
    assert lines[1].split() == ["ours", "3,000,000", "9,000,000", "4,500,000.00"]
    assert lines[2].split() == ["C", "1.5", "2", "1.00"]
    assert data_of(table)["rows"][1]["values"] == [1.5, 1, 2]


def test_picture_is_drawn(tmp_path: Path) -> None:
    """One file with all tables."""
    path = tmp_path / "bench.png"
    draw([Measurement("play", "moves/s", (Contestant("ours", (1.0,)),))], path)
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def baselines(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module with the programs in C."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import baselines

    return baselines


def test_single_boards_play_whole_random_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """The games that the single-board benchmark plays have the scores of random play."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from single_kernels import play_random

    rules = get_rules("classic")
    compiled = CompiledRules.of(rules)
    arrays = compiled.across, *compiled.spawn[:2]
    points, games = play_random(np.uint64(1), 1_000_000, *arrays)
    assert points / games == pytest.approx(1095, abs=30)
    assert 1_000_000 / games == pytest.approx(118.4, abs=2)


def test_c_baseline_plays_the_same_game(tmp_path: Path, baselines: ModuleType) -> None:
    """The C program does as much as we do: its games score as random play scores."""
    program = baselines.build("baseline.c", tmp_path)
    if program is None:
        pytest.skip("no C compiler")
    run = subprocess.run([program, "2000", "1000", "1000", "1"], capture_output=True, check=True)
    _, games, points = map(float, run.stdout.split())
    assert points / games == pytest.approx(1095, abs=25)
    assert 2_000_000 / games == pytest.approx(118.4, abs=2)


def test_c_environments_do_the_same(tmp_path: Path, baselines: ModuleType) -> None:
    """The C environments mask, score and end as ours do: random legal play scores the same."""
    library = baselines.build("environment_core.c", tmp_path, "-shared", "-fPIC")
    if library is None:
        pytest.skip("no C compiler")
    envs, chance = baselines.Environments(library, 500, 1), np.random.default_rng(1)
    envs.step(np.zeros(500, np.int64))
    total, ends = 0.0, 0
    for _ in range(1200):
        legal = envs.masks.view(np.uint8).reshape(-1, 4)
        envs.step((chance.random((500, 4)) * legal).argmax(axis=1))
        total, ends = total + envs.rewards.sum(), ends + int(envs.ends.sum())
    assert total / ends == pytest.approx(1095 * 1.04, rel=0.05)  # games in progress count too


def test_command_measures_and_prints_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """``py2048 bench --json`` gives machine, signature and speeds; --plot a picture."""
    path, quick = tmp_path / "speeds.svg", ["--rounds", "1", "--seconds", "0.001", "-j", "1"]
    assert main(["bench", "--json", "--plot", str(path), *quick]) == 0
    data = json.loads(capsys.readouterr().out)
    assert str(behaviour_signature()) in data["machine"]["signature"]
    rows = {row["name"]: row["best"] for row in data["tables"][0]["rows"]}
    assert rows["batch, 1 core"] > 0 < rows["rollouts, 1 core"]
    assert path.read_text(encoding="utf-8").startswith("<?xml")
    assert main(["bench", "memory"]) == 2
    assert "make bench" in capsys.readouterr().err


def repository_command(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Run ``make bench`` with arguments."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setattr(sys, "argv", ["run_benchmarks.py", *words])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(ROOT / "scripts" / "run_benchmarks.py"), run_name="__main__")
    if caught.value.code:
        raise ValueError(caught.value.code)


def test_the_repository_measures_more(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """``make bench`` lists its subjects, refuses others, and measures memory, for example."""
    repository_command(monkeypatch, "--list")
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert {"engine", "environments", "startup", "compilation", "memory", "search"} <= listed
    with pytest.raises(ValueError, match="2"):
        repository_command(monkeypatch, "enjine")
    assert "there is no benchmark 'enjine'" in capsys.readouterr().err
    repository_command(monkeypatch, "memory", "--json")
    data = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row["best"] for row in data["tables"][0]["rows"]}
    assert 40 < rows["batch of 65,536"] < 200


def test_without_gymnasium_the_rest_is_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone, the command leaves out what cannot be measured here, and says so."""
    measured: list[str] = []

    def noted(_: Effort, subjects: dict[str, Any], **_rest: object) -> None:
        measured.extend(subjects)

    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr("py2048.cli.bench.report", noted)
    repository_command(monkeypatch)
    assert measured == ["engine", "startup", "memory"]
    assert "pip install 'py2048[rl]'" in capsys.readouterr().err
