"""What the pages of the web server ask of the store, with 60 to 600,000 finished games.

Fills temporary SQLite stores with games of many players, one in a hundred of them with a name, and
times each question: the leaderboards, live games, a player's statistics, and the sweep.

Run ``python benchmarks/bench_leaderboards.py --help`` for other sizes.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from bench_web import database

from py2048.app.storage import open_store, schema
from py2048.app.storage.records import enter_records
from py2048.app.storage.store import Store
from py2048.core.rules import get_rules
from py2048.server.play.games import GameService

RULES = str(get_rules("classic"))
_AT_ONCE = 2000


def finished(count: int) -> Iterator[dict[str, Any]]:
    """Yield records of two months."""
    chance, now = random.Random(2048), datetime.now(UTC)
    for number in range(count):
        time_ = now - timedelta(minutes=chance.randrange(60 * 24 * 60))
        ended = time_.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        yield {
            "id": f"r{number}", "owner": f"p{number % max(count // 10, 6)}", "rules": RULES,
            "player": "", "category": chance.choice(("ranked", "ranked", "assisted")),
            "started": ended, "finished": ended, "score": chance.randrange(100_000),
            "max_tile": 1024, "plies": 900, "outcome": "lost", "record": "x" * 3000,
        }  # fmt: skip


def fill(store: Store, count: int) -> None:
    """Add games, their players, and a name for one player in a hundred."""
    records = finished(count)
    with store.write() as connection:
        while batch := [row for _, row in zip(range(_AT_ONCE), records, strict=False)]:
            connection.execute(sa.insert(schema.records), batch)
            rounds = [
                {"game_id": row["id"], "owner": row["owner"], "mode": "ranked", "secret": ""}
                for row in batch
            ]
            connection.execute(sa.insert(schema.rounds), rounds)
        for number in range(max(count // 10, 6)):
            name = f"p{number}" if number % 100 == 0 else None
            row = {
                "id": f"p{number}",
                "name": name,
                "name_key": name,
                "generation": 0,
                "created": "",
            }
            connection.execute(sa.insert(schema.accounts), {**row, "generation": 0, "created": ""})
            if name:
                enter_records(connection, schema.records.c.owner == name)


def milliseconds(ask: Callable[[], object]) -> float:
    """Return how long a question takes, at the median of nine."""
    times = []
    for _ in range(9):
        began = time.perf_counter()
        ask()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def questions_of(store: Store) -> dict[str, Callable[[], object]]:
    """Return what pages and the server's housekeeping ask."""
    games = GameService(store)
    return {
        "ever": lambda: store.leaderboards.top("ranked", RULES),
        "week": lambda: store.leaderboards.top("ranked", RULES, "week"),
        "live": lambda: store.online.live([f"g{number}" for number in range(40)]),
        "statistics": lambda: store.scores.summaries("p0"),
        "recent": lambda: store.records.select(owner="p0", order="finished", limit=200),
        "sweep": lambda: games.sweep(()),
    }


def main() -> None:
    """Measure as the command line asks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--games", type=int, nargs="+", default=[60, 6_000, 60_000, 600_000])
    for count in parser.parse_args().games:
        with database("sqlite") as (url, _), open_store(url, durability="process") as store:
            fill(store, count)
            times = {name: milliseconds(ask) for name, ask in questions_of(store).items()}
            print(f"{count:>9,} games:", *(f"{n} {ms:.1f} ms " for n, ms in times.items()))


if __name__ == "__main__":
    main()
