"""Text games: reading answers, refusing with a reason, and recording."""

from __future__ import annotations

import base64
import io
import json
import math
import random

import numpy as np
import pytest
from PIL import Image

from py2048 import Direction, Game, Record, get_rules
from py2048.core.errors import DirectionError, GameOverError, PlayerError
from py2048.envs.rendering import picture_of
from py2048.envs.text import OBSERVATIONS, TextGame, read_move
from py2048.lab.arena.statistics import losses_and_luck
from py2048.players.perfect import PerfectPlayer
from py2048.review.judges import ExactJudge

LEFT = [
    "left",
    " **Left!** ",
    "L",
    "2",
    "←",
    "⬅️",
    '{"move": "left"}',
    "```json\n{'action': 2}\n```",
    '{"name": "move", "arguments": {"direction": "LEFT"}}',
    "Up or down? I first thought <move>up</move>, no:\n<move> left </move>\nThat keeps the right.",
    r"So the answer is $\boxed{\text{left}}$, not right.",
    "Down is worse, so my move is left because up would break the row.",
    "Final answer: **⬅️**",
    "The move is clear, up to a tie between up and down.\n\nI slide left.",
    "<think>right, right, <move>right</move></think>left",
]


@pytest.mark.parametrize("answer", LEFT)
def test_a_move_is_read_from_what_models_write(answer: str) -> None:
    """Moves are read from words, arrows, numbers, JSON, tags, boxes, labels and prose."""
    assert read_move(answer) is Direction.LEFT


@pytest.mark.parametrize(
    "answer",
    ["", "7", "left or right?", "<move>diagonal</move> left", "<think>left", '{"move": null}'],
)
def test_what_is_ambiguous_or_no_move_is_not_guessed(answer: str) -> None:
    """Ambiguous answers and answers without a move are rejected."""
    with pytest.raises(DirectionError):
        read_move(answer)


def test_a_refused_answer_says_why_and_changes_nothing() -> None:
    """A refused answer gives a reason; the episode ends when retries are used up."""
    game = TextGame(seed=1, board=". . . . / . . . . / . . . . / . . . 2", retries=1)
    before = game.observation
    step = game.step("down")
    assert step.message.startswith("down changes nothing on this board. Legal moves: up, left.")
    assert (step.observation, step.reward, step.is_legal, step.is_over) == (before, 0, False, False)
    assert "Tries left: 1. End your answer" in step.message
    assert game.step("up").is_legal
    assert not game.step("?").is_over
    assert game.step("?").message.endswith("No retries are left: 0 points, largest tile 2.")
    with pytest.raises(GameOverError):
        game.step("left")
    assert "Tries left: 3." in TextGame().step("?").message


def test_the_instructions_name_the_target_and_the_last_move_the_result() -> None:
    """Only targets that end the game are said to; an episode may have a maximum of moves."""
    goals = ("classic", "a tile of 2048."), ("comp1127", "a tile of 2048, which ends the game.")
    for rules, goal in goals:
        assert f" Make {goal} Score" in TextGame(rules).instructions
    assert "Make" not in TextGame("cits1401").instructions
    game = TextGame(board="2 4 . . / . . . . / . . . . / . . . .", max_moves=2)
    assert not game.step("right").is_over
    assert game.step("left").message == (
        f"That was the last move: {game.game.score} points, largest tile "
        f"{game.game.board.max_tile}."
    )


def played(game: TextGame, seed: int) -> TextGame:
    """Play a game with random answers, some of them illegal."""
    draw = random.Random(seed)
    while not game.is_over:
        game.step(draw.choice(["left", "right", "up", "down"]))
    return game


def test_games_side_by_side_are_the_same_as_alone() -> None:
    """Games are independent of each other."""
    alone = [played(TextGame(seed=seed, retries=99), 5).record().turns for seed in (1, 2)]
    games, draws = [TextGame(seed=seed, retries=99) for seed in (1, 2)], random.Random(0)
    answers = [random.Random(5) for _ in games]
    while not all(game.is_over for game in games):
        index = draws.randrange(2)
        if not games[index].is_over:
            games[index].step(answers[index].choice(["left", "right", "up", "down"]))
    assert [game.record().turns for game in games] == alone


def test_a_record_is_verified_and_points_add_up_to_its_score() -> None:
    """Records verify, and rewards add up to the score under any rules."""
    game, total = TextGame("cits1401", seed=3, player="a model", max_moves=20), 0.0
    for answer in ["left", "left", "up", "left", "up", "?"] * 9:
        if not game.is_over:
            assert game.record().seed is None  # it would tell the next tile
            total += game.step(answer).reward
    record = Record.from_json(game.record().to_json())
    record.verify()
    assert record.player == "a model"
    assert record.follows_seed()
    assert total == record.score
    assert game.game.ply <= 20


def test_the_largest_tile_is_rewarded_by_its_logarithm() -> None:
    """Rewards add up to the growth of the largest tile's logarithm."""
    game = TextGame(seed=4, reward="largest")
    start, total = game.game.board.max_tile, 0.0
    while not game.is_over:
        total += game.step(game.legal_moves[0]).reward
    assert total == pytest.approx(math.log2(game.game.board.max_tile / start))


def test_regret_is_exact_on_boards_that_are_solved() -> None:
    """Regret rewards equal the tournament's regret, and giving up loses the rest."""
    rules = get_rules("classic:size=2x2")
    game, rewards, draw = TextGame(rules, seed=3, reward="regret", retries=99), [], random.Random(6)
    while not game.is_over:
        step = game.step(draw.choice(["left", "right", "up", "down"]))
        rewards += [step.reward] * step.is_legal
        assert step.is_legal or not step.reward
    solution = PerfectPlayer().solution(rules)
    losses, _ = losses_and_luck(game.record(), ExactJudge(solution, rules))
    assert rewards == [-loss for loss in losses]
    assert min(rewards) < 0
    given_up = TextGame(rules, seed=3, reward="regret", retries=0)
    worth = solution.value_of(given_up.game.board)
    assert given_up.step("pass").reward == pytest.approx(-worth)
    with pytest.raises(PlayerError, match="perfect needs a file"):
        TextGame(reward="regret")


def test_every_observation_shows_the_same_board() -> None:
    """Text, JSON and image observations show the same board."""
    board = "2 . . 4 / 2 . . . / . . . . / . . . 2048"
    text, data, image = (
        TextGame(seed=1, board=board, observation=form).observation for form in OBSERVATIONS
    )
    game = Game(seed=1, board=board)
    assert str(game.board) in text
    rows, legal = [list(row) for row in game.board.rows], list(map(str, game.legal_directions()))
    facts = {"board": rows, "score": 0, "moves": 0, "legal": legal, "over": False}
    assert json.loads(data) == facts
    head, _, picture = image.partition(",")
    assert head == "data:image/png;base64"
    exponents = np.array([[1, 0, 0, 2], [1, 0, 0, 0], [0] * 4, [0, 0, 0, 11]], np.uint8)
    shown = Image.open(io.BytesIO(base64.b64decode(picture)))
    assert np.array_equal(np.asarray(shown), np.asarray(picture_of(exponents, 0)))
