"""The benchmarks measure correctly, and warm-up compiles everything."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from py2048 import Game, make_player
from py2048.cli import main
from py2048.core.rules import get_rules
from py2048.engine import jit
from py2048.engine.batch import behaviour_signature
from py2048.engine.jit.progress import ready_only
from py2048.lab.commands.bench import processor, warmup_tasks
from py2048.lab.training.trainer import Trainer, TrainingConfig

ROOT = Path(__file__).resolve().parents[3]
BENCHMARKS = str(ROOT / "benchmarks")


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the benchmarks' modules importable."""
    monkeypatch.syspath_prepend(BENCHMARKS)


def test_contestants_take_turns_and_the_first_does_not_count():
    """Contestants take turns in order, and the first round is a warm-up."""
    from measuring import Effort, data_of, race, text_of

    played: list[str] = []

    def contestant(name: str) -> float:
        played.append(name)
        return float(len(played))

    runners = {name: lambda name=name: contestant(name) for name in "ab"}  # type: ignore[misc]
    table = race("title", runners, Effort(3, 0.001, 1), unit="x/s", base="a")
    assert "".join(played) == "abababab"
    assert [row.values for row in table.rows] == [(3, 5, 7), (4, 6, 8)]
    assert [line.split() for line in text_of(table).splitlines()] == [
        ["title", "x/s", "best", "ratio"],
        ["a", "5", "7", "1.00"],
        ["b", "6", "8", "1.14"],
    ]
    assert data_of(table)["rows"][1]["median"] == 6


def test_c_baseline_plays_the_same_game(tmp_path):
    """The C baseline has the mean score of random play."""
    import baselines

    program = baselines.build("baseline.c", tmp_path)
    if program is None:
        pytest.skip("no C compiler")
    run = subprocess.run([program, "2000", "1000", "1000", "1"], capture_output=True, check=True)
    _, games, points = map(float, run.stdout.split())
    assert points / games == pytest.approx(1095, abs=25)
    assert 2_000_000 / games == pytest.approx(118.4, abs=2)


def test_c_environments_do_the_same(tmp_path):
    """The C environments mask, score and end games like ours."""
    import baselines

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


def test_a_measurement_says_whether_kernels_were_compiled(monkeypatch):
    """Without a compiler, figures are those of plain Python, so every benchmark says it."""
    monkeypatch.setattr(jit, "IS_PLAIN", False)
    compiled = processor()
    monkeypatch.setattr(jit, "IS_PLAIN", True)
    assert processor() == f"{compiled}, kernels not compiled"


def test_command_measures_and_prints_json(cli):
    """``py2048 bench`` prints machine, signature and speeds as a table or JSON."""
    quick = ["bench", "--rounds", "1", "--seconds", "0.001", "-j", "1"]
    data = cli.json(*quick, "--json")
    assert str(behaviour_signature()) in data["machine"]["signature"]
    assert [row["name"] for row in data["rows"]] == ["batch, 1 core"]
    assert data["rows"][0]["best"] > 0
    assert "batch, 1 core" in cli(*quick)


def repository_command(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Run ``make bench`` with arguments."""
    monkeypatch.setattr(sys, "argv", ["run_benchmarks.py", *words])
    runpy.run_path(str(ROOT / "scripts" / "run_benchmarks.py"), run_name="__main__")


def test_the_repository_measures_more(capsys, monkeypatch):
    """``make bench`` rejects unknown subjects and measures memory."""
    with pytest.raises(SystemExit, match="2"):
        repository_command(monkeypatch, "enjine")
    assert "there is no benchmark 'enjine'" in capsys.readouterr().err
    repository_command(monkeypatch, "memory", "--json")
    data = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row["best"] for row in data["tables"][0]["rows"]}
    assert 40 < rows["batch of 65,536"] < 200


@pytest.mark.timeout(900)  # the first on a machine compiles everything
@pytest.mark.parametrize("only", ["3x3", pytest.param("", marks=pytest.mark.slow, id="all")])
def test_warm_up_compiles_what_a_search_and_a_training_need(capsys, cli, monkeypatch, only):
    """After warm-up, a search and a training need no compilation."""
    wanted = [use for use in warmup_tasks() if only in use[0]]
    monkeypatch.setattr("py2048.lab.commands.bench.warmup_tasks", lambda: wanted)
    assert main(["warm-up"]) == 0
    forms = len(wanted) + sum(len(item.warm_forms) for item in jit.kernels().values())
    said = capsys.readouterr().out
    assert said.startswith(f"{forms} compiled forms ready after ")
    assert said.endswith(f", in {jit.disk_cache.cache_directory()}\n")
    rules = only or "classic"
    with ready_only():  # which other tests that compile something meanwhile do not disturb
        make_player("expectimax").rate(Game(get_rules(rules), seed=1))
        Trainer(TrainingConfig(rules)).prepare()
    monkeypatch.setattr("py2048.lab.commands.bench.warmup_tasks", list)
    assert cli("warm-up", "--quiet") == ""
