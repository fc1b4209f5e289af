"""The page's coach against the package's: values of boards, games played on, goals and chances."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.server.test_page_modules import node

from py2048.app.storage.values import StoredReview
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import WeightsError
from py2048.core.game import Game
from py2048.core.language import LANGUAGES, language, use_language
from py2048.core.rules import Rules, get_rules
from py2048.players.ntuple.layout import NetworkLayout
from py2048.players.ntuple.network import Network
from py2048.players.ntuple.weights import browser_script, load, save, save_packed
from py2048.players.search.expectimax import Evaluation, Expectimax
from py2048.presentation.hints import DirectionRow, headline, options_of, reason_of
from py2048.presentation.words import accuracy_note, accuracy_text
from py2048.review.advice import Hint
from py2048.review.coaching import Judgement, LevelJudge
from py2048.review.games import Review
from py2048.review.levels import LEVELS, Goals
from py2048.review.moves import MoveReview, Position, legal_turns
from py2048.review.playouts import play_on, words
from py2048.review.reasons import watch
from py2048.review.simulation import SEED, Playouts
from py2048.server.http.assets import STATIC
from py2048.server.site.pages import NETWORKS, assets, page_sentences
from py2048.server.site.reviews import figures, kept, version_for

ASK = """
import { readFileSync } from "node:fs";
const [folder, script] = process.argv.slice(1);
const load = (name) => import(`${folder}/${name}.js`);
const { rules: text, questions, sentences, language } = JSON.parse(readFileSync(0, "utf8"));
const getElementById = () => ({ textContent: JSON.stringify(sentences) });
globalThis.document = { documentElement: { lang: language }, getElementById };
if (language !== "en") for (const part of ["", "-later"]) await load(`messages-${language}${part}`);
const [{ Network }, { Playouts }, { Coaching }, { parseRules }, words] =
  await Promise.all(["network", "playouts", "coaching", "rules", "words"].map(load));
