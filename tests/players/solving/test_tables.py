"""Tests of endgame tables: correct chances, intact files and commands."""

from __future__ import annotations

import json
import random
import re
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tests.players.solving.interruptions import Killed, ending_after, flip
from tests.players.solving.reference import exact_chances

from py2048 import Board, Rules, get_rules
from py2048.cli import main
from py2048.core.errors import BoardError, SolvingError
from py2048.lab.commands import solve
from py2048.players.solving import (
    EndingTable,
    Formation,
    build_table,
    find_ending,
    get_formation,
    list_formations,
    tables,
)
from py2048.players.solving.formations import read_formations
from py2048.players.solving.positions import Positions
from py2048.players.solving.solution import SolvingProgress

TINY = """
[corner]  # symmetric, and the target counts everywhere
picture = '''
. . # #
. . # #
# # # #
# # # #
'''
slack = 10

[goal]  # the target counts on one cell only
picture = '''
. . * #
. . # #
# # # #
# # # #
'''
slack = 12

[pair]  # locked tiles that may move together
picture = '''
. . . #   . . # .
# # # #   # # # #
# # # #   # # # #
# # # #   # # # #
'''
slack = 6

[loose]  # a large tile that moves freely
picture = '''
. . # #
. . . #
# # # #
# # # #
'''
larges = 12
slack = 8
"""

CORNER = "2 . 512 1024 / . . 2048 4096 / 64 128 256 8192 / 16384 32768 65536 131072"
"""A board of the formation ``corner``."""


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Formation]:
    """Formations that the reference can handle."""
    path = tmp_path_factory.mktemp("formations") / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    return read_formations(path)


@pytest.fixture
def corner(tiny: dict[str, Formation], tmp_path: Path) -> EndingTable:
    """The table of the smallest formation."""
    return build_table(tiny["corner"], 16, tmp_path / "corner.table")


def some_boards(formation: Formation, target: int, count: int, seed: int = 1) -> list[Board]:
    """Return boards of a formation with different large tiles."""
    draws = random.Random(seed)
    ranks = target.bit_length() - (1 if formation.is_goal_everywhere else 0)
    boards = []
    while len(boards) < count:
        mask = draws.choice(list(formation.arrangements))
        larges = [target << 1 + k for k in range(formation.larges)]
        draws.shuffle(larges)
        small = [0, 0, 0, 2, *(1 << rank for rank in range(1, ranks))]
        tiles = [larges.pop() if mask >> c & 1 else draws.choice(small) for c in range(16)]
        if tiles.count(target) < 2:
            boards.append(Board([tiles[4 * row : 4 * row + 4] for row in range(4)]))
    return boards


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("corner", "classic"),
        ("goal", "classic"),
        ("pair", "classic"),
        ("loose", "classic"),
        ("corner", "classic:spawn=2:1+8:2"),
        ("loose", "classic:merging=cascade"),
    ],
)
def test_chances_are_those_of_plain_recursion(name, text, tiny, tmp_path):
    """Every position and move has the chance computed by the reference."""
    formation, rules = tiny[name], Rules.parse(text)
    table = build_table(formation, 16, tmp_path / "table", rules=rules)
    exact = exact_chances(formation, 16, rules)
    chances = set()
    for board in some_boards(formation, 16, 30):
        wanted = float(exact(board))
        assert table.chance_of(board) == pytest.approx(wanted, abs=table.error), board
        if wanted < 1:
            moves = table.move_chances(board)
            assert set(moves) == set(board.legal_directions())
            assert max(moves.values(), default=0.0) == table.chance_of(board)
            assert table.best(board) == (max(moves, key=moves.__getitem__) if moves else None)
        chances.add(round(wanted, 6))
    assert len(chances) > 5


