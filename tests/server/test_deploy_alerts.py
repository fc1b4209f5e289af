"""The operators' page and the alert rules match the server's limits and metrics."""

from __future__ import annotations

import re
import shutil
import subprocess
from datetime import timedelta
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import pytest
from uvicorn import Config
from web_server import Browser, WebServer

from py2048.app.storage.online import MIN_GUEST_TURNS
from py2048.core.rules import MAX_POINTS
from py2048.server import app, run, schema
from py2048.server.api import api, hints
from py2048.server.commands import serve
from py2048.server.http import connections, limits, middleware
from py2048.server.http.monitoring import Metrics
from py2048.server.play import games, rooms
from py2048.server.settings import ServerSettings
from py2048.server.site import accounts, reviews

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "limits-and-alerts.md").read_text()
RULES = ROOT / "deploy" / "alerts.yml"
ALERTS = set(re.findall(r"alert: (\w+)", RULES.read_text()))
SETTINGS = ServerSettings(key="a key of the tests")


def rows(heading: str) -> dict[str, list[str]]:
    """Return the rows of the table below a heading, by their first column."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:1] == "|"]
    return {first: rest for first, *rest in lines[2:]}


def test_every_limit_that_can_be_set_is_on_the_page() -> None:
    """The page lists every numeric option of `serve` with its default."""
    numbers = {
        f"`--{name.replace('_', '-')}`": f"{option.default:g}"
        for name, option in signature(serve).parameters.items()
        if isinstance(option.default, int | float) and name != "port"
    }
    assert {option: row[0] for option, row in rows("Limits that you set").items()} == numbers


def test_every_fixed_limit_is_what_the_page_says() -> None:
    """The page's numbers for fixed limits equal the constants in the code."""
    limited = limits.RateLimits(SETTINGS, Metrics())
    rate, uvicorn, queue = SimpleNamespace(**limited.buckets), Config(None), limited.hashing.slots
    minutes = 60
    expected: dict[str, tuple[float, ...]] = {
        "the head of a request": (connections.MAX_HEAD / 1024, connections.HEAD_TIMEOUT_S),
        "the body of a request": (
            middleware.MAX_BODY / 1024, middleware.BODY_TIMEOUT_S,
            middleware.MAX_RECORD / 1024,
        ),
        "a message on the WebSocket": (schema.MAX_CHARACTERS,),
        "a reader of an answer": (connections.WRITE_TIMEOUT_S,),
        "a silent WebSocket": (uvicorn.ws_ping_interval, uvicorn.ws_ping_timeout),
        "what waits for a slow browser": (rooms.MAX_QUEUED_FRAMES, rooms.MAX_QUEUED_BYTES),
        "new games": (
            1 / rate.new_games.rate, rate.new_games.burst,
            rate.new_games_from.rate, rate.new_games_from.burst,
        ),
        "games in progress": (games.MAX_OPEN_GAMES,),
        "actions in a game": (games.MAX_ACTIONS,),
        "boards": (games.MAX_SIDE, games.MAX_SIDE),
        "rules": (
            games.MAX_RULES_TEXT, games.MAX_TILE, games.MAX_TARGET, MAX_POINTS,
        ),
        "hints": (rate.hints.rate, rate.hints.burst, hints.MAX_QUEUE),
        "games that a computer player plays": (hints.MAX_AUTOPLAYS, hints.MAX_AUTOPLAYS_EACH),
        "requests for reviews": (
            1 / rate.reviews.rate, rate.reviews.burst,
            1 / rate.reviews_from.rate, rate.reviews_from.burst, reviews.MAX_PENDING,
            reviews.MAX_PENDING_EACH,
        ),
        "a review": (
            reviews.MAX_MOVES, reviews.TIMEOUT_S / minutes, reviews.MAX_KEPT,
        ),
        "records to verify": (
            1 / rate.verifications.rate, rate.verifications.burst,
            limits.VERIFICATION_TOKENS_PER_CPU_S,
            api.MAX_TURNS, limited.verifying.slots.max_each, limited.verifying.slots.max_total,
        ),
        "turns of finished games": (
            rate.replays.rate, rate.replays.burst,
            limited.replaying.slots.max_each, limited.replaying.slots.max_total,
        ),
        "wrong passwords and recovery codes": (
            rate.logins.burst, 1 / rate.logins.rate,
        ),
        "forms with a password": (
            rate.passwords.burst, queue.max_each, queue.max_total,
        ),
        "names": (2, accounts.MAX_NAME),
        "passwords": (accounts.MIN_PASSWORD, accounts.MAX_PASSWORD, accounts.MIN_GUESSES),
        "recovery codes": (accounts.CODES,),
        "programs of a person": (accounts.MAX_BOTS,),
        "sessions, and the cookies of guests": (app.MAX_SESSION_AGE / timedelta(days=1),),
        "guests' games": (
            MIN_GUEST_TURNS, games.UNTOUCHED / timedelta(days=1), games.LOST / timedelta(days=1),
        ),
        "turns made offline": (rate.offline.rate, rate.offline.burst),
        "daily games": (rate.new_dailies.burst, rate.known_dailies.burst),
    }  # fmt: skip
    told = {what: tuple(numbers_in(row[0])) for what, row in rows("Limits that are fixed").items()}
    assert told == expected
    beside = rows("Limits that you set")
    assert run.BESIDE_SOCKETS in numbers_in(beside["`--sockets`"][1])
    assert run.BESIDE_SOCKETS_EACH in numbers_in(beside["`--sockets-per-address`"][1])


def numbers_in(text: str) -> list[float]:
    found = re.findall(r"(\d[\d,]*)(?:\^(\d+))?", text)
    return [float(base.replace(",", "")) ** int(power or 1) for base, power in found]


def test_every_metric_is_on_the_page_and_rules_use_no_other(web_server: WebServer) -> None:
    """Every metric is explained on the page, and alert rules use only existing metrics."""
    text = Browser(web_server).get("/metrics").text
    metrics = set(re.findall(r"# TYPE (\w+)", text))
    table = rows("What is measured")
    assert set(table) == {f"`{name}`" for name in metrics}
    used = set(re.findall(r"\b(?:py2048|process)_\w+", RULES.read_text()))
    assert {name.removesuffix("_bucket") for name in used} <= metrics
    named = {name for row in table.values() for name in re.findall(r"Py2048\w+", " ".join(row))}
    assert named | {"Py2048Down", "Py2048BackupFailed"} == ALERTS


@pytest.mark.slow
def test_prometheus_takes_the_rules_and_they_fire(tmp_path: Path) -> None:
    """Promtool accepts the rules; they fire on a failing server and not on a healthy one."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool: install the package prometheus")
    for file in (RULES, Path(__file__).with_name("alerts_test.yml")):
        shutil.copy(file, tmp_path)
    for words in (("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")):
        done = subprocess.run(
            [promtool, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
