"""The benchmarks measure what they say, and say it as table, JSON and picture."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from py2048.bench import SUBJECTS, baselines
from py2048.bench._single_kernels import play_random
from py2048.bench.harness import Effort, Row, Table, race, stretch
from py2048.bench.report import data_of, draw, text_of
from py2048.cli import main
from py2048.cli.bench import USUAL
from py2048.compiled.batch import behaviour_signature
from py2048.compiled.rules import CompiledRules
from py2048.rules import get_rules

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
    rows = Row("own", (4, 8)), Row("base", (2, 4))
    table = Table("title", "x", rows, "base", is_less_better)
    assert table.best(rows[0]) == best
    assert table.ratio(rows[0]) == ratio
    assert Table("title", "x", rows).ratio(rows[0]) is None


def test_a_stretch_is_what_was_done_in_its_time() -> None:
    """It lasts at least as long as asked for, and counts what was done."""
    done: list[int] = []
    speed = stretch(lambda: done.append(1) or 100, 0.01)()  # type: ignore[func-returns-value]
    assert 0 < speed <= 100 * len(done) / 0.01


def test_table_as_text_and_data() -> None:
    """Both have every contestant, median, best and ratio."""
    table = Table("play", "moves/s", (Row("ours", (3e6, 2e6, 9e6)), Row("C", (1.5, 1, 2))), "C")
    lines = text_of(table).splitlines()
    assert lines[0].split() == ["play", "moves/s", "best", "ratio"]
    assert lines[1].split() == ["ours", "3,000,000", "9,000,000", "4,500,000.00"]
    assert lines[2].split() == ["C", "1.5", "2", "1.00"]
    assert data_of(table)["rows"][1]["values"] == [1.5, 1, 2]


def test_picture_is_drawn(tmp_path: Path) -> None:
    """One file with all tables."""
    path = tmp_path / "bench.png"
    draw([Table("play", "moves/s", (Row("ours", (1.0,)),))], path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_single_boards_play_whole_random_games() -> None:
    """The games that the single-board benchmark plays have the scores of random play."""
    rules = get_rules("classic")
    compiled = CompiledRules.of(rules)
    arrays = compiled.across, *compiled.spawn[:2]
    points, games = play_random(np.uint64(1), 1_000_000, *arrays)
    assert points / games == pytest.approx(1095, abs=30)
    assert 1_000_000 / games == pytest.approx(118.4, abs=2)


def test_c_baseline_plays_the_same_game(tmp_path: Path) -> None:
    """The C program does as much as we do: its games score as random play scores."""
    program = baselines.build("baseline.c", tmp_path)
    if program is None:
        pytest.skip("no C compiler")
    run = subprocess.run([program, "2000", "1000", "1000", "1"], capture_output=True, check=True)
    _, games, points = map(float, run.stdout.split())
    assert points / games == pytest.approx(1095, abs=25)
    assert 2_000_000 / games == pytest.approx(118.4, abs=2)


def test_c_environments_do_the_same(tmp_path: Path) -> None:
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
    """``py2048 bench memory --json`` gives machine, signature and tables; --plot a picture."""
    path = tmp_path / "memory.svg"
    assert main(["bench", "memory", "--json", "--plot", str(path)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert str(behaviour_signature()) in data["machine"]["signature"]
    rows = {row["name"]: row["best"] for row in data["tables"][0]["rows"]}
    assert 40 < rows["batch of 65,536"] < 200
    assert path.read_text(encoding="utf-8").startswith("<?xml")


def test_command_lists_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    """--list has every subject; an unknown one is refused with what is near."""
    assert set(USUAL) <= set(SUBJECTS)
    assert main(["bench", "--list"]) == 0
    assert set(SUBJECTS) < {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert main(["bench", "enjine"]) == 2
    assert "did you mean 'engine'" in capsys.readouterr().err


def test_without_gymnasium_the_rest_is_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone, the command leaves out what cannot be measured here, and says so."""
    measured: list[str] = []
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr("py2048.bench.run", lambda name, _: measured.append(name) or [])
    assert main(["bench"]) == 0
    assert measured == [name for name in USUAL if name != "environments"]
    assert "pip install 'py2048[rl]'" in capsys.readouterr().err


def test_command_says_what_needs_the_repository(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the package is installed without the repository, its benchmarks are told apart."""
    monkeypatch.setattr("py2048.cli.bench._scripts", dict)
    assert main(["bench", "training"]) == 2
    assert "run from a checkout only" in capsys.readouterr().err
