"""Tournaments on a Ray cluster of two nodes on this machine."""

from __future__ import annotations

import importlib.util
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from py2048 import get_rules
from py2048.arena import GameResult, Results, Tournament, compare_players, run_tournament
from py2048.arena.ray_cluster import RayPool
from py2048.errors import PlayerError, TournamentError

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore"),  # Ray's own, many and none of ours
]
needs_ray = pytest.mark.skipif(
    not importlib.util.find_spec("ray"), reason="no Ray: pip install 'py2048[cluster]'"
)

SMALL = get_rules("2x4")


def games_of(results: Results) -> dict[str, list[GameResult]]:
    """Return all games without the time they took."""
    return {
        spec: [replace(game, seconds=0.0) for game in results.of(spec).values()]
        for spec in results.tournament.players
    }


def scores_of(results: Results) -> list[int]:
    """Return the scores of the only player."""
    (games,) = games_of(results).values()
    return [game.score for game in games]


@pytest.mark.slow
@needs_ray
@pytest.mark.usefixtures("plugins")  # before the cluster, whose processes find them then
def test_a_cluster_gives_the_results_of_one_process(cluster: Any, tmp_path: Path) -> None:
    """The same games and records; also when workers are killed, and when a machine is lost."""
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
    with closing(RayPool(cluster.address)) as pool:
        assert pool.place == "on 2 nodes with 2 processors"
        for _ in run_tournament(results, pool):
            pass
    return results


def played_with_killed_workers(cluster: Any, deaths: Path) -> Results:
    """Play 10 games of a player that kills two of the processes it is in."""
    deaths.mkdir()
    for life in range(2):
        (deaths / str(life)).touch()
    results = played_on(cluster, Tournament((f"fragile:deaths={deaths}",), SMALL, 10))
    assert not list(deaths.iterdir())
    return results


def played_with_a_lost_node(cluster: Any) -> Results:
    """Play 10 games; one of the two machines disappears after the first."""
    results, lost = Results(Tournament(("slow:ms=4.0",), SMALL, 10)), None
    with closing(RayPool(cluster.address)) as pool:
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
def test_a_cluster_that_is_not_there_is_one_clear_line(address: str, reason: str) -> None:
    """With the address, and how to begin one."""
    with pytest.raises(
        TournamentError, match=f"no Ray cluster at '{address}'.*{reason}.*ray start"
    ) as e:
        RayPool(address)
    assert "\n" not in str(e.value)
