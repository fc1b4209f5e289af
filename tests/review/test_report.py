"""Reports: known games give known figures, and each game is reviewed once."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.core.game.foreign_games import new_text, played

from py2048 import get_rules, make_player
from py2048.app.session import open_session
from py2048.app.storage.records import RECENT_GAMES
from py2048.cli import main
from py2048.core.game import Record
from py2048.presentation.page import describe_report, report_page
from py2048.review import review
from py2048.review.report import GamesReport, GameSummary, SummaryFile, week_of

JUDGE = "greedy"
"""Its values need no kernels."""


def game(
    seed: int, day: str, moves: int = 40, rules: str = "classic", think_ms: int = 500
) -> Record:
    """Return a finished game by Ada."""
    record = played(rules, seed, moves).record()
    times = (think_ms,) * record.plies
    return replace(record, player="Ada", finished=f"{day}T12:00:00Z", times=times)


def summary(number: int, day: str, **values: object) -> GameSummary:
    """Return a summary with known figures."""
    base = GameSummary(
        f"{number:x}", "", JUDGE, str(played("classic", 1, 0).rules), "Ada", day, 1000, 100, 128,
        False, 100, 50_000, "points", 100, 90.0, 200.0, -50.0,
        {"best": 90, "good": 4, "inaccuracy": 3, "mistake": 2, "blunder": 1},
        {"64": {"best": 60}, "128": {"best": 34, "inaccuracy": 3, "mistake": 2, "blunder": 1}},
    )  # fmt: skip
    return replace(base, **values)


def test_known_games_give_known_numbers():
    """Accuracy is weighted by moves, speed is moves per minute, and scores and luck are means."""
    games = [
        summary(1, "2026-11-23"),
        summary(2, "2026-11-24", reviewed=300, moves=300, accuracy=98.0, score=3000, luck=70.0,
                max_tile=256, timed=0, think_ms=0, grades={"best": 300}, phases={}),
        summary(3, "2026-12-01", accuracy=80.0),
        summary(1, "2026-11-23"),
    ]  # fmt: skip
    report = GamesReport.of(games)
    totals, (section,) = report.totals, report.sections
    assert (len(totals.games), totals.moves, totals.best) == (3, 500, 3000)
    assert totals.accuracy == pytest.approx((90 * 100 + 98 * 300 + 80 * 100) / 500)
    assert totals.speed == pytest.approx(60 * 200 / 100)
    assert totals.mistakes == pytest.approx(100 * 12 / 500)
    assert (section.totals.score, section.totals.luck) == (pytest.approx(5000 / 3), -10)
    assert section.totals.tiles == {128: 2, 256: 1}
    assert list(section.weeks) == ["2026-W48", "2026-W49"]
    assert len(section.weeks["2026-W48"].games) == 2
    assert sum(section.totals.phases[128].values()) == 80
    data = report.to_json()
    assert data["rules"][0]["weeks"]["2026-W49"]["accuracy"] == 80.0
    figures = ["accuracy", "mistakes_per_100_moves", "moves_per_minute"]
    assert [data[name] for name in figures] == [92.8, 2.4, 120.0]
    figures = ["mean_score", "best_score", "mean_luck", "mean_loss"]
    assert [data["rules"][0][name] for name in figures] == [1666.7, 3000, -10.0, 200.0]
    assert list(section.totals.grades.values()) == [480, 8, 6, 4, 2]
    assert json.loads(json.dumps(data)) == data
    third = {"accuracy": 100 / 3, "luck": -1 / 3, "loss": 1 / 3}
    uneven = summary(4, "", reviewed=700, think_ms=70_000, **third)
    data = GamesReport.of([uneven]).to_json()["rules"][0]
    figures = ["accuracy", "mistakes_per_100_moves", "moves_per_minute", "mean_luck", "mean_loss"]
    assert [data[name] for name in figures] == [33.33, 0.86, 85.7, -0.3333, 0.3333]


def test_sections_and_weeks_are_in_order():
    """The rules played most come first, and undated games have the last row."""
    other = str(played("3x3", 1, 0).rules)
    days = ("", other), ("2026-11-23", other), ("soon", other), ("2026-11-16", "classic")
    games = [summary(n, day, rules=rules) for n, (day, rules) in enumerate(days)]
    sections = GamesReport.of(games).sections
    assert [section.name for section in sections] == ["3x3", "classic"]
    assert [*sections[0].weeks] == ["2026-W48", "no date"]
    assert len(sections[0].weeks["no date"].games) == 2
    assert week_of("2027-01-01") == "2026-W53"


def test_a_summary_says_what_the_review_says(tmp_path):
    """A summary is found again by another process, even after a truncated line."""
    record = replace(game(3, "2026-11-23"), hints=1, times=(0, *range(1, 40)))
    found = review(record, JUDGE)
    kept = GameSummary.of(found, JUDGE)
    assert (kept.accuracy, kept.reviewed) == (found.accuracy, 40)
    assert (kept.loss, kept.luck) == (round(found.loss, 4), round(found.luck, 4))
    assert (kept.moves, kept.score, kept.day) == (40, record.score, "2026-11-23")
    assert (kept.timed, kept.think_ms, kept.won) == (39, 780, False)
    assert kept.mistakes == len(found.mistakes)
    assert sum(map(sum, (counts.values() for counts in kept.phases.values()))) == 40
    path = tmp_path / "folder" / "reviews.jsonl"
    SummaryFile(path, "1").add(kept)
    with path.open("a") as file:
        file.write('{"version": 1, "rel')
    SummaryFile(path, "1").add(replace(kept, record="00"))
    again = SummaryFile(path, "1")
    assert again.get(record, JUDGE) == kept
    assert again.get(record) is None
    assert SummaryFile(path, "2").get(record, JUDGE) is None
    nowhere = SummaryFile(path / "x", "1")
    nowhere.add(kept)
    assert nowhere.trouble.startswith(f"cannot write {path / 'x'}: ")


def test_a_game_is_won_by_its_largest_tile_and_dated_by_its_end():
    """A game without an end has the date of its start, and rules without a target are not won."""
    for target, won in (("8", True), ("1024", False), ("none", False)):
        record = game(3, "2026-11-23", rules=f"classic:target={target}")
        record = replace(record, started="2026-11-02T12:00:00Z", finished="")
        kept = GameSummary.of(review(record, JUDGE))
        assert (kept.won, kept.day) == (won, "2026-11-02")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two records, a foreign replay, a damaged record and another file."""
    folder = tmp_path / "games"
    (folder / "old").mkdir(parents=True)
    game(1, "2026-11-02").save(folder / "a.2048.json")
    game(2, "2026-11-12", rules="3x3").save(folder / "old" / "b.2048.json")
    (folder / "c.txt").write_text(new_text(played("classic", 5, 40)))
    (folder / "d.txt").write_text(new_text(played("classic", 5, 40)) + "x")
    (folder / "readme.md").write_text("no game")
    return folder


