"""The public API is stable, sorted and fast to import."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import py2048
from py2048 import Board, Direction, Game, Py2048Error, Record, Rules, Spawn, get_rules, make_player
from py2048.core.rules import EdgeSpawn, MovePoints, RandomSpawn, RandomStart, Weights
from tests.processes import python

EXPORTED = [
    "Board", "Direction", "Game", "Merging", "Motion", "Outcome", "Player", "Py2048Error", "Record",
    "Rules", "Slide", "Spawn", "Turn", "get_rules", "list_players", "list_rules", "make_player",
]  # fmt: skip

HEAVY = {
    "PIL", "gymnasium", "llvmlite", "matplotlib", "numba", "numpy", "ray", "rich", "sqlalchemy",
    "starlette", "textual", "tkinter", "typer",
}  # fmt: skip


def modules_after(statement: str) -> set[str]:
    """Return the top-level modules that a new process has loaded after `statement`."""
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(python("-c", code, check=True).stdout.split())


def packages() -> list[str]:
    """Return the package and its layers that declare their exports."""
    found = [module.name for module in pkgutil.iter_modules(py2048.__path__) if module.ispkg]
    return ["py2048", *(f"py2048.{name}" for name in found)]


def test_exported_names_are_pinned():
    """A name joins or leaves the facade only by a change to this list."""
    assert py2048.__all__ == EXPORTED


@pytest.mark.parametrize("package", packages())
def test_exported_names_exist(package):
    """Each name in `__all__` exists and occurs once; the linter checks the order."""
    module = importlib.import_module(package)
    names = list(getattr(module, "__all__", []))
    assert len(names) == len(set(names))
    assert not [name for name in names if not hasattr(module, name)]


def test_a_game_on_a_screen_loads_neither_arrays_nor_compiler():
    """The first frame does not wait for NumPy and Numba."""
    assert not modules_after("import py2048.app.session") & {"numpy", "numba", "llvmlite"}


def test_a_game_is_light():
    """Playing and recording a game loads no compiler, arrays, databases or user interfaces."""
    played = (
        "import py2048\n"
        "game = py2048.Game(py2048.get_rules('2x4'), seed=1)\n"
        "while not game.is_over:\n"
        "    game.play(game.legal_directions()[0])\n"
        "py2048.Record.from_json(game.record().to_json()).verify()"
    )
    assert not modules_after(played) & HEAVY


def test_heavy_libraries_would_be_noticed():
    """The check detects a module that loads NumPy."""
    assert "numpy" in modules_after("import numpy")


def test_version_is_the_distribution_s():
    """`py2048.__version__` equals the installed metadata."""
    from importlib.metadata import version

    assert py2048.__version__ == version("py2048")


WRONG = (
    "x", "", b"left", None, -1, 1.5, float("nan"), True, 10**30, np.float32(2), np.zeros((3, 3)),
    [], [1, 2], [[2, "a"]], (1,), {2: 9}, object(), Game, Direction.LEFT, Board.empty(2, 2),
    get_rules("cits1401"), "\0", "\ud800", "x" * 350, 10**400,
)  # fmt: skip
"""Values that users might pass without reading the documentation."""

RECORD = Game("2x4", seed=1).record()


def game() -> Game:
    return Game(seed=1)


PLAYERS = [make_player(spec) for spec in ("corner", "greedy", "heuristic", "montecarlo", "random")]

TAKERS: list[Callable[..., object]] = [
    Game,
    lambda value: Game(seed=value),
    lambda value: Game(board=value),
    lambda value: Game(player=value),
    Game.from_record,
    lambda value: game().play(value),
    lambda value: game().attempt(value),
    lambda value: game().play("up", spawn=value),
    lambda value: game().play("up", spawn=Spawn(value, (0, 0))),
    lambda value: game().play("up", spawn=Spawn(2, value)),
    Board,
    Board.from_rows,
    Board.parse,
    lambda value: Board.from_rows([[value, 2]]),
    lambda value: Board.empty(2, 2).slide(value),
    lambda value: Board.empty(2, 2).slide(Direction.UP, value),
    lambda value: Board.empty(2, 2).with_tile(value, 2),
    lambda value: Board.empty(2, 2).with_tile((0, 0), value),
    lambda value: Board.empty(2, 2).with_tile((value, 0), 2),
    lambda value: Board.empty(3, 3)[value],
    Direction.parse,
    Rules,
    Rules.parse,
    get_rules,
    *(
        lambda value, name=name: get_rules("classic", **{name: value})
        for name in (*Rules.__dataclass_fields__, "colour")
    ),
    Record.load,
    Record.from_json,
    *(
        lambda value, name=name: Record.from_json(replace(RECORD, **{name: value}).to_json())
        for name in Record.__dataclass_fields__
    ),
    make_player,
    *(player.choose for player in PLAYERS),
    *(player.rate for player in PLAYERS),
    Weights,
    RandomSpawn,
    EdgeSpawn,
    lambda value: Weights({2: value}),
    lambda value: RandomStart(value, 2),
    lambda value: RandomStart(2, 2, value),
    lambda value: MovePoints(value, value),
]


def complaint(take: Callable[..., object], value: object) -> str:
    """Return the message of a `Py2048Error`, or an empty string if the value is accepted."""
    try:
        take(value)
    except Py2048Error as error:
        return str(error)
    return ""


@pytest.mark.parametrize("take", TAKERS)
def test_errors_name_the_value_in_one_line(take):
    """Public calls accept a value or raise a `Py2048Error` with a one-line message."""
    for value in WRONG:
        message = complaint(take, value)
        assert "\n" not in message
        assert len(message) < 400


def test_numpy_integers_are_accepted():
    """NumPy integers are accepted wherever an int is, and converted."""
    rules = get_rules("classic", rows=np.int8(3), columns=np.uint64(5), target=np.int64(64))
    assert rules == Rules.parse("classic:size=3x5,target=64")
    assert {type(side) for side in (*rules.shape, rules.target)} == {int}
    played = Game(rules, seed=np.uint64(7))
    assert (type(played.seed), played.start) == (int, Game(rules, seed=7).start)
    board = Board.empty(np.int64(2), np.int64(2)).with_tile(np.array([0, 1]), np.int64(4))
    assert board == Board.parse(". 4 / . .")
    assert Record.from_json(played.record().to_json()) == played.record()