def test_each_position_has_a_place_of_its_own(tiny):
    """Positions are numbered without gaps, and symmetric ones share a number."""
    for formation in (tiny["goal"], tiny["pair"], tiny["loose"]):
        positions = Positions(formation, 16, get_rules("classic"))
        places = [set[int]() for _ in positions.sizes]
        small = product(range(5 - formation.is_goal_everywhere), repeat=formation.free)
        for mask, ranks in product(formation.arrangements, small):
            free = iter(ranks)
            board = [15 if mask >> cell & 1 else next(free) for cell in range(16)]
            packed = sum(rank << 4 * cell for cell, rank in enumerate(board))
            if positions.sum_of(packed) <= positions.reach:
                assert positions.holds(packed)
                places[positions.sum_of(packed) // 2].add(positions.place_of(packed))
        assert [sorted(found) for found in places] == [list(range(n)) for n in positions.sizes]


def turned(board: Board) -> Board:
    """Return the board rotated to the left."""
    return Board([list(row) for row in zip(*board.rows, strict=True)][::-1])


def test_boards_are_found_in_any_symmetric_image(corner):
    """Symmetric images of a board have the same chances."""
    for board in some_boards(corner.formation, 16, 20):
        for image in (turned(board), turned(turned(board))):
            assert corner.chance_of(image) == corner.chance_of(board)
            ours, theirs = corner.move_chances(board), corner.move_chances(image)
            assert sorted(ours.values()) == sorted(theirs.values())


@pytest.mark.parametrize(
    "board",
    [
        "2 . 4 8 / . . 2 4 / . . . . / . . . .",
        CORNER.replace("512", "1024"),
        CORNER.replace("512", "8"),
        "512 2 . 1024 / . . 2048 4096 / 64 128 256 8192 / 16384 32768 65536 131072",
        "2 4 / 8 16",
    ],
    ids=["none", "two alike", "too few", "elsewhere", "small board"],
)
def test_boards_out_of_formation_have_no_chance(corner, board):
    """The error names the board or its size."""
    with pytest.raises(BoardError, match=r"is not in the formation corner|tables are for 4x4"):
        corner.chance_of(Board.parse(board))


# Formations


def test_known_formations_are_read_back():
    """Built-in formations survive a round trip and have the expected symmetries."""
    found = {formation.name: formation for formation in list_formations()}
    assert {"L3", "442", "t", "LL", "4431", "free8", "free9", "free10"} <= found.keys()
    for name, formation in found.items():
        assert Formation.of(name, formation.data()) == formation
    turns = {name: len(formation.turns) for name, formation in found.items()}
    assert (turns["L3"], turns["LL"], turns["444"], turns["free8"]) == (1, 2, 2, 8)
    assert len(found["free8"].arrangements) == 12870
    assert len(found["t"].arrangements) == 3


ONE_LOCKED = """[x]
picture = '''
# . . .
. . . .
. . . .
. . . .'''
larges = 0
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[x]\npicture = '. .'", "its picture is not 4 rows of 4 signs"),
        ("[x]\nlarges = 3", "3 of its tiles are large: from 4 to 14 can be"),
        ("[x]\nlarges = true", "larges is True, not a whole number"),
        ("[x]\nlarge = 8", "'large'; did you mean 'larges'"),
        ("[x]\nlarges = 8\nslack = 7", "its slack is 7: use an even number"),
        ("x = 3", "has no formation"),
        ("", "has no formation"),
        ("[x", "Expected"),
        (ONE_LOCKED, "1 tiles are locked, and only 0 are large"),
        ("[x]\nlarges = 8\n[y]\nlarges = 8", "has several formations"),
    ],
)
def test_what_is_no_formation_is_refused(text, reason, tmp_path):
    """Invalid formations are rejected with a one-line error."""
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SolvingError, match=reason):
        get_formation(str(path))


# Files, and what may happen to them


@pytest.mark.parametrize("layers", [0, 3, 20])
def test_what_was_built_before_a_kill_is_used(layers, tiny, tmp_path):
    """An interrupted build resumes and produces the same file."""
    whole, file = tmp_path / "whole", tmp_path / "file"
    every: list[SolvingProgress] = []
    build_table(tiny["goal"], 32, whole, progress=every.append)
    with pytest.raises(Killed):
        build_table(tiny["goal"], 32, file, progress=ending_after(layers))
    folder = file.with_name("file.unfinished")
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("blocks-*")}
    assert len(before) == layers + 1
    (folder / "chances-4-1-00000000.unfinished").write_bytes(b"torn")
    with pytest.raises(Killed):
        build_table(tiny["goal"], 32, file, progress=ending_after(0))
    after = {path.name: path.stat().st_mtime_ns for path in folder.glob("blocks-*")}
    assert before.items() < after.items()  # nothing was done again
    rest: list[SolvingProgress] = []
    build_table(tiny["goal"], 32, file, progress=rest.append)
    assert len(rest) == len(every) - layers - 2
    assert not folder.exists()
    assert file.read_bytes() == whole.read_bytes()


def test_threads_and_memory_change_no_bit(tiny, tmp_path, monkeypatch):
    """The file does not depend on threads or memory."""
    files = [tmp_path / name for name in ("usual", "shared")]
    build_table(tiny["loose"], 32, files[0])
    monkeypatch.setattr(tables, "MIN_POSITIONS_PER_THREAD", 16)
    needed = tables.checked_memory(Positions(tiny["loose"], 32, get_rules("classic")), 1 << 40)
    build_table(tiny["loose"], 32, files[1], threads=3, memory=needed + 1000)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_flipped_byte_is_found(corner):
    """A flipped bit is detected, in the footer on opening and elsewhere when it is read."""
    size = corner.path.stat().st_size
    for place in range(0, size, 17):
        flip(corner.path, place)
        with pytest.raises(SolvingError, match="is damaged, or is not a table: build it again"):
            EndingTable.load(corner.path).check()
        flip(corner.path, place)
    for place in (3, size - 3, size - 100):
        flip(corner.path, place)
        with pytest.raises(SolvingError, match="is damaged, or is not a table: build it again"):
            EndingTable.load(corner.path)
        flip(corner.path, place)
    EndingTable.load(corner.path).check()


def test_tables_are_refused_for_other_rules(corner):
    """Tables are rejected for other spawns or merges, but not for other scoring."""
    assert EndingTable.load(corner.path, "classic:scoring=sum").rules == corner.rules
    for text in ("classic:spawn=2:1+4:1", "classic:merging=cascade", "3x3"):
        with pytest.raises(SolvingError, match=r"is for .*, not for .*: build another"):
            EndingTable.load(corner.path, text)


@pytest.mark.parametrize(
    ("rules", "target", "reason"),
    [
        ("3x3", 32, "use rules with a 4x4 board"),
        ("cits1401", 32, "there are no tables for cits1401"),
        ("classic", 8192, "8192 is not a target: give a tile from 16 to 4096"),
        ("classic", 24, "24 is not a target"),
        ("classic:spawn=16:1", 16, "target 16 spawns under"),
    ],
)
def test_tables_that_cannot_be(rules, target, reason, tiny, tmp_path):
    """Impossible tables are rejected with a reason, and nothing is written."""
    with pytest.raises(SolvingError, match=reason):
        build_table(tiny["corner"], target, tmp_path / "file", rules=rules)
    assert not any(tmp_path.iterdir())


# The command


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder, and formation files in the working directory."""
    monkeypatch.setenv("PY2048_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for text in TINY.split("\n\n"):
        name = text.partition("]")[0].strip("\n[")
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_commands(home, cli):
    """Tables can be built, listed, queried and checked."""
    out = cli("tables", "build", "corner.toml", "16", "--quiet")
    assert out.startswith("corner-16 under classic: ")
    out = cli("tables", "list")
    assert "L3: 10 cells to play on, 6 large tiles\n  . . . .\n  . * . .\n  * # # #" in out
    assert out.endswith(": corner-16\n")
    lines = cli("tables", "query", "corner-16", CORNER).splitlines()
    chances = [float(line.split()[1]) for line in lines]
    assert chances == sorted(chances, reverse=True)
    assert len(chances) == 4
    assert chances[0] > chances[-1] == 0
    made = CORNER.replace("2 . 512", "2 16 512").replace(". . 2048", "2 . 2048")
    first, *moves = cli("tables", "query", "corner-16", made).splitlines()
    assert first == "16 has been made"
    assert moves[0].split()[1] == "1.000000"
    assert cli("tables", "check", "corner-16").endswith("corner-16.table is intact\n")


def test_an_ending_is_found_in_the_best_table_that_was_built(home):
    """The table with the largest target answers, for any symmetric image of a board."""
    text = "16 . 4 1024 / 16 . 2 4096 / 64 128 256 8192 / 16384 32768 65536 131072"
    board = Board.parse(text)
    assert find_ending(board) is None
    folder = home / "home" / "tables"
    folder.mkdir(parents=True)
    rows = ". . . # / . . . # / # # # # / # # # #".replace(" / ", "\n")
    wide = Formation.of("wide", {"picture": rows, "slack": 10})
    tables = [build_table(wide, n, folder / f"wide-{n}.table") for n in (16, 32)]
    for image in (board, turned(board)):
        assert find_ending(image) == ("wide-32", 32, tables[1].move_chances(image))
    unlikely = Board.parse(text.replace("16 .", "2 ."))  # to make a 32, so the 16 is next
    assert find_ending(unlikely) == ("wide-16", 16, tables[0].move_chances(unlikely))
    for other in ("32 .", "512 ."):
        assert find_ending(Board.parse(text.replace("16 .", other, 1))) is None
    assert find_ending(board, "classic:spawn=2:1+4:1") is None
    assert find_ending(Board.parse("2 4 / 8 16"), "2x2") is None
    (folder / "other.table").write_bytes(tables[1].path.read_bytes()[:-1])
    with pytest.raises(SolvingError, match=r"other\.table is damaged, or is not a table"):
        find_ending(board)


# What the commands print


def test_the_commands_print_json(home, capsys):
    """Each command prints one JSON object."""

    def told(*words: str) -> Any:
        assert main(["tables", *words, "--json"]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return json.loads(captured.out)

    built = told("build", "corner.toml", "16", "--output", "file.table", "--quiet")
    assert built["bytes"] == (home / "file.table").stat().st_size
    asked = told("query", "file.table", CORNER)
    assert asked["chance"] == max(asked["moves"].values()) > 0
    assert told("check", "file.table")["table"] == "corner-16"
    assert told("list")["formations"]["free8"]["larges"] == 8


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["build", "L4", "256"], "no formation is called 'L4'"),
        (["build", "L3", "much"], "Invalid value for 'TARGET'"),
        (["build", "L3", "256", "--memory", "100M"], "of memory, not 0.1G"),
        (["build", "none.toml", "256"], "none.toml cannot be read: No such file"),
        (
            ["query", "L3-256", CORNER],
            "there is no table L3-256: build it with py2048 tables build L3",
        ),
        (["check", "corner.toml"], "is damaged, or is not a table"),
    ],
)
def test_bad_words_get_one_clear_line(words, reason, home, capsys):
    """Invalid arguments yield a one-line error and status 2."""
    assert main(["tables", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert reason in captured.err


def test_the_size_is_said_before_what_takes_long(home, capsys, monkeypatch):
    """The expected size is printed to stderr before a long build."""
    monkeypatch.setattr(solve, "ANNOUNCED_POSITIONS", 0)
    assert main(["tables", "build", "corner.toml", "16", "--output", "file"]) == 0
    assert re.match(r"py2048: corner-16 has .* of up to 1 MB\n", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("formation", "target", "positions", "megabytes"),
    [("L3", 256, "750,008,217", 507), ("442", 512, "2,154,029,728", 1004)],
)
def test_the_size_that_is_said_is_enough(formation, target, positions, megabytes):
    """The expected size is between the measured size and twice that."""
    said = solve.size_text(Positions(get_formation(formation), target, get_rules("classic")))
    assert f" {positions} positions" in said
    assert megabytes <= int(re.findall(r"([\d,]+) MB", said)[0].replace(",", "")) < 2 * megabytes


@pytest.mark.parametrize("words", [["tables", "build", "corner.toml", "16"], ["solve", "2x2"]])
def test_ctrl_c_says_what_is_kept(words, home, capsys, monkeypatch):
    """After Ctrl-C, the same command resumes and leaves no folder."""
    with monkeypatch.context() as patch:
        patch.setattr(solve.StatusLine, "tell", Mock(side_effect=KeyboardInterrupt))
        assert main([*words, "--output", "file"]) == 130
    kept = "py2048: finished work is in file.unfinished: the same command continues\n"
    assert capsys.readouterr().err == kept
    assert main([*words, "--output", "file"]) == 0
    assert sorted(home.glob("file*")) == [home / "file"]