def test_a_folder_is_reported_and_reviewed_once(folder, capsys, monkeypatch):
    """Damaged files are named and set the exit status; games are reviewed only once."""
    words = ["report", str(folder), "--judge", JUDGE, "--json"]
    assert main(words) == 2
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert (data["games"], data["moves"]) == (3, 120)
    assert list(data["weeks"]) == ["2026-W45", "2026-W46", "no date"]
    assert "skipped" in err
    assert "d.txt: line 1, character" in err
    assert data["refused"][0] in err
    monkeypatch.setattr("py2048.review.review", lambda *_: pytest.fail("reviewed again"))
    assert main([*words, "--by", "Ada"]) == 2
    assert json.loads(capsys.readouterr().out)["games"] == 2


def test_a_report_needs_no_place_to_keep_reviews(tmp_path, capsys, monkeypatch):
    """If the data folder is read-only, the report is printed with a warning."""
    path, home = tmp_path / "a.2048.json", tmp_path / "home"
    game(1, "2026-11-02").save(path)
    home.write_text("no folder")
    monkeypatch.setenv("PY2048_HOME", str(home))
    assert main(["report", str(path), "--judge", JUDGE, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["games"] == 1
    assert err.count("cannot write") == err.count("\n") == 1


def test_a_report_in_words_and_as_a_page(folder, tmp_path, capsys):
    """Text and page have all figures, and the page is well-formed and has no scripts."""
    (folder / "d.txt").unlink()
    page = tmp_path / "report.html"
    assert main(["report", str(folder), "--judge", JUDGE, "--output", str(page)]) == 0
    text = capsys.readouterr().out
    assert "2026-W45" in text
    assert "3x3, judged by greedy" in text
    html = page.read_text()
    assert "<script" not in html
    assert 'role="img"' in html
    for word in ("2026-W46", "no date", "Largest tiles", "judged by greedy"):
        assert word in html


def test_nothing_to_report(tmp_path, capsys):
    """Empty folders and stores are fine; a missing file is an error."""
    assert main(["report", str(tmp_path)]) == 0
    assert main(["report"]) == 0
    assert capsys.readouterr().out == "no games\nno games\n"
    assert main(["report", str(tmp_path / "none")]) == 2
    assert "cannot read" in capsys.readouterr().err
    assert main(["report", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["games"] == 0
    for name in ("accuracy", "mistakes_per_100_moves", "moves_per_minute"):
        assert data[name] is None
    assert describe_report(GamesReport.of([])) == ["no games"]
    assert "0 games" in report_page(GamesReport.of([]))


def test_a_game_without_moves_has_no_accuracy():
    """A game without moves has no accuracy, and averages ignore it."""
    begun = summary(1, "2026-11-23", moves=0, reviewed=0, accuracy=100.0, grades={}, phases={})
    report = GamesReport.of([begun])
    assert (report.totals.accuracy, report.totals.mistakes) == (None, None)
    assert "100.0 %" not in "\n".join(describe_report(report)) + report_page(report)
    assert GamesReport.of([begun, summary(2, "2026-11-23")]).totals.accuracy == 90.0


def test_your_own_finished_games(capsys):
    """All games that a person finished are counted, and the last ones are reviewed."""
    session, player, ends = open_session(), make_player("corner"), []
    for seed in range(RECENT_GAMES + 2):
        session.start(get_rules("2x3:target=16"), seed=seed)
        move = session.move if seed else lambda _: session.autoplay_step(player)
        while not session.game.is_over:
            move(player.choose(session.game))
        ends += [session.game] if seed else []
    session.close()
    assert main(["report", "--judge", JUDGE, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["games"], data["moves"]) == (RECENT_GAMES, sum(end.ply for end in ends[1:]))
    (career,), scores = data["careers"], sorted(end.score for end in ends)
    assert career["median_score"] <= scores[len(ends) // 2] < career["median_score"] * 17 / 16
    tiles = Counter(str(end.board.max_tile) for end in ends)
    assert career.items() >= {
        "games": len(ends), "won": sum(end.has_won for end in ends), "best_score": scores[-1],
        "mean_score": pytest.approx(sum(scores) / len(ends)),
        "moves": sum(end.ply for end in ends), "tiles": tiles,
    }.items()  # fmt: skip
    assert main(["report", "--judge", JUDGE]) == 0
    text = capsys.readouterr().out
    assert f"({RECENT_GAMES} of {len(ends)})" in text
    for tile, count in tiles.items():
        assert re.search(rf"^ +{tile} +{count}$", text, re.MULTILINE)
    assert main(["report", "--judge", JUDGE, "--json", "--by", "Ada"]) == 0
    assert json.loads(capsys.readouterr().out)["careers"] == []
