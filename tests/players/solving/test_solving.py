"""Tests of exact values against published results and the reference solver."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies as some
from tests.command_line import CommandLine
from tests.players.solving.interruptions import Killed, ending_after, flip
from tests.players.solving.reference import exact_values, value_of_game
from tests.processes import python

from py2048 import Board, Direction, Game, Rules, get_rules
from py2048.cli import main
from py2048.core.errors import BoardError, SolvingError
from py2048.core.rules import Weights
from py2048.players.solving import Goal, Solution, solve, solver

spawns = st.dictionaries(
    st.sampled_from([2, 4, 8]), st.integers(1, 9).map(Fraction), min_size=1, max_size=2
).map(Weights)
tiny_shapes = st.sampled_from([(1, 2), (1, 3), (3, 1), (2, 2), (1, 4)])
tiny = some.rules(tiny_shapes, spawns, st.sampled_from([4, 8, 16]))
"""Rules on boards that the reference can solve."""

goals = st.sampled_from(["score", "tile=4", "tile=8", "tile=16", "tile=64"])


@settings(deadline=None)
@given(rules=tiny, goal=goals)
def test_values_are_those_of_plain_recursion(rules: Rules, goal: str) -> None:
    """Values agree with the reference within the stated error."""
    solution = solve(rules, goal)
    assert abs(Fraction(solution.value) - value_of_game(rules, goal)) <= solution.error + 1e-15
    assert math.fsum(start.chance for start in solution.starts) == pytest.approx(1)


def boards_met(rules: Rules, games: int) -> Iterator[Board]:
    """Yield the boards of some games."""
    for seed in range(games):
        game = Game(rules, seed=seed)
        yield game.board
        while not game.is_over:
            legal = game.legal_directions()
            game.play(legal[(seed + game.ply) % len(legal)])
            yield game.board


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("classic:size=2x2", "score"),
        ("classic:size=2x2", "tile=16"),
        ("comp1127:size=2x2,target=16", "score"),
        ("qsan_qarut:size=2x2", "score"),
        ("cits1401:size=2x3,start=2x2:1", "score"),
        ("cits1401:size=2x2,start=1..4x2:1,scoring=merges", "score"),
    ],
)
def test_moves_are_worth_their_points_and_what_follows(text: str, goal: str) -> None:
    """The best move has the value of its board."""
    rules, solution = get_rules(text), solve(text, goal)
    exact = exact_values(rules, goal)
    for board in set(boards_met(rules, 30)):
        moves = solution.move_values(board)
        assert solution.value_of(board) == pytest.approx(float(exact(board)), abs=1e-9)
        if moves:
            assert set(moves) == set(Game(rules, board=board).legal_directions())
            assert max(moves.values()) == solution.value_of(board)
            assert moves[solution.best(board) or Direction.UP] == max(moves.values())
        else:
            assert solution.best(board) is None


@pytest.mark.parametrize("goal", ["score", "tile=64"])
def test_reordered_solving_gives_the_same_bits(goal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values do not depend on threads, order or symmetric images."""
    usual = solve("classic:size=2x3", goal)
    monkeypatch.setattr(solver, "MIN_BOARDS_PER_THREAD", 16)
    monkeypatch.setattr(solver, "BATCH_BOARDS", 7)
    shared = solve("classic:size=2x3", goal, threads=3)
    turned = solve("classic:size=3x2", goal)
    assert usual.value == shared.value
    for board in set(boards_met(usual.rules, 40)):
        value = usual.value_of(board)
        assert value == shared.value_of(board)
        image = Board(list(map(list, zip(*board.rows, strict=True))))
        assert value == turned.value_of(image)


def test_boards_that_no_game_meets_have_no_value() -> None:
    """The error names the unreachable board."""
    solution = solve("classic:size=2x2")
    with pytest.raises(BoardError, match=r"no game under classic reaches the board 64 64 / 64 64"):
        solution.value_of(Board([[64, 64], [64, 64]]))
    with pytest.raises(BoardError, match="the rules are"):
        solution.value_of(Board([[2, 2, 2]]))


# Files, memory, and what may happen to them


@pytest.mark.parametrize("layers", [3, 100, 130, 240])
def test_what_was_solved_before_a_kill_is_used(layers: int, tmp_path: Path) -> None:
    """An interrupted run resumes and produces the same file."""
    whole, file = tmp_path / "whole", tmp_path / "file"
    solve("classic:size=2x3", save=whole)
    with pytest.raises(Killed):
        solve("classic:size=2x3", save=file, progress=ending_after(layers))
    folder = file.with_name("file.unfinished")
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    (folder / "values-4-1-00000000.unfinished").write_bytes(b"torn")
    with pytest.raises(Killed):
        solve("classic:size=2x3", save=file, progress=ending_after(249))
    after = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert before.items() <= after.items()  # nothing was done again
    solution = solve("classic:size=2x3", save=file)
    assert not folder.exists()
    ours, theirs = Solution.load(whole), Solution.load(file)
    assert ours.value == theirs.value == solution.value
    assert ours.layers == theirs.layers
    keys = 16 * ours.positions
    assert whole.read_bytes()[: 18 + keys] == file.read_bytes()[: 18 + keys]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    """Intermediate results of another problem are neither used nor changed."""
    file = tmp_path / "file"
    with pytest.raises(Killed):
        solve("classic:size=2x3", save=file, progress=ending_after(3))
    with pytest.raises(SolvingError, match=r"file\.unfinished holds unfinished results of"):
        solve("classic:size=2x3", "tile=64", save=file)


