"""Fixtures for the arena's tests: installed players and a Ray cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.lab.arena.plugin import installed

from py2048.players import registry


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the players of `tests.lab.arena.plugin`."""
    folder = str(installed(tmp_path / "packages"))
    monkeypatch.syspath_prepend(folder)
    paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    registry.entries.cache_clear()
    yield
    registry.entries.cache_clear()
    sys.modules.pop("arena_plugin", None)


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Start a Ray cluster of two single-CPU nodes that quickly notices a lost node."""
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 80_000_000}
    checks = {"health_check_period_ms": 300, "health_check_failure_threshold": 3}
    head = {**node, "include_dashboard": False, "_system_config": checks}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    cluster.add_node(**node)
    yield cluster
    cluster.shutdown()
