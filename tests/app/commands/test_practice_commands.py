"""The commands ``practice`` and ``puzzle``."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest

from py2048 import Direction, Game, make_player
from py2048.app.commands import practice
from py2048.app.session.notebook import Notebook
from py2048.app.storage import open_store
from py2048.cli import main
from py2048.review import review
from py2048.review.puzzles import daily_puzzle, get_puzzle, puzzles

RULES = "classic:size=2x3"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Return a game with mistakes."""
    game, player = Game(RULES, seed=3), make_player("corner")
    while not game.is_over:
        game.play(player.choose(game))
    assert len(review(game.record()).mistakes) > 1
    game.record().save(tmp_path / "game.2048.json")
    return tmp_path / "game.2048.json"


def answer(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("".join(f"{line}\n" for line in lines)))


def test_mistakes_of_a_reviewed_game_are_practised(record, cli, monkeypatch):
    """Mistakes are kept once, asked, answered, and hidden until they are due again."""
    kept = int(cli("review", str(record), "--notebook").splitlines()[-1].split()[0])
    assert kept > 1
    assert cli("review", str(record), "--notebook").splitlines()[-1].startswith("0 new")
    with open_store() as store:
        due = Notebook(store).due()
    assert len(due) == kept
    best = [str(max(each.values, key=each.values.__getitem__)) for each in due]
    answer(monkeypatch, "nonsense", *best)
    out = cli("practice")
    assert "'nonsense' is not a direction" in out
    assert out.count("the best move.") == out.count("due again in 2 days") == kept
    assert main(["review", str(record), "--notebook", "--quiet"]) == 0
    assert "nothing is due; the next mistake is due on" in cli("practice")
    found = cli.json("practice", "--statistics", "--json")
    assert sum(each["mistakes"] for each in found) == kept
    assert all(each["successes"] == each["tries"] > 0 for each in found)


def test_an_empty_notebook_says_how_it_is_filled(cli):
    """An empty notebook explains how to fill it, in practice and in its statistics."""
    for words in (["practice"], ["practice", "--only", "corner"], ["practice", "--statistics"]):
        assert "py2048 review FILE --notebook" in cli(*words)


def test_a_puzzle_is_solved_once_for_the_rating(cli, monkeypatch):
    """The solution is shown after the move, and a second answer does not change the rating."""
    puzzle = get_puzzle(17)
    answer(monkeypatch, str(puzzle.best))
    asked, result = map(json.loads, cli("puzzle", "--id", "17", "--json").splitlines())
    assert asked["board"] == [list(row) for row in puzzle.board.rows]
    assert (result["solved"], result["theme"]) == (True, puzzle.theme)
    assert result["your_rating"] > 1500
    wrong = next(each for each in puzzle.values if each is not puzzle.best)
    answer(monkeypatch, str(wrong))
    out = cli("puzzle", "--id", "17")
    assert f"{str(puzzle.best).capitalize()} was best." in out
    assert f"your rating stays {result['your_rating']:,.0f}" in out
    assert cli("puzzle", "--statistics").endswith("solved 1 of 1\n")


def test_puzzles_follow_each_other(capsys, monkeypatch):
    """Puzzles in the requested range continue until the input ends; the daily one is single."""
    ratings = sorted(puzzle.rating for puzzle in puzzles())
    low, high = ratings[0], ratings[20]
    answer(monkeypatch, *(["w", "left", "s", "right"] * 3))
    assert main(["puzzle", "--rating", f"{low}-{high}", "--json"]) == 0
    asked = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    numbers = [each["puzzle"] for each in asked if "puzzle" in each]
    assert len(numbers) == len(set(numbers)) > 2
    assert all(low <= get_puzzle(number).rating <= high for number in numbers)
    answer(monkeypatch)
    assert main(["puzzle", "--daily"]) == 0
    puzzle = daily_puzzle(datetime.now(UTC).date())
    assert f"puzzle {puzzle.id}, rated {puzzle.rating:,}" in capsys.readouterr().out


def test_keys_move_in_a_terminal(cli, monkeypatch):
    """All movement keys work, including the escape sequences of arrow keys."""
    keys: list[str] = []
    monkeypatch.setattr(practice, "are_terminal", lambda: True)
    monkeypatch.setattr("typer.getchar", lambda: keys.pop(0))
    puzzle = next(each for each in puzzles() if Direction.RIGHT in each.values)
    for sent in ("l", "\x1b[C", "D"):
        keys[:] = ["x", sent]
        out = cli("puzzle", "--id", str(puzzle.id))
        assert "that key moves nothing" in out
        assert "): Right\n" in out
    keys[:] = ["q"]
    assert "is best" not in cli("puzzle", "--id", str(puzzle.id))