def test_layers_that_do_not_fit_are_on_disk(tmp_path: Path) -> None:
    """Values are the same with almost no memory, on every board that a game can reach."""
    small = solve("classic:size=2x3", memory=10_000, save=tmp_path / "file")
    whole = solve("classic:size=2x3")
    assert (small.value, small.layers) == (whole.value, whole.layers)
    assert small.positions == whole.positions == 21_752


@pytest.mark.parametrize("room", [500, 3000])
def test_a_full_disk_loses_nothing(room: int, tmp_path: Path) -> None:
    """A full disk ends the command with status 2, and it resumes once there is space."""
    file = tmp_path / "file"
    program = (
        "import resource, sys; from py2048.cli import main; "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room})); "
        f"sys.exit(main(['solve', 'classic:size=2x3', '--quiet', '--output', {str(file)!r}]))"
    )
    result = python("-B", "-c", program)
    assert result.returncode == 2, result.stderr
    assert "File too large; what is solved so far is kept" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not file.exists()
    assert any(file.with_name("file.unfinished").iterdir())
    assert solve("classic:size=2x3", save=file).value == solve("classic:size=2x3").value


def test_a_flipped_byte_is_found(tmp_path: Path) -> None:
    """A flipped bit is detected in a solution and in intermediate results."""
    file = tmp_path / "file"
    solution = solve("classic:size=2x3", save=file)
    for place in (3, -3, -100):
        flip(file, place)
        with pytest.raises(SolvingError, match="is damaged, or is not a solution"):
            Solution.load(file)
        flip(file, place)
    assert Solution.load(file, memory=0).value == solution.value
    flip(file, 18 + 16 * solution.positions // 2)
    damaged = Solution.load(file)
    sums = [layer.total for layer in damaged.layers]
    with pytest.raises(SolvingError, match="is damaged, or is not a solution"):
        list(map(damaged.layer, sums))
    file.unlink()
    with pytest.raises(Killed):
        solve("classic:size=2x3", save=file, progress=ending_after(30))
    largest = max(file.with_name("file.unfinished").iterdir(), key=lambda path: path.stat().st_size)
    flip(largest, 9)
    with pytest.raises(SolvingError, match=f"{largest.name} is damaged: remove "):
        solve("classic:size=2x3", save=file)


def test_no_file_is_no_solution(tmp_path: Path) -> None:
    """Missing, empty and foreign files are rejected with a clear reason."""
    file = tmp_path / "file"
    with pytest.raises(SolvingError, match="No such file"):
        Solution.load(file)
    for content in (b"", b"2 4 8 16" * 100):
        file.write_bytes(content)
        with pytest.raises(SolvingError, match="is not a solution"):
            Solution.load(file)


# Goals and the command


def test_goals_are_read_back() -> None:
    """A goal survives a round trip through its text."""
    for goal in (Goal(), Goal(256)):
        assert Goal.parse(str(goal)) == goal
    for text in ("points", "tile", "tile=", "tile=3", "tile=-4", "score=3", ""):
        with pytest.raises(SolvingError):
            Goal.parse(text)


def test_rules_that_pay_for_standing_still_have_no_best_score() -> None:
    """Rules that pay for illegal moves are rejected."""
    with pytest.raises(SolvingError, match="pays for illegal moves"):
        solve("classic:size=2x2,scoring=moves:1:1")


def test_the_command_prints_a_report(cli: CommandLine) -> None:
    """The report contains value, positions, starts and layers."""
    out = cli("solve", "classic", "--size", "2x2")
    assert out.startswith("classic on 2x2: expected score 66.964149 (rounding changes it by at")
    assert "110 positions, 662 with their symmetric images, in 29 layers" in out
    assert ". 2 / 2 ." in out


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The JSON report contains value, positions, seconds and all tables."""
    words = ["solve", "classic:size=2x2", "--goal", "tile=16", "--json", "--quiet"]
    assert main([*words, "--output", str(tmp_path / "file"), "--memory", "64M"]) == 0
    captured = capsys.readouterr()
    data = json.loads(captured.out)
    assert captured.err == ""
    assert data["value"] == pytest.approx(float(value_of_game("classic:size=2x2", "tile=16")))
    assert data["positions"] == sum(layer["positions"] for layer in data["layers"])
    assert data["seconds"] > 0
    assert data["goal"] == "tile=16"
    assert sum(start["chance"] for start in data["starts"]) == pytest.approx(1)
    assert Solution.load(tmp_path / "file").value == data["value"]
