"""How soon the page opens and answers a key, near the server and far from it.

Starts ``py2048 serve`` on loopback, puts a delay between it and a Chromium, and prints for each
round trip what a first and a second visit cost until the board can be played, the time from a key
to the first picture that shows it, and the time until ten keys pressed at once are all answered.
Before that it prints what a move in a window of 3840 by 2160 costs the page's main thread, in
processor time: that of another checkout, too, with ``--against``. ``--round-trips`` with no number
leaves it at that.
``python benchmarks/bench_page.py --help`` has the options.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench_web import OURS, Server, calibrate, database
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

far_away = importlib.import_module("tests.server.far_away").far_away
CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
KEYS = 20
BURSTS = 5
LARGE: ViewportSize = {"width": 3840, "height": 2160}
REST_MS = 1100
"""Longer than anything moves after a key."""
PARTS = {
    "task": ("RunTask",),
    "script": ("EventDispatch", "FunctionCall", "TimerFire", "RunMicrotasks"),
    "style": ("UpdateLayoutTree",),
    "layout": ("Layout",),
    "paint": ("PrePaint", "Paint", "Layerize"),
}
"""The events in Chromium's traces, by what they are part of."""

LEGAL_KEY = """() => {
  const legal = window.py2048.core.game.legal;
  const code = { up: "ArrowUp", down: "ArrowDown", left: "ArrowLeft", right: "ArrowRight" };
  const key = { code: code[legal[0]], bubbles: true, cancelable: true };
  document.body.dispatchEvent(new KeyboardEvent("keydown", key));
}"""
FIRST_CHANGE = f"""() => new Promise(resolve => {{
  const press = {LEGAL_KEY};
  const began = performance.now();
  const seen = new MutationObserver(() => {{
    seen.disconnect();
    requestAnimationFrame(() => resolve(performance.now() - began));
  }});
  const all = {{ subtree: true, childList: true, attributes: true }};
  seen.observe(document.getElementById("board"), all);
  press();
}})"""
TEN_KEYS = """() => new Promise(resolve => {
  const codes = ["ArrowDown", "ArrowLeft", "ArrowDown", "ArrowRight"];
  const began = performance.now();
  for (let index = 0; index < 10; index++) {
    const key = { code: codes[index % 4], bubbles: true, cancelable: true };
    document.body.dispatchEvent(new KeyboardEvent("keydown", key));
  }
  const look = () => window.py2048.queue.length
    ? setTimeout(look, 1)
    : resolve(performance.now() - began);
  look();
})"""
SETTLED = "() => window.py2048?.queue.length === 0 && !window.py2048.scene.view.isMoving"


def new_game(page: Page) -> None:
    """Begin a game on a board that a few moves do not fill."""
    before = page.evaluate("() => window.py2048.core.game?.game")
    page.evaluate("() => window.py2048.start('5x5', 'casual')")
    page.wait_for_function("id => (window.py2048.core.game?.game ?? id) !== id", arg=before)
    page.wait_for_function(SETTLED)


def visit(page: Page, url: str) -> float:
    """Open the page; return the milliseconds until the board can be played."""
    page.goto(url)
    page.wait_for_function("() => window.py2048?.game && document.querySelector('.tile')")
    return float(page.evaluate("() => performance.now()"))


def measure_visits(browser: Browser, port: int, round_trip: float) -> None:
    """Print what visits of somebody who was never there cost."""
    with far_away(port, round_trip) as way:
        page = browser.new_page()
        for name in ("first", "second"):
            bytes_before, requests_before = way.brought, len(way.asked)
            took = visit(page, way.url)
            page.wait_for_load_state("networkidle")
            sockets = sum("/ws" in each for each in way.asked[requests_before:])
            requests = len(way.asked) - requests_before - sockets
            print(
                f"round trip {round_trip * 1000:4.0f} ms   {name} visit playable after"
                f" {took:5.0f} ms, {requests} requests, {way.brought - bytes_before:,} bytes",
                flush=True,
            )
        page.close()


