"""The weights that come with py2048: their sizes, their rules, and how well they play."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from py2048 import Board, Game, get_rules, make_player
from py2048.cli import main
from py2048.ntuple.weights import SHIPPED, load, shipped_files, shipped_network
from py2048.search.expectimax import Expectimax
from py2048.search.limits import SearchLimits
from py2048.search.searcher import Searcher

MEASURED = tomllib.loads((SHIPPED / "measured.toml").read_text())
MEGABYTE = 1_000_000
LIMITS = {"classic": 51 * MEGABYTE, "5x5": 28 * MEGABYTE, "3x4": 9 * MEGABYTE}


@pytest.mark.parametrize("path", shipped_files(), ids=lambda path: path.stem)
def test_files_are_small_and_for_the_rules_they_are_called_after(path: Path) -> None:
    """At most 51 MB for classic, 28 for 5x5, 9 for 3x4, 1 for others; each says how it was made."""
    assert path.stat().st_size <= LIMITS.get(path.stem, MEGABYTE)
    network = load(path)
    assert network.compatible_with(get_rules(path.stem))
    assert network.history[-1]["games"] > 0


def test_every_file_is_measured() -> None:
    """No file without its strength, no strength without its file."""
    assert {path.stem for path in shipped_files()} == set(MEASURED)


@pytest.mark.parametrize("share", [10, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", sorted(MEASURED))
def test_weights_play_as_well_as_is_said(
    name: str, share: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The mean over fixed seeds is within four standard errors of the one that was measured.

    On the same machine that of all games is the same; elsewhere sums may round differently, and
    games with them.
    """
    said, file = MEASURED[name], SHIPPED / f"{name}.npz"
    games, seed = str(said["games"] // share), str(said["seed"])
    assert main(["weights", str(file), "--games", games, "--seed", seed, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["strength"]
    error = (found["error"] ** 2 + said["error"] ** 2) ** 0.5
    assert abs(found["mean"] - said["mean"]) <= 4 * error


def test_rules_find_their_network_by_what_they_are() -> None:
    """A custom rule set that plays like a preset has the preset's network; others have none."""
    custom = replace(get_rules("classic"), name="mine")
    assert shipped_network(custom) is shipped_network(get_rules("classic"))
    assert shipped_network(get_rules("classic", rows=7, columns=4)) is None


LATE = {
    "classic": "2 4 64 256 / 8 2 32 . / . 4 16 16384 / . 2 8192 32768",
    "5x5": "2 4 64 256 2 / 8 2 32 . 4 / . 4 16 512 8 / . 2 1024 4096 2 / 4 2 8 16384 131072",
}


@pytest.mark.parametrize("name", LATE)
def test_a_search_reads_their_steps(name: str) -> None:
    """Whole steps of points, as they are kept in memory, give the values of the network."""
    rules = get_rules(name)
    network = shipped_network(rules)
    assert network is not None
    assert network.table.dtype == np.int16
    board = Board.parse(LATE[name])
    for depth in (1, 2):
        plain = Expectimax(rules, network.value, depth).rate(board)
        searcher = Searcher(rules, network, SearchLimits(depth))
        held = searcher.workers[0].weights
        assert (held[0] if network.bands else held) is network.table
        found = searcher.rate(board)
        assert found == {move: pytest.approx(value) for move, value in plain.items()}


def test_players_use_them_without_being_told() -> None:
    """A fresh installation plays with its network."""
    game = Game(get_rules("classic"), seed=1)
    rated = make_player("ntuple").rate(game)
    network = shipped_network(game.rules)
    assert network is not None
    assert rated == Expectimax(game.rules, network.value, 1).rate(game.board)
