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
from py2048.server import admission, app, run, schema, workers
from py2048.server.api import api
from py2048.server.commands import serve
from py2048.server.http import connections, limits, middleware
from py2048.server.http.monitoring import Metrics
from py2048.server.play import games, messages
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
    rate, uvicorn = SimpleNamespace(**limited.buckets), Config(None)
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
        "new games": (
            1 / rate.new_games.rate, rate.new_games.burst,
        ),
        "boards": (games.MAX_SIDE, games.MAX_SIDE),
        "rules": (
            games.MAX_RULES_TEXT, games.MAX_TILE, games.MAX_TARGET, MAX_POINTS,
        ),
        "reviews": (reviews.MAX_MOVES, reviews.TIMEOUT_S / minutes),
        "a record to verify": (api.MAX_TURNS,),
        "wrong passwords and recovery codes": (
            rate.logins.burst, 1 / rate.logins.rate,
        ),
        "forms with a password": (
            rate.passwords.burst,
        ),
        "names": (2, accounts.MAX_NAME),
        "passwords": (accounts.MIN_PASSWORD, accounts.MAX_PASSWORD, accounts.MIN_GUESSES),
        "sessions, and the cookies of guests": (app.MAX_SESSION_AGE / timedelta(days=1),),
        "guests": (
            MIN_GUEST_TURNS, games.UNTOUCHED / timedelta(days=1), games.LOST / timedelta(days=1),
        ),
        "daily games": (rate.new_dailies.burst, rate.known_dailies.burst),
    }  # fmt: skip
    told = {what: tuple(numbers_in(row[0])) for what, row in rows("Limits that are fixed").items()}
    assert told == expected
    beside = rows("Limits that you set")
    assert run.BESIDE_SOCKETS in numbers_in(beside["`--sockets`"][1])
    assert run.BESIDE_SOCKETS_EACH in numbers_in(beside["`--sockets-per-address`"][1])


def test_every_door_is_on_the_page() -> None:
    """The page lists every door with its price, and the bounds of all doors."""
    table = rows("Expensive requests")
    doors = {each.strip("`"): row for each, row in table.items() if each.startswith("`")}
    assert {name: float(row[0]) for name, row in doors.items()} == admission.PRICES_S
    here = {name: numbers_in(row[2])[0] for name, row in doors.items() if "charged" in row[2]}
    assert here == admission.HERE_FACTORS
    text = PAGE.split("## Expensive requests")[1].split("\n## ")[0]
    for told in (
        f"{admission.RATE} processor seconds a second, and {admission.BURST_S:.0f} at once",
        f"| {admission.MAX_WAIT_S:.0f} seconds |",
        f"{reviews.MAX_AHEAD_S:.0f} seconds of expected",
        f"at least {admission.MIN_PRICE_S} s",
        f"more than {workers.TIMEOUT_S:.0f} seconds fails",
    ):
        assert told in text


def test_every_state_of_readyz_is_documented() -> None:
    """The operators' guide lists the reasons that `/readyz` gives."""
    guide = (ROOT / "docs" / "how-to" / "run-a-server.md").read_text()
    table = guide.split("Its reasons are:\n\n")[1].split("\n\n")[0]
    reasons = [line.split("|")[1] for line in table.splitlines() if line[:3] == "| `"]
    assert set(re.findall(r"`([a-z-]+)`", "".join(reasons))) == {*messages.TROUBLES, "other"}


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