def measure_keys(page: Page, round_trip: float) -> None:
    """Print one line of results."""
    first, ten = [], []
    new_game(page)
    for _ in range(KEYS):
        first.append(float(page.evaluate(FIRST_CHANGE)))
        page.wait_for_function(SETTLED)
    for _ in range(BURSTS):
        new_game(page)
        ten.append(float(page.evaluate(TEN_KEYS)))
    print(
        f"round trip {round_trip * 1000:4.0f} ms"
        f"   key to first change {statistics.median(first):5.1f} ms (at most {max(first):.1f})"
        f"   ten quick keys {statistics.median(ten):6.0f} ms",
        flush=True,
    )


def measure_moves(browser: Browser, url: str, tree: str) -> None:
    """Print what a move costs where the window is large."""
    page = browser.new_page(viewport=LARGE)
    visit(page, url)
    new_game(page)
    timeline = ["devtools.timeline", "disabled-by-default-devtools.timeline", "cc"]
    for is_traced in (False, True):  # scripts are compiled by then
        if is_traced:
            browser.start_tracing(page=page, categories=timeline)
        for _ in range(KEYS):
            page.evaluate(LEGAL_KEY)
            page.wait_for_timeout(REST_MS)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    page.close()
    spent = Counter(main_thread_costs(events))
    draws = sum(each["name"] == "ProxyImpl::ScheduledActionDraw" for each in events)
    costs = ", ".join(f"{part} {spent[part] / KEYS:.1f}" for part in PARTS)
    print(
        f"{tree}: a move in a window of 3840x2160, ms of processor time: {costs};"
        f" main-thread frames {spent['frames'] / KEYS:.1f} of {draws / KEYS:.1f}",
        flush=True,
    )


def main_thread_costs(events: list[dict[str, Any]]) -> Counter[str]:
    """Return the milliseconds that the busiest page's main thread spent, by their part."""
    threads = {
        (each["pid"], each["tid"])
        for each in events
        if each["name"] == "thread_name" and each["args"]["name"] == "CrRendererMain"
    }
    here = Counter((each["pid"], each["tid"]) for each in events)
    busiest = max(threads, key=lambda thread: here[thread])
    spent, until = Counter[str](), Counter[str]()
    part_of = {name: part for part, names in PARTS.items() for name in names}
    for each in sorted(events, key=lambda event: float(event.get("ts", 0))):
        if (each["pid"], each["tid"]) != busiest or each["ph"] != "X":
            continue
        spent["frames"] += each["name"] == "ProxyMain::BeginMainFrame"
        part = part_of.get(each["name"])
        if part and each["ts"] >= until[part]:  # else it is inside another
            spent[part] += each.get("tdur", 0) / 1000
            until[part] = each["ts"] + each.get("dur", 0)
    return spent


def main() -> None:
    """Measure as the command line asks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--round-trips", type=float, nargs="*", default=[0, 100, 300])
    parser.add_argument("--against", type=Path, help="another checkout, whose moves are measured")
    chosen = parser.parse_args()
    found = next((path for name in CHROMIUMS if (path := shutil.which(name))), None)
    if found is None:
        sys.exit("no Chromium: sudo apt install chromium")
    calibrate()
    with database("sqlite") as (url, folder), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for tree in filter(None, (chosen.against, OURS)):
            server = Server(url, folder, "disk", None if tree is OURS else tree)
            measure_moves(browser, f"http://127.0.0.1:{server.port}", str(tree))
            server.stop()
        server = Server(url, folder, "disk")
        for milliseconds in chosen.round_trips:
            measure_visits(browser, server.port, milliseconds / 1000)
            with far_away(server.port, milliseconds / 1000) as way:
                page = browser.new_page()
                visit(page, way.url)
                measure_keys(page, milliseconds / 1000)
                page.close()
        browser.close()
        server.stop()


if __name__ == "__main__":
    main()
