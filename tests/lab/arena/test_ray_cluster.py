"""Tournaments and solving on a local Ray cluster of two nodes."""

from __future__ import annotations

import importlib.util
import re
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.lab.arena.plugin import fragile
from tests.lab.arena.test_tournament import games_of

from py2048 import get_rules
from py2048.cli import main
from py2048.core.errors import PlayerError, Py2048Error, TournamentError
from py2048.lab.arena import Results, Tournament, compare_players, run_tournament
from py2048.lab.arena.ray_cluster import RayCluster, run_there
from py2048.players.solving import Solution, sharded, solve

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore"),  # Ray's own, many and none of ours
]
needs_ray = pytest.mark.skipif(
    not importlib.util.find_spec("ray"), reason="no Ray: pip install 'py2048[cluster]'"
)

SMALL = get_rules("2x4")


@pytest.mark.slow
@needs_ray
def test_a_cluster_finds_what_one_machine_finds(cluster, tmp_path, monkeypatch, capsys):
    """A cluster solves to the same last digit; lost processes are those of tournaments."""
    monkeypatch.setattr(sharded, "MIN_SHARD_KEYS", 64)
    words = ["solve", "classic:size=2x2", "--cluster", cluster.address, "-q"]
    assert main([*words, "--output", str(tmp_path / "file")]) == 0
    assert capsys.readouterr().out.startswith("classic on 2x2: expected score 66.964149")
    ours, theirs = Solution.load(tmp_path / "file"), solve("classic:size=2x2")
    assert (ours.value, ours.layers) == (theirs.value, theirs.layers)


def test_another_version_on_a_machine_is_refused():
    """Machines with different versions of py2048 cannot work together."""
    answer = run_there(dict, "0.0.0")
    assert isinstance(answer, Py2048Error)
    assert re.search(r"has py2048 .*, this one 0\.0\.0", str(answer))


def test_options_that_do_not_fit_a_cluster(cli):
    """Incompatible options are refused before connecting to a cluster."""
    words = "solve", "classic:size=2x2", "--cluster", "auto"
    assert "--cluster needs --output FILE, in a folder that all its machines" in cli.error(*words)
    refused = cli.error(*words, "--output", "file", "-j", "2")
    assert refused == "py2048: --threads is for this machine: leave it out with --cluster\n"


# --- tournaments ---------------------------------------------------------------------------------


def scores_of(results: Results) -> list[int]:
    """Return the scores of the only player."""
    (games,) = games_of(results).values()
    return [game.score for game in games]


@pytest.mark.slow
@needs_ray
@pytest.mark.usefixtures("plugins")  # before the cluster, whose processes find them then
def test_a_cluster_gives_the_results_of_one_process(cluster, tmp_path):
    """Results on a cluster equal those of one process, even after losses."""
    tournament = Tournament(("random", "greedy", "whole"), SMALL, 20, seed=9, recorded=True)
    assert games_of(played_on(cluster, tournament)) == games_of(compare_players(tournament, jobs=1))
    with pytest.raises(PlayerError, match="'wrong' chose up, which is illegal"):
        played_on(cluster, Tournament(("wrong",), SMALL, 2))
    wanted = scores_of(compare_players(Tournament(("corner",), SMALL, 10), jobs=1))
    assert scores_of(played_with_killed_workers(cluster, tmp_path / "deaths")) == wanted
    assert scores_of(played_with_a_lost_node(cluster)) == wanted


def played_on(cluster: Any, tournament: Tournament) -> Results:
    """Play a tournament on a cluster of two nodes."""
    results = Results(tournament)
    with closing(RayCluster(cluster.address)) as pool:
        assert pool.place == "on 2 nodes with 2 processors"
        for _ in run_tournament(results, pool):
            pass
    return results


def played_with_killed_workers(cluster: Any, deaths: Path) -> Results:
    """Play 10 games with a player that kills two of its processes."""
    results = played_on(cluster, Tournament((fragile(deaths, 2),), SMALL, 10))
    assert not list(deaths.iterdir())
    return results


def played_with_a_lost_node(cluster: Any) -> Results:
    """Play 10 games while one node disappears after the first game."""
    results, lost = Results(Tournament(("slow:ms=4.0",), SMALL, 10)), None
    with closing(RayCluster(cluster.address)) as pool:
        for _ in run_tournament(results, pool):
            if lost is None:
                (lost,) = cluster.worker_nodes
                cluster.remove_node(lost, allow_graceful=False)
        deadline = time.monotonic() + 60
        while pool.place != "on 1 node with 1 processor" and time.monotonic() < deadline:
            time.sleep(0.1)
        assert pool.place == "on 1 node with 1 processor"
    return results


@needs_ray
@pytest.mark.parametrize(
    ("address", "reason"), [("127.0.0.1:1", "refused"), ("nonsense", "host:port")]
)
def test_a_cluster_that_is_not_there_is_one_clear_line(address, reason):
    """The error for a missing cluster has the address and how to start one."""
    with pytest.raises(
        TournamentError, match=f"no Ray cluster at '{address}'.*{reason}.*ray start"
    ) as e:
        RayCluster(address)
    assert "\n" not in str(e.value)
