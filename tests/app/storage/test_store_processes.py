"""Several processes on one store, some of them killed: nothing is lost or mixed up."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from store_games import load, new_game

import py2048
from py2048.app.storage import Store, open_store

WORKER = Path(__file__).with_name("store_worker.py")
SOURCES = str(Path(py2048.__file__).parents[1])


class Worker:
    """A running `store_worker.py`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER)],
            env={**os.environ, "PYTHONPATH": SOURCES},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, role: str, url: str, game_id: str = "-") -> None:
        self.process.stdin.write(f"{role} {self.name} {url} {game_id}\n")
        self.process.stdin.flush()

    def hear(self, word: str) -> str:
        """Return the rest of the next line, which must begin with `word`."""
        line = self.process.stdout.readline()
        assert line.startswith(word), f"expected {word!r}, the worker said {line!r}"
        return line.removeprefix(word).strip()

    def hear_all(self) -> list[str]:
        """Return all lines of the worker's role."""
        lines = []
        while (line := self.process.stdout.readline()) != "done\n":
            assert line, "the worker failed"
            lines.append(line.strip())
        return lines

    def kill(self) -> list[str]:
        """Kill the worker with SIGKILL; return the lines it completed."""
        assert self.process.stdout is not None
        self.process.kill()
        # communicate() would skip what `hear` has left in the buffer.
        said = self.process.stdout.read()
        # print() is unbuffered, so the last line may be incomplete.
        return said[: said.rfind("\n") + 1].splitlines()


@contextmanager
def workers(count: int) -> Iterator[list[Worker]]:
    """Start `count` workers and wait until they are ready."""
    with ExitStack() as cleaning:
        started = [Worker(f"w{number}") for number in range(count)]
        for worker in started:
            cleaning.enter_context(worker.process)
            cleaning.callback(worker.process.kill)
        for worker in started:
            worker.hear("ready")
        yield started


@pytest.fixture(scope="module")
def team() -> Iterator[list[Worker]]:
    """Four processes that live until they are killed."""
    with workers(4) as started:
        yield started


def begin(store: Store) -> str:
    return new_game(store, player="all").id


def _ply(code: str) -> int:
    return int(code.split(".")[1])


def test_a_killed_process_loses_no_acknowledged_turn(url):
    """After SIGKILL at any time, every acknowledged turn is stored once, in order."""
    acknowledged: list[str] = []
    for _ in range(4):
        with workers(1) as (worker,):
            worker.tell("play_on", url)
            worker.hear("resumed")
            acknowledged.append(worker.hear("kept"))
            time.sleep(random.uniform(0.0, 0.1))
            acknowledged += [line.removeprefix("kept ") for line in worker.kill()]
        with open_store(url) as store:
            (game,) = store.games.select()
        assert [game.turns[_ply(code)] for code in acknowledged] == acknowledged
        assert [_ply(code) for code in game.turns] == list(range(game.position))
    assert len(acknowledged) > 4


def test_processes_that_play_one_game_overwrite_nothing(url, team):
    """When four processes play one game, exactly the acknowledged turns are in it."""
    with open_store(url) as store:
        game_id = begin(store)
        for worker in team:
            worker.tell("contend", url, game_id)
        kept = [line.removeprefix("kept ") for worker in team for line in worker.hear_all()]
        game = load(store, game_id)
    assert sorted(game.turns) == sorted(kept)
    assert len(set(kept)) == game.position == game.revision == 60
    for worker in team:  # each worker's turns are in order
        own = [_ply(code) for code in game.turns if code.startswith(worker.name)]
        assert own == list(range(15))
