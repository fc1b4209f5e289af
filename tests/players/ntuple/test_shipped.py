"""Tests of the bundled weights: their size, rules and strength."""

from __future__ import annotations

import gc
import json
import tomllib
import weakref
from dataclasses import replace
from pathlib import Path

import pytest
from tests.players.ntuple.networks import called
from tests.processes import python

from py2048 import get_rules
from py2048.core.installation import install_line
from py2048.players.ntuple.layout import NetworkLayout
from py2048.players.ntuple.network import Network
from py2048.players.ntuple.weights import (
    SHIPPED,
    load,
    save_packed,
    shipped_files,
    shipped_folders,
    shipped_network,
    shipped_path,
)

MEASURED = {
    folder: tomllib.loads((folder / "measured.toml").read_text()) for folder in shipped_folders()
}
STRONG = MEASURED.keys() - {SHIPPED}
MEGABYTE = 1_000_000
SMALL_LIMITS = {"classic": 4 * MEGABYTE}
STRONG_LIMITS = {"classic": 51 * MEGABYTE, "5x5": 28 * MEGABYTE, "3x4": 9 * MEGABYTE}


def test_the_tests_run_with_the_strong_networks():
    """Both distributions are installed, and the strong networks take precedence."""
    assert [folder.name for folder in STRONG] == ["py2048_weights"]
    (folder,) = STRONG
    for name, said in MEASURED[SHIPPED].items():
        path = shipped_path(get_rules(name))
        assert path == (folder if "strong" in said else SHIPPED) / f"{name}.npz"
        assert said.get("strong", 0) == MEASURED[folder].get(name, {"mean": 0})["mean"]


@pytest.mark.parametrize("path", shipped_files(), ids=called)
def test_files_are_small_and_for_the_rules_they_are_called_after(path):
    """Files are small, match their names and contain their training history."""
    limits = SMALL_LIMITS if path.parent == SHIPPED else STRONG_LIMITS
    assert path.stat().st_size <= limits.get(path.stem, MEGABYTE)
    network = load(path)
    assert network.compatible_with(get_rules(path.stem))
    assert network.history[-1]["games"] > 0


def test_every_file_is_measured():
    """Every network file has a measured strength, and vice versa."""
    for folder, measured in MEASURED.items():
        assert {path.stem for path in folder.glob("*.npz")} == set(measured)


@pytest.mark.slow
@pytest.mark.parametrize("file", shipped_files(), ids=called)
def test_weights_play_as_well_as_is_said(file, cli):
    """The mean score is within four standard errors of the measured one."""
    said = MEASURED[file.parent][file.stem]
    games, seed = str(min(said["games"], 100)), str(said["seed"])
    found = cli.json("weights", str(file), "--games", games, "--seed", seed, "--json")["strength"]
    error = (found["error"] ** 2 + said["error"] ** 2) ** 0.5
    assert abs(found["mean"] - said["mean"]) <= 4 * error


def test_rules_find_their_network_by_what_they_are():
    """Rules that play like a preset use its network; others have none."""
    custom = replace(get_rules("classic"), name="mine")
    assert shipped_network(custom) is shipped_network(get_rules("classic"))
    assert shipped_network(get_rules("classic", rows=7, columns=4)) is None


def test_a_network_is_freed_with_its_last_user():
    """A shipped network is loaded once, and stays in memory only while it is used."""
    network = shipped_network(get_rules("ist"))
    assert network is shipped_network(get_rules("ist"))
    freed = weakref.ref(network)
    del network
    gc.collect()
    assert freed() is None


# The command, where the entry points of packages with networks are those of the first argument.
COMMAND_WITH = """
import importlib.metadata as metadata, sys
found, given = metadata.entry_points, sys.argv[1]
ours = [metadata.EntryPoint("other", given, "py2048.weights")] if given else []
metadata.entry_points = lambda **of: ours if of.get("group") == "py2048.weights" else found(**of)
from py2048.cli import main
sys.exit(main(sys.argv[2:]))
"""
LINE = install_line("strong")
BOARD = "2 4 8 16 / 4 8 16 32 / . 2 . 2"


def command_with(package: str, *words: str, cwd: Path) -> tuple[str, str]:
    """Return a command's output and its errors."""
    done = python("-c", COMMAND_WITH, package, *words, cwd=cwd, check=True)
    return done.stdout, done.stderr


def test_small_networks_play_where_no_strong_ones_are(tmp_path):
    """Small networks are used silently; the list of players mentions the strong ones."""
    words = "hint", "--json", BOARD, "--player"
    out, said = command_with("", *words, "ntuple", cwd=tmp_path)
    named, _ = command_with("", *words, f"ntuple:weights={SHIPPED / '3x4.npz'}", cwd=tmp_path)
    assert json.loads(out)["values"] == json.loads(named)["values"]
    assert LINE not in said
    out, said = command_with("", "players", cwd=tmp_path)
    assert out.startswith("beam ")
    assert said.count(LINE) == 1
    assert LINE not in command_with("py2048_weights", "players", cwd=tmp_path)[1]


def test_a_package_brings_networks(tmp_path):
    """The small networks are used if a registered package is missing."""
    brought = tmp_path / "mine"
    brought.mkdir()
    (brought / "__init__.py").touch()
    network = Network.zeros(NetworkLayout(3, 4, ((0, 1),)), get_rules("3x4"))
    save_packed(network, brought / "a.npz", step=1)
    words = "hint", "--player", "ntuple", "--json", BOARD
    out, _ = command_with("mine", *words, cwd=tmp_path)
    assert sorted(json.loads(out)["values"].values()) == [0, 4, 4]
    assert command_with("gone", *words, cwd=tmp_path) == command_with("", *words, cwd=tmp_path)
