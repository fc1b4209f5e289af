"""Measure the engine: batches, whole random games, and single games in Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from baselines import RowTables, build
from measuring import Effort, Measurement, Stretch, batch_play, race, stretch

from py2048.core import board as reference
from py2048.core.game import Game
from py2048.core.rules import get_rules
from py2048.lab.commands.bench import GAMES

CLASSIC = get_rules("classic")

C_TABLES = "C row tables, 1 core"


def engine(effort: Effort, folder: Path) -> list[Measurement]:
    """Measure random play on 4x4, with spawns, points and end-of-game tests."""
    contestants: dict[str, Stretch] = {}
    for threads, cores in {1: "1 core", effort.threads: f"{effort.threads} cores"}.items():
        contestants |= batch_play(threads, effort)
        contestants |= _in_c(threads, cores, folder, effort)
    title = f"random play, moves of all {GAMES:,} games"
    fast = race(title, contestants, effort, unit="moves/s", base=C_TABLES)
    slow = race(
        "random play, one game in Python",
        {
            "plain-Python reference": stretch(_reference_moves(), effort.seconds),
            "Game.play": stretch(_game_moves(), effort.seconds),
        },
        effort,
        unit="moves/s",
        base="plain-Python reference",
    )
    return [fast, slow]


def _in_c(threads: int, cores: str, folder: Path, effort: Effort) -> dict[str, Stretch]:
    """Return the C baseline on `threads` cores, or nothing if there is no compiler."""
    program = build("baseline.c", folder)
    if program is None:
        return {}
    tables = RowTables(program, GAMES, threads)
    steps = max(1, round(effort.seconds * 50e6 * threads / GAMES))
    return {f"C row tables, {cores}": lambda: tables.speed(steps)}


# --- one game in Python --------------------------------------------------------------------------


def _reference_moves() -> Callable[[], int]:
    """Play random games with the reference slides, which use plain tuples."""
    chance = random.Random(1)

    def some() -> int:
        board, moves = _with_spawn(((0,) * 4,) * 4, chance), 0
        while legal := reference.legal_directions(board):
            board, _ = reference.slide(board, chance.choice(legal))
            board, moves = _with_spawn(board, chance), moves + 1
        return moves

    return some


def _with_spawn(board: reference.Rows, chance: random.Random) -> reference.Rows:
    empty = [(r, c) for r, row in enumerate(board) for c, tile in enumerate(row) if not tile]
    row, column = chance.choice(empty)
    line = list(board[row])
    line[column] = 2 if chance.random() < 0.9 else 4
    return (*board[:row], tuple(line), *board[row + 1 :])


def _game_moves() -> Callable[[], int]:
    """Play random games with complete `Game` objects."""
    chance, seeds = random.Random(1), iter(range(1 << 62))

    def some() -> int:
        game = Game(CLASSIC, seed=next(seeds))
        while legal := game.legal_directions():
            game.play(chance.choice(legal))
        return game.ply

    return some
