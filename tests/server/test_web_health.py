"""Health, readiness, metrics and shutdown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.command_line import CommandLine
from web_server import Browser, serving

from py2048.server.app import strong_networks


async def test_the_metrics_count_what_happened(browser: Browser) -> None:
    """Metrics count moves, commits and sockets in the Prometheus format."""
    before = samples(browser)
    async with browser.socket() as socket:
        await socket.new("long:size=5x5")
        for _ in range(5):
            await socket.move()
        during = samples(browser)
    assert during["py2048_moves_total"] - before["py2048_moves_total"] >= 5
    assert during["py2048_commits_total"] > before["py2048_commits_total"]
    assert during["py2048_sockets"] >= 1
    assert during["py2048_tables"] >= 1
    assert during["py2048_move_seconds_count"] - before["py2048_move_seconds_count"] >= 5


def samples(browser: Browser) -> dict[str, float]:
    """Return all samples without labels; every line must be valid."""
    browser.get("/readyz")
    found = {}
    for line in browser.get("/metrics").text.splitlines():
        sample = re.fullmatch(r"([a-z0-9_]+)(\{[^}]*\})? ([-+0-9.eInf]+)", line)
        assert sample or line.startswith(("# HELP ", "# TYPE ")), line
        if sample and not sample[2]:
            found[sample[1]] = float(sample[3])
    return found


def test_without_a_store_the_server_lives_and_is_not_ready(tmp_path: Path) -> None:
    """Without a store the server is alive, serves the first page and is not ready."""
    damaged = tmp_path / "damaged.sqlite3"
    damaged.write_bytes(b"this is not a database" * 100)
    with serving(tmp_path / "home", database=f"sqlite:///{damaged}") as server:
        browser = Browser(server)
        assert browser.get("/healthz").status == 200
        assert browser.get("/").status == 200
        assert browser.get("/leaderboards").status == 503
        ready = browser.get("/readyz")
        assert ready.status == 503
        assert "damaged" in ready.json()["reason"]
        assert str(damaged) not in browser.get("/leaderboards").text


def test_a_place_that_is_taken_or_not_here_is_told(browser: Browser, cli: CommandLine) -> None:
    """For an unavailable host or port, one line suggests changing it, and the status is 2."""
    taken = str(browser.server.port)
    for host, port in (("127.0.0.1", taken), ("nope.invalid", "0"), ("192.0.2.1", "0")):
        error = cli.error("serve", "--host", host, "--port", port)
        assert f"choose another --{'port' if port == taken else 'host'}" in error


def test_the_strong_networks_are_named(browser: Browser) -> None:
    """The log and `/readyz` name the strong networks that are installed."""
    assert (names := browser.get("/readyz").json()["networks"]) == strong_networks()
    logged = next(line for line in browser.server.logged() if "strong" in line["message"])
    assert logged.get("networks", []) == names


@pytest.mark.parametrize("is_used", [True, False])
def test_the_server_ends_kindly(tmp_path: Path, is_used: bool) -> None:
    """SIGTERM ends the server with status 0, even right after its first line."""
    with serving(tmp_path / "home") as server:
        if is_used:
            assert Browser(server).get("/account").status == 200
        assert server.stop() == 0
