"""The commands of the compiled engine: making it ready, and checking it."""

from __future__ import annotations

import json
import os
import re
import sys

import pexpect
import pytest

from py2048 import Game, get_rules, make_player
from py2048.cli import main
from py2048.cli.engine import warmup_tasks
from py2048.compiled import jit
from py2048.compiled.jit.progress import ready_only
from py2048.compiled.perft import GOLDEN
from py2048.compiled.rollouts import random_games
from py2048.training.trainer import Trainer, TrainingConfig


@pytest.mark.timeout(900)  # the first on a machine compiles everything
@pytest.mark.parametrize("only", ["3x3", pytest.param("", marks=pytest.mark.slow, id="all")])
def test_warm_up_prints_a_line_for_each_form(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, only: str
) -> None:
    """Without a terminal there is a plain line for each, and the folder at the end.

    Afterwards a search and a training find all their kernels.
    """
    wanted = [use for use in warmup_tasks() if only in use[0]]
    monkeypatch.setattr("py2048.cli.engine.warmup_tasks", lambda: wanted)
    assert main(["warm-up"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    forms = len(wanted) + sum(len(item.warm_forms) for item in jit.kernels().values())
    assert [line.split()[0] for line in lines] == [f"{n}/{forms}" for n in range(1, forms + 1)]
    assert any("compiled._batch_kernels.advance" in line for line in lines)
    assert any("expectimax under 3x3" in line for line in lines)
    assert last.startswith(f"{forms} compiled forms ready after ")
    folder = jit.cache_directory()
    assert folder is not None
    assert str(folder) in last
    rules = only or "classic"
    with ready_only():  # which other tests that compile something meanwhile do not disturb
        make_player("expectimax").rate(Game(get_rules(rules), seed=1))
        Trainer(TrainingConfig(rules)).prepare()


@pytest.mark.timeout(600)
def test_warm_up_can_be_quiet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --quiet nothing is printed."""
    monkeypatch.setattr("py2048.cli.engine.warmup_tasks", list)
    assert main(["warm-up", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.timeout(600)
def test_warm_up_has_a_bar_in_a_terminal() -> None:
    """In a terminal a bar tells how far it is, and is gone at the end."""
    code = "import sys; from py2048.cli import engine; engine.warmup_tasks = list; "
    child = pexpect.spawn(
        sys.executable,
        ["-c", code + "from py2048.cli import main; sys.exit(main(['warm-up']))"],
        env=os.environ | {"TERM": "xterm-256color"},
        encoding="utf-8",
        timeout=550,
    )
    child.expect(re.compile(r"\d+/\d+"))
    child.expect("━")
    child.expect("compiled forms ready after")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_perft_compares_with_the_published_count(capsys: pytest.CaptureFixture[str]) -> None:
    """The command counts and says whether the count is the published one."""
    assert main(["perft", "3x3", "8"]) == 0
    assert capsys.readouterr().out.startswith("3x3 to 8: 1,186 boards (as published)")
    assert main(["perft", "2x3", "16"]) == 0
    assert "no published count" in capsys.readouterr().out


def test_perft_alone_reproduces_every_published_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without arguments, one after another; a wrong count is an error."""
    monkeypatch.setattr("py2048.compiled.perft.GOLDEN", {(2, 8): 16, (2, 16): GOLDEN[2, 16]})
    assert main(["perft"]) == 1
    wrong, right = capsys.readouterr().out.splitlines()
    assert "15 boards (WRONG: published is 16)" in wrong
    assert "35 boards (as published)" in right


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["3x3"], "give a target too"),
        (["3x3", "100"], "target 100 is not a tile"),
        (["3x3", "131072"], "up to 65536"),
        (["5x5", "16"], "not 5x5"),
        (["three", "16"], "'three'"),
        (["0x3", "16"], "not 0x3"),
    ],
)
def test_perft_refuses(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be counted is refused in one line."""
    assert main(["perft", *words]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_rollouts_tell_the_mean_and_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Means and errors are those of the games of the seed."""
    words = ["rollouts", "--rules", "3x3", "--games", "500", "--seed", "4"]
    assert main([*words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    played = random_games(get_rules("3x3"), 500, seed=4)
    assert data["score"] == played.scores.mean()
    assert data["moves_error"] == pytest.approx(played.plies.std(ddof=1) / 500**0.5)
    assert data["best"] == played.scores.max()
    assert main(words) == 0
    assert f"score  {played.scores.mean():,.2f} ± " in capsys.readouterr().out
