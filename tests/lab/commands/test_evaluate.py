"""``py2048 evaluate``, run as a user runs it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pexpect
import pytest
from tests.processes import until

from py2048 import Record
from py2048.cli import main

COMMAND = [sys.executable, "-m", "py2048", "evaluate"]


def test_everything_that_is_asked_for_is_written(tmp_path, cli):
    """JSON, CSV, a plot and verified records are written on request."""
    files = {name: tmp_path / f"out.{name}" for name in ("csv", "png")}
    words = ["evaluate", "random", "greedy", "--rules", "2x4", "--games", "6", "--jobs", "2"]
    outputs = ["--json", "--csv", str(files["csv"]), "--plot", str(files["png"])]
    values = cli.json(*words, *outputs, "--records", str(tmp_path / "records"))
    assert files["csv"].read_text().count("\n") == 13
    assert files["png"].stat().st_size > 10_000
    for number, player in enumerate(values["players"], 1):
        for game in player["played"]:
            name = f"{number}-{player['player']}/{game['game']:06}.2048.json"
            record = Record.load(tmp_path / "records" / name)
            record.verify()
            assert (record.score, record.seed) == (game["score"], game["seed"])


def test_a_run_goes_on_where_it_stopped(tmp_path):
    """A continued run plays only games that the log or the records lack."""
    assert main(["evaluate", "gredy", "--log", str(tmp_path / "none")]) == 2
    assert not list(tmp_path.iterdir())
    log, records = tmp_path / "games.log", str(tmp_path / "records")
    words = ["evaluate", "greedy", "--rules", "2x4", "-j", "1", "--log", str(log)]
    lines = 1
    for extra, new in (
        (["-n", "10"], 10),
        (["-n", "15"], 5),
        (["-n", "15"], 0),
        (["corner", "-n", "5"], 5),
        (["-n", "3", "--records", records], 3),
        (["-n", "4", "--records", records], 1),
    ):
        assert main([*words, *extra]) == 0
        lines += new
        assert log.read_text().count("\n") == lines


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_reports_what_is_finished(jobs, tmp_path):
    """Ctrl-C exits with 130, and log, table and report have the same games."""
    log, table = tmp_path / "games.log", tmp_path / "out.csv"
    words = ["greedy", "--games", "100000", "--jobs", jobs, "--log", str(log), "--csv", str(table)]
    process = subprocess.Popen(
        [*COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until(lambda: log.exists() and log.read_text().count("\n") > 5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process of the run
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    stopped = re.search(r"stopped after ([\d,]+) of 100,000 games", out)
    assert stopped
    assert "Traceback" not in err
    games = int(stopped[1].replace(",", ""))
    assert log.read_text().count("\n") == table.read_text().count("\n") == games + 1


def test_a_terminal_shows_the_means_so_far():
    """A status line shows the means so far and disappears before the tables."""
    terminal = pexpect.spawn(
        COMMAND[0],
        [*COMMAND[1:], "greedy", "corner", "-n", "100", "-j", "1"],
        dimensions=(30, 120),
        encoding="utf-8",
        timeout=60,
    )
    terminal.expect(r"\d+ of 200: greedy mean [\d,]+; corner mean [\d,]+")
    terminal.expect(re.escape("\r\x1b[K"))
    terminal.expect("the same games")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