await import(script);
const [network, rules] = [await Network.unpack(globalThis.network), parseRules(text)];
const playouts = new Playouts(rules, network);
const coaching = new Coaching(rules, playouts, globalThis.network.levels);
const last = (steps) => {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
  }
};
const answers = {
  value: ({ board }) => {
    const ranks = playouts.ranks(board);
    const rated = playouts.rate(ranks).map(({ direction, worth }) => [direction, worth]);
    return [network.value(ranks), rated];
  },
  game: ({ board, direction, key, slip, goal, next }) => {
    const ranks = playouts.ranks(board);
    const facts = { slip, goal, next, watch: playouts.watch(ranks) };
    return [facts.watch, playouts.play(ranks, direction, facts, key)];
  },
  search: ({ board }) => {
    const rated = playouts.search(playouts.ranks(board));
    return Object.fromEntries(rated.map(({ direction, worth }) => [direction, worth]));
  },
  hint: (facts) => {
    const move = last(coaching.hint(facts));
    return { ...move, hint: words.hintOf(move) };
  },
  review: (facts) => {
    const { moves, moments, habits, ...summary } = last(coaching.review(facts));
    const said = words.accuracyWords(summary.accuracy);
    const worded = { moves, moments: moments.map(words.worded) };
    const say = (habit) => ({ ...habit, say: words.habitWords(habit) });
    return { ...summary, ...worded, said, habits: habits.map(say) };
  },
};
for (const { type, ...facts } of questions) console.log(JSON.stringify(answers[type](facts)));
"""


def ask(
    rules: Rules, folder: Path, questions: Iterable[dict[str, Any]], network: bytes = b""
) -> list[Any]:
    """Ask the page's scripts about rules, with their network or another one; return the answers."""
    script = folder / "network.mjs"
    script.write_bytes(network or assets().content(f"networks/{rules.name}.js"))
    facts = {"rules": str(rules), "questions": [*questions], "language": language()}
    given = json.dumps(facts | {"sentences": page_sentences()})
    command = [node(), "--input-type=module", "-e", ASK, str(STATIC / "js"), str(script)]
    done = subprocess.run(command, check=False, input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def boards_of(rules: Rules, count: int) -> list[Board]:
    """Return boards of all densities, with large and small tiles."""
    draw, found = random.Random(random.getrandbits(64)), []
    for _ in range(count):
        tiles = [0] * draw.randrange(4) + [2, 4] + [2 << draw.randrange(18) for _ in range(4)]
        rows = [[draw.choice(tiles) for _ in range(rules.columns)] for _ in range(rules.rows)]
        found.append(Board.from_rows(rows))
    return found


def played_boards(rules: Rules, count: int) -> list[Board]:
    """Return boards with a legal move, from random games."""
    draw, found = random.Random(random.getrandbits(64)), []
    while len(found) < count:
        game = Game(rules, seed=draw.getrandbits(32))
        for _ in range(draw.randrange(200)):
            if game.is_over:
                game.undo()
                break
            game.play(draw.choice(game.legal_directions()))
        found += [] if game.is_over else [game.board]
    return found


def test_the_page_values_boards_as_the_package_does(tmp_path: Path) -> None:
    """Thousands of boards have exactly the same values, also with tiles beyond the network's."""
    for name, count in (("classic", 2000), ("2x4", 300), ("3x4", 300)):
        network = load(NETWORKS[name])
        boards = boards_of(network.rules, count)
        questions = ({"type": "value", "board": board.rows} for board in boards)
        for number, (board, (value, rated)) in enumerate(
            zip(boards, ask(network.rules, tmp_path, questions), strict=True)
        ):
            assert value == network.value(board)
            if number < 300:
                slides = [board.slide(way, network.rules.merging) for way in Direction]
                moves = [it for it in slides if it.changed]
                values = [[str(it.direction), it.points + network.value(it.board)] for it in moves]
                assert rated == values


def test_any_network_is_looked_up_and_searched(tmp_path: Path) -> None:
    """Tuples spread over the board find their weights, and values below zero are searched."""
    tuples = ((0, 2, 4, 9, 11), (3, 5, 8, 10), (1, 5, 9), (11,), (0, 1, 2, 3, 4))
    layout, draw = NetworkLayout(3, 4, tuples), np.random.default_rng()
    weights = np.zeros(layout.weights, np.float32)
    used = draw.integers(layout.weights, size=layout.weights // 10)
    weights[used] = draw.integers(-999, 99, len(used))
    rules, path = get_rules("3x4"), tmp_path / "spread.npz"
    network = save_packed(Network(layout, rules, weights), path, step=0.5)
    boards = boards_of(rules, 300)
    questions = ({"type": "value", "board": board.rows} for board in boards)
    found = ask(rules, tmp_path, questions, browser_script(path))
    assert [value for value, _ in found] == [network.value(board) for board in boards]
    assert any(value for value, _ in found)
    check_search(rules, network.value, tmp_path, browser_script(path))


@pytest.mark.parametrize("name", NETWORKS)
def test_games_played_on_are_the_packages(name: str, tmp_path: Path) -> None:
    """Games have the same draws and counts as the plain reference."""
    rules, draw = get_rules(name), random.Random(random.getrandbits(64))
    questions, expected = [], []
    for board in played_boards(rules, 5):
        direction, ply, number = draw.choice(board.legal_directions()), draw.randrange(9), 7
        slip, goal = draw.choice(LEVELS).slip, Goals(board.max_tile * 2, board.max_tile * 4)
        watched = watch(rules, board)
        counts = play_on(rules, board, direction, goal, watched, slip, words(SEED, ply, number))
        facts = {"direction": direction.value, "key": [SEED, ply, number], "slip": slip}
        facts |= {"goal": rank(goal.tile), "next": rank(goal.next_tile)}
        questions.append({"type": "game", "board": board.rows, **facts})
        expected.append(
            [{key: rank(tile) for key, tile in watched._asdict().items()}, counts._asdict()]
        )
    assert ask(rules, tmp_path, questions) == expected


@pytest.mark.parametrize("name", ["classic", "2x4"])
def test_the_computer_player_searches_as_the_package_does(name: str, tmp_path: Path) -> None:
    """The values are those of expectimax, which is deeper with at most two empty cells."""
    check_search(get_rules(name), load(NETWORKS[name]).value, tmp_path)


def check_search(rules: Rules, value: Evaluation, folder: Path, network: bytes = b"") -> None:
    """Check the values of a few boards that are nearly full."""
    boards = [each for each in played_boards(rules, 100) if len(each.empty_cells()) < 4][:6]
    questions = [{"type": "search", "board": each.rows} for each in boards]
    for board, values in zip(boards, ask(rules, folder, questions, network), strict=True):
        depth = 2 if len(board.empty_cells()) > 2 else 3
        expected = Expectimax(rules, value, depth).rate(board)
        assert values == pytest.approx({str(way): expected[way] for way in expected}, rel=1e-9)


def rank(tile: int) -> int:
    """Return a tile's rank, 0 for none."""
    return tile.bit_length() - 1 if tile else 0


@pytest.mark.parametrize("name", ["classic", "3x3"])
def test_moves_are_judged_as_by_the_server(name: str, tmp_path: Path) -> None:
    """From the same games, the page finds the same chances, errors, grades and reasons."""
    rules, level, games = get_rules(name), LEVELS[1], 200
    judge = Playouts(rules, level.slip)
    questions, expected = [], []
    for ply, board in enumerate(played_boards(rules, 6)):
        played = random.choice(board.legal_directions())
        judgement = Judgement(rules, level, Position(ply, board, played=played))
        judgement.sums += judge.play([judgement.batch(games)])[0]
        expected.append(judgement.review())
        position = {"board": board.rows, "ply": ply, "played": str(played)}
        questions.append({"type": "hint", "position": position, "level": str(level)})
    for found, move in zip(ask(rules, tmp_path, questions), expected, strict=True):
        hint = Hint(move.best, move.values, "", 1, judged=move)
        assert found["games"] == games
        assert found["hint"]["headline"] == headline(hint)
        assert found["hint"]["reason"] in (reason_of(hint), "It is the only move.")
        if move.values[move.best] == max(move.values.values()):  # as in hints
            assert found["hint"]["options"] == shown(options_of(hint))
        check(found, move)


def check(found: dict[str, Any], move: MoveReview) -> None:
    """Check that the page has found the same about a move as the package."""
    server = move.to_json()
    for field in ("ply", "played", "best", "grade", "goal", "survival"):
        assert found[field] == server[field], field
    values = ("values", "chance"), ("next_values", "next_chance"), ("errors", "error")
    for field, name in (*values, *zip(SAME, SAME, strict=True)):
        assert found[field] == pytest.approx(server[name], abs=2e-6), field
    if move.reason:
        assert found["reason"]["kind"] == move.reason.kind
        assert found["reason"]["numbers"] == pytest.approx(move.reason.numbers, abs=0.011)
    else:
        assert found["reason"] is None


SAME = ("loss", "share", "stake")


def shown(rows: Iterable[DirectionRow]) -> list[dict[str, Any]]:
    """Return rows of directions as the page shows them."""
    return [
        {"direction": str(row.direction), "text": row.text, "grade": row.grade}
        | {"share": pytest.approx(row.share)}
        for row in rows
    ]


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", ["classic", "3x3"])
def test_games_are_reviewed_as_by_the_server(name: str, code: str, tmp_path: Path) -> None:
    """From the same games, the page has the same accuracy, moments, habits, lines and sentences."""
    rules, level, budget = get_rules(name), LEVELS[1], 150_000
    draw = random.Random(random.getrandbits(64))
    game = Game(rules, seed=draw.getrandbits(32))
    while not game.is_over and game.position.ply < 60:
        game.play(draw.choice(game.legal_directions()))
    record, judge = game.record(), LevelJudge(rules, level, threads=1, budget=budget)
    facts = [
        {"board": at.board.rows, "ply": at.ply, "played": str(at.played), "turn": turn}
        for turn, (at, _) in enumerate(legal_turns(record))
    ]
    question = {"type": "review", "positions": facts, "level": str(level), "budget": budget}
    with use_language(code):
        (found,) = ask(rules, tmp_path, [question])
        review = Review.of(record, judge, judge.reviews(record))
        for mine, move in zip(found["moves"], review.moves, strict=True):
            check(mine, move)
        stored = json.loads(json.dumps(kept(review)["summary"]))
        version = version_for(str(level))
        row = StoredReview("", "", version, "", 1, None, len(facts), "now", None, stored)
        server = json.loads(msgspec.json.encode(figures(row)[1]))
        assert found["said"] == [accuracy_text(review.accuracy), accuracy_note(review.accuracy)]
    assert found["accuracy"] == pytest.approx(server["accuracy"])
    assert (found["counts"], found["first"]) == (server["counts"], server["first"])
    assert found["habits"] == [
        habit | {"cost": pytest.approx(habit["cost"])} for habit in server["habits"]
    ]
    for mine, moment in zip(found["moments"], server["moments"], strict=True):
        for field in ("turn", "board", "lines", "badge", "headline", "why"):
            assert mine[field] == moment[field], field


def test_unsuitable_weights_are_not_for_browsers(tmp_path: Path) -> None:
    """Exact weights are rejected: they are large and round differently. So are stages."""
    rules, path = get_rules("classic:size=2x2"), tmp_path / "unsuitable.npz"
    exact, staged = NetworkLayout(2, 2, ((0, 1),)), NetworkLayout(2, 2, ((0, 1),), (8, 64))
    save(Network(exact, rules, np.zeros(exact.weights, np.float32)), path)
    with pytest.raises(WeightsError, match="not for browsers"):
        browser_script(path)
    save_packed(Network(staged, rules, np.zeros(staged.weights, np.float32)), path, step=1)
    with pytest.raises(WeightsError, match="not for browsers"):
        browser_script(path)
