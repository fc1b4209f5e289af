"""Contests on a Ray cluster of two nodes on this machine."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.arena.plugin import installed

from py2048 import get_rules
from py2048.arena import Contest, Played, Results, compare_players, compete
from py2048.cluster import RayPool
from py2048.errors import ContestError, MissingExtraError, PlayerError

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore"),  # Ray's own, many and none of ours
]
needs_ray = pytest.mark.skipif(
    not importlib.util.find_spec("ray"), reason="no Ray: pip install 'py2048[cluster]'"
)

SMALL = get_rules("2x4")
NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}

SOON = {"health_check_period_ms": 300, "health_check_failure_threshold": 3}
"""How soon the cluster notices that a node is lost."""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install the arena's test players for this process and the cluster's."""
    from py2048.players import registry

    folder = str(installed(tmp_path_factory.mktemp("packages")))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", folder)
        registry._entries.cache_clear()
        yield
    registry._entries.cache_clear()
    sys.modules.pop("arena_plugin", None)


@pytest.fixture(scope="module")
def cluster(packages: None) -> Iterator[Any]:
    """A cluster with two nodes of one processor each."""
    from ray.cluster_utils import Cluster

    head = {**NODE, "include_dashboard": False, "_system_config": SOON}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    cluster.add_node(**NODE)
    yield cluster
    cluster.shutdown()


def played_on(cluster: Any, contest: Contest) -> Results:
    """Play a contest on a cluster."""
    results = Results(contest)
    with closing(RayPool(cluster.address)) as pool:
        assert pool.place == "on 2 nodes with 2 processors"
        for _ in compete(results, pool):
            pass
    return results


def games_of(results: Results) -> dict[str, list[Played]]:
    """Return all games without the time they took."""
    return {
        spec: [replace(game, seconds=0.0) for game in results.of(spec).values()]
        for spec in results.contest.players
    }


@needs_ray
def test_a_cluster_gives_the_same_results(cluster: Any) -> None:
    """The games, and their records, are those of one process."""
    contest = Contest(("random", "greedy", "whole"), SMALL, 20, seed=9, recorded=True)
    assert games_of(played_on(cluster, contest)) == games_of(compare_players(contest, jobs=1))


@needs_ray
def test_a_worker_that_is_killed_changes_nothing(cluster: Any, tmp_path: Path) -> None:
    """Its job is done again; twice killed, too."""
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    for life in range(2):
        (deaths / str(life)).touch()
    spec = f"fragile:deaths={deaths}"
    found = games_of(played_on(cluster, Contest((spec,), SMALL, 10)))[spec]
    assert not list(deaths.iterdir())
    wanted = compare_players(Contest(("corner",), SMALL, 10), jobs=1)
    assert [game.score for game in found] == [game.score for game in games_of(wanted)["corner"]]


@needs_ray
def test_a_player_that_fails_is_named(cluster: Any) -> None:
    """An error on the cluster is the same line as here."""
    with pytest.raises(PlayerError, match="'wrong' chose up, which is illegal"):
        played_on(cluster, Contest(("wrong",), SMALL, 2))


@needs_ray
def test_another_version_on_a_machine_is_refused(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games of different versions never stand in one table."""
    monkeypatch.setattr("py2048.cluster.ray_pool.version", lambda _: "0.0.0")
    with pytest.raises(PlayerError, match=r"has py2048 .*, this one 0\.0\.0"):
        played_on(cluster, Contest(("greedy",), SMALL, 1))


@needs_ray
def test_a_node_that_is_lost_changes_nothing(cluster: Any) -> None:
    """A machine disappears in the middle of the contest; its games are played on the other."""
    contest = Contest(("slow:ms=4.0",), SMALL, 12, seed=1)
    results, lost = Results(contest), None
    with closing(RayPool(cluster.address)) as pool:
        for _ in compete(results, pool):
            if lost is None:
                lost = next(node for node in cluster.worker_nodes)
                cluster.remove_node(lost, allow_graceful=False)
        deadline = time.monotonic() + 30
        while pool.place != "on 1 nodes with 1 processors" and time.monotonic() < deadline:
            time.sleep(0.1)
        assert pool.place == "on 1 nodes with 1 processors"
    wanted = compare_players(Contest(("corner",), SMALL, 12, seed=1), jobs=1)
    scores = [game.score for game in games_of(results)[contest.players[0]]]
    assert scores == [game.score for game in games_of(wanted)["corner"]]


@needs_ray
@pytest.mark.parametrize(
    ("address", "reason"), [("127.0.0.1:1", "refused"), ("nonsense", "host:port")]
)
def test_a_cluster_that_is_not_there_is_one_clear_line(address: str, reason: str) -> None:
    """With the address, and how to begin one."""
    with pytest.raises(
        ContestError, match=f"no Ray cluster at '{address}'.*{reason}.*ray start"
    ) as e:
        RayPool(address)
    assert "\n" not in str(e.value)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that says what to install."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'py2048\[cluster\]'"):
        RayPool("auto")
