"""Pages show the measured results, and the strength of players can be reproduced."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.scripts import module_of

from py2048 import Rules, list_players
from py2048.lab.arena import Results
from py2048.lab.arena.jobs import Job, run_job
from py2048.lab.training.trainer import TrainingConfig

strength = module_of("benchmarks", "strength")
page = module_of("benchmarks", "strength_page")
exact = module_of("benchmarks", "exact")
gpu = module_of("benchmarks", "gpu")


def test_pages_say_what_was_measured(page, exact):
    """The tables of a page equal those generated from the results."""
    for each in (page, exact):
        text = each.PAGE.read_text(encoding="utf-8")
        assert each.page_with_tables(text) == text
        assert {block[2] for block in each.BLOCK.finditer(text)} == set(each.BLOCKS)


def test_results_are_whole(page):
    """Each result belongs to a row and has no duplicate or surplus games."""
    names = {row["name"]: row for row in page.SETTINGS["row"]}
    assert page.rows()
    for data, each in page.rows():
        row = names[data["name"]]
        assert data["player"] == row["player"]
        assert data["player"].partition(":")[0] in list_players()
        assert data["rules"] == str(Rules.parse(row.get("rules", "classic")))
        games = [game.game for game in page.games_of(data)]
        assert len(set(games)) == each.games == len(data["score"])
        assert set(games) <= set(range(data["wanted"]))


@pytest.mark.parametrize("name", ["random", "greedy", "corner"])
def test_first_games_are_played_again(page, name):
    """Today's players reproduce the first games of their results."""
    data = json.loads((page.RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    known = {game.game: game for game in page.games_of(data)}
    rules, games = Rules.parse(data["rules"]), tuple(known)[:3]
    for played in run_job(Job(data["player"], rules, data["seed"], games)).played:
        told = known[played.game]
        assert (played.score, played.max_tile) == (told.score, told.max_tile)
        assert played.moves == told.moves


def test_other_programs_have_a_source(page):
    """Every figure of another program has a source."""
    for other in page.SETTINGS["other"]:
        assert other["source"]
        assert other.get("mean", 1) > 0
        assert "mean" in other or other["reached"]
        assert all(0 <= share <= 1 for share in other.get("reached", {}).values())


def test_results_of_earlier_weights_are_left_out(page, monkeypatch):
    """The page omits results of earlier weights, but not of players without weights."""
    assert "| `expectimax:depth=1,evaluation=ntuple` |" in page.classic_table()
    monkeypatch.setattr(page, "weights_of", lambda _: "of today")
    assert "evaluation=ntuple` |" not in page.classic_table()
    assert "| `greedy` |" in page.classic_table()


def test_a_row_goes_on_where_it_was_stopped(strength, tmp_path, monkeypatch):
    """A row continues from its saved games unless the player or weights changed."""
    monkeypatch.setattr(strength, "RESULTS", tmp_path)
    row = strength.Row("mine", "corner", 6, "2x4")
    played = run_job(Job("corner", Rules.parse("2x4"), 0, (0, 3, 4))).played
    row.save(Results(row.tournament(), played))
    known = list(row.known())
    assert [(game.game, game.score) for game in known] == [(g.game, g.score) for g in played]
    assert strength.measure(row, 1, again=False)
    assert [game.game for game in row.known()] == [0, 1, 2, 3, 4, 5]
    assert [game.score for game in row.known()][::3] == [played[0].score, played[1].score]
    assert not list(strength.Row("mine", "greedy", 6, "2x4").known())
    text = row.path.read_text(encoding="utf-8")
    row.path.write_text(text.replace(f"[{played[0].score}, ", "[77777, "), encoding="utf-8")
    assert not list(row.known())  # the player has changed
    row.path.write_text(text.replace('"weights": ""', '"weights": "now"'), encoding="utf-8")
    networked = strength.Row("mine", "corner", 6, "2x4", network=True)
    for now, count in (("now", 6), ("other", 0)):
        monkeypatch.setattr(strength.strength_page, "weights_of", lambda _, now=now: now)
        assert len(list(networked.known())) == count


def test_a_row_with_a_clock_is_known_by_its_opening(strength, tmp_path, monkeypatch):
    """A timed player is recognised by its first moves at a fixed speed."""
    monkeypatch.setattr(strength, "RESULTS", tmp_path)
    row = strength.Row("mine", "expectimax:ms=0.05,evaluation=heuristic", 3, "2x4")
    played = run_job(Job(row.player, Rules.parse("2x4"), 0, (0, 1))).played
    row.save(Results(row.tournament(), played))
    assert [game.game for game in row.known()] == [0, 1]
    opening = row.opening()
    assert len(opening) == strength.OPENING
    monkeypatch.setattr("time.thread_time", lambda: 0.0)  # a machine of another speed
    assert row.opening() == opening
    longer = strength.Row("mine", "expectimax:ms=0.5,evaluation=heuristic", 3, "2x4")
    assert longer.opening() != opening
    text = row.path.read_text(encoding="utf-8")
    row.path.write_text(text.replace(opening, "L" + opening[1:][::-1]), encoding="utf-8")
    assert not list(row.known())  # it searches otherwise today


def test_a_row_that_cannot_be_played_is_left_out(strength, tmp_path, capsys, monkeypatch):
    """A row whose player is unavailable is skipped."""
    monkeypatch.setattr(strength, "RESULTS", tmp_path)
    row = strength.Row("mine", "ntuple:weights=nowhere.npz", 5)
    assert strength.measure(row, 1, again=False)
    assert "mine: left out: " in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_card_is_measured_in_one_go(gpu, page, tmp_path, monkeypatch, capsys):
    """gpu.py prints each figure with its bar and writes weights and curve."""
    kept, out = tmp_path / "kept", tmp_path / "out"
    for name, value in (("KEPT", kept), ("RESULTS", tmp_path), ("PIECE", 1000), ("PEERS", {})):
        monkeypatch.setattr(gpu, name, value)
    plan = {
        "tuples": "0123 4567",
        "depths": [1],
        "judged": 20,
        "margin": 100,
        "games_at_once": 8,
        "collect": [{"tile": 64, "games": 60}],
        "bands": [{"tile": 64, "min_sum": least, "goal": 500} for least in (112, 96)],
    }
    config = TrainingConfig(tuples="0123 4567", ranks=7, games_at_once=8)
    few = {"games": 64, "moves": 10, "compared": 50, "evaluated": 20, "chunk": 2000}
    gpu.measure(gpu.Size("reference", config, **few, seconds=(0.1, 0.2), plan=plan), out, None)
    lines = capsys.readouterr().out.splitlines()
    bars = [line for line in lines if line.startswith("BAR")]
    assert [line.endswith(": reached") for line in bars[:3]] == [True] * 3
    assert len(bars) == 9
    for name in ("weights.npz", "bands.npz"):
        pieces = sorted(out.glob(f"{name}.*"), key=lambda path: int(path.suffix[1:]))
        assert b"".join(map(Path.read_bytes, pieces)) == (kept / name).read_bytes()
    curve = (tmp_path / "card.csv").read_text(encoding="utf-8")
    assert (out / "card.csv").read_text(encoding="utf-8") == curve
    for name in ("training.csv", "training.json"):
        shutil.copy(page.RESULTS / name, tmp_path)
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    assert "| py2048 | py2048 on a GPU |" in page.training_table()
