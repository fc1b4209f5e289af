"""The command ``review``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import py2048.app.commands.review
import py2048.review
from py2048 import Game, Record, make_player
from py2048.cli import main
from py2048.review import Judge, MoveReview, coaching


def saved(path: Path, rules: str, spec: str, seed: int = 1) -> Path:
    """Save a game by a player and return its file."""
    game, player = Game(rules, seed=seed, player=spec), make_player(spec)
    while not game.is_over:
        game.play(player.choose(game))
    game.record().save(path)
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Return a game of perfect play."""
    return saved(tmp_path / "good.2048.json", "2x3", "perfect")


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """Return a game with mistakes."""
    return saved(tmp_path / "bad.2048.json", "2x3", "corner")


def test_it_tells_skill_from_luck(good, bad, cli):
    """Each file has a summary with accuracy, grades, balance and critical moments."""
    out = cli("review", str(good), str(bad))
    first, second = out.split(f"{bad}: ")
    assert "accuracy 100.0 %, judged by exact" in first
    assert "the moves lost 0 points" in first
    assert "blunder" not in first
    assert "points were expected at the start; the moves lost" in second
    assert "most was lost with " in second
    assert "best was " in second


def test_json_has_all_of_it(good, bad, cli):
    """JSON output is an object for one file and a list for several."""
    found = cli.json("review", str(bad), "--json")
    assert 0 <= found["accuracy"] < 100
    assert (found["unit"], found["exact"], found["judge"]) == ("points", True, "exact")
    record = Record.load(bad)
    assert [move["ply"] for move in found["moves"]] == list(range(1, record.plies + 1))
    assert {"played", "best", "loss", "grade", "luck", "expected"} <= found["moves"][0].keys()
    balance = found["expected"] - found["loss"] + found["luck"]
    assert balance == pytest.approx(record.score, abs=1e-4)
    both = cli.json("review", str(good), str(bad), "--json", "--quiet")
    assert [each["file"] for each in both] == [str(good), str(bad)]
    assert both[0]["accuracy"] == 100.0
    assert both[1] == found


@pytest.mark.parametrize("words", [["review"], ["report", "--judge", "greedy"]])
def test_the_page_is_in_the_readers_language(words, good, bad, tmp_path, monkeypatch, capsys):
    """The page and the printed output follow the locale variables."""
    monkeypatch.setenv("LANGUAGE", "pt")
    page = tmp_path / "page.html"
    assert main([*words, str(good), str(bad), "--output", str(page), "--quiet"]) == 0
    text = page.read_text(encoding="utf-8")
    assert '<html lang="pt">' in text
    assert "precisão" in text
    assert not re.search("accuracy|lost|moves|played", text.partition("</head>")[2])
    printed = capsys.readouterr().out
    assert "precisão" in printed
    assert not re.search("accuracy|lost|moves|played", printed)


def test_a_player_may_have_any_name(tmp_path):
    """Unencodable characters in names become question marks."""
    path, html = tmp_path / "game.2048.json", tmp_path / "page.html"
    replace(Game("2x3", seed=1).record(), player="\ud800<b>").save(path)
    assert main(["review", str(path), "--judge", "greedy", "--output", str(html)]) == 0
    assert "played by ?&lt;b&gt;" in html.read_text(encoding="utf-8")


def test_errors_are_one_line(good, tmp_path, capsys, cli):
    """Invalid files are named, and the others are still reviewed."""
    damaged = tmp_path / "damaged.2048.json"
    damaged.write_text(good.read_text(encoding="utf-8").replace('"turns": "', '"turns": "U'))
    cases = {
        (str(damaged),): "damaged.2048.json: the record was changed",
        (str(tmp_path / "none.json"),): "No such file",
        (str(good), "--judge", "gredy"): "did you mean 'greedy'?",
        (str(good), "--output", str(tmp_path / "no" / "page.html")): "cannot write",
    }
    for words, reason in cases.items():
        assert reason in cli.error("review", *words, "-q")
    assert main(["review", str(damaged), str(good), "--json"]) == 2
    out, error = capsys.readouterr()
    assert [each["file"] for each in json.loads(out)] == [str(good)]
    assert "the record was changed" in error


def test_what_was_reviewed_before_an_interruption_is_told(bad, good, cli, monkeypatch):
    """Ctrl-C reports the moves so far, and sets the usual exit status."""
    whole = Judge.reviews

    def interrupted(judge: Judge, record: Record) -> Iterator[MoveReview]:
        for move in whole(judge, record):
            if move.ply > 5:
                raise KeyboardInterrupt
            yield move

    monkeypatch.setattr(Judge, "reviews", interrupted)
    out = cli("review", str(bad), str(good), status=130)
    assert f"reviewed: 5 of {Record.load(bad).plies:,} moves" in out
    assert str(good) not in out


def test_an_interruption_loses_no_review_that_is_complete(bad, good, capsys, monkeypatch):
    """Ctrl-C in the next file, even before its first move, keeps completed reviews."""
    load = py2048.app.commands.review.load_record

    def interrupted(path: Path) -> Record:
        if path == good:
            raise KeyboardInterrupt
        return load(path)

    monkeypatch.setattr(py2048.app.commands.review, "load_record", interrupted)
    assert main(["review", str(bad), str(good), "--json"]) == 130
    assert [each["file"] for each in json.loads(capsys.readouterr().out)] == [str(bad)]


def test_a_report_judges_as_a_review_does(tmp_path, cli, monkeypatch):
    """Both have the same accuracy, for the player's own level or the one that is given."""
    monkeypatch.setitem(coaching.BUDGETS, "4x4", 50_000)
    file = str(saved(tmp_path / "game.2048.json", "classic", "random:seed=1"))
    for options in ([], ["--level", "casual"]):
        review = cli.json("review", file, *options, "--json")
        (rules,) = cli.json("report", file, *options, "--json")["rules"]
        assert rules["judge"] == review["judge"]
        assert rules["accuracy"] == review["accuracy"]
    assert main(["report", file, "--level", "2"]) == 2


def test_a_hint_for_a_level_has_chances_with_errors(cli):
    """It is JSON as for a reviewed move; a level and a player exclude each other."""
    board = "64 32 16 8 / 64 16 8 4 / 8 4 2 . / 2 . . ."
    found = cli.json("hint", board, "--level", "casual", "--json")
    assert (found["level"], found["grade"], found["reason"]) == ("casual", "best", None)
    assert set(found["chance"]) == set(found["error"]) == set(found["games"])
    assert found["error"][found["best"]] == 0
    assert cli.json("hint", board, "--json")["level"] == "practised"  # as for a new player
    assert main(["hint", board, "--level", "casual", "--player", "greedy"]) == 2
    assert main(["review", "game", "--level", "2"]) == 2
