"""`TextGame`, one game that a language model plays through its text output.

This module needs no optional library. The adapters for OpenEnv, verifiers and MCP use `TextGame`
like this::

    from py2048.envs.text import TextGame

    game = TextGame("3x3", seed=7)
    step = game.step("I keep the corner. <move>left</move>")
    print(step.text, step.reward)

Games do not depend on each other, so any number of games can be played side by side.
"""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import DirectionError, GameOverError, shown
from py2048.core.game import Game, Record
from py2048.core.rules import Rules, get_rules
from py2048.envs.options import count_of, known_word

if TYPE_CHECKING:
    from pathlib import Path

OBSERVATIONS = ("text", "json", "image")
"""Observation formats: plain text, a JSON object, or a PNG image as a ``data:`` URL."""

REWARDS = ("points", "largest", "regret")
"""Rewards: the change of the score, the change of the largest tile's base-2 logarithm, or the exact
negative regret of the move. Regret is only available for boards that can be solved.
"""

END = "End your answer with one move, such as <move>left</move>."

# --- answers of a model -------------------------------------------------------------------------

MAX_ANSWER = 1 << 16
"""Maximum number of characters read, counted from the end of an answer."""

_KEY = r"(?:move|action|direction|answer)"
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_MARKED = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"<{_KEY}>([^<]*)</{_KEY}>",
        rf"""["']{_KEY}["']\s*:\s*["']?([^"',}}\]]*)""",
        r"\\boxed\{(?:\\text\{)?([^{}]*)\}",
        rf"\b{_KEY}\b[*_`\s]*(?::|=|\bis\b)[*_`\"'\s]*(\b(?:up|down|left|right)\b|[←↑→↓])",
    )
]
"""Patterns that mark the move in an answer, from the most to the least reliable."""

_NAMED = re.compile(r"\b(?:up|down|left|right)\b|[←↑→↓]", re.IGNORECASE)
_ARROWS = str.maketrans("⬅⬆➡⬇", "←↑→↓", "\N{VARIATION SELECTOR-16}")


def read_move(answer: str) -> Direction:
    """Extract the move from a model's answer.

    If the whole answer is a move (a name, letter, arrow or action number), this move is returned.
    If a longer answer marks moves with a tag, a JSON field, a LaTeX box or a label, the last marked
    move is returned. If no move is marked, the last line that mentions a direction must mention
    only one. Text in ``<think>`` is ignored, and ambiguous answers are rejected.

    >>> read_move('The corner is safe. {"move": "down"}'), read_move("So I slide **left**.")
    (<Direction.DOWN: 1>, <Direction.LEFT: 2>)

    Raises:
        DirectionError: If the answer contains no move or more than one move.
    """
    text = _THOUGHT.sub("", str(answer)[-MAX_ANSWER:]).translate(_ARROWS)
    if (whole := _word(text)) is not None:
        return whole
    for pattern in _MARKED:
        if found := pattern.findall(text):
            if (marked := _word(found[-1])) is not None:
                return marked
            raise DirectionError(f"{shown(found[-1])} is not a move: up, down, left or right is")
    for line in reversed(text.splitlines()):
        if named := {_word(name) for name in _NAMED.findall(line)} - {None}:
            if len(named) == 1:
                return next(each for each in named if each is not None)
            raise DirectionError("the answer names several directions and marks none")
    raise DirectionError("there is no move in the answer")


def _word(text: str) -> Direction | None:
    """Parse a word, letter, arrow or number as a direction, or return None if that fails."""
    word = text.strip(" \t\r\n\"'`*_.,:;!()[]{}<>")
    try:
        return Direction(int(word)) if word.isdecimal() else Direction.parse(word)
    except (DirectionError, ValueError):
        return None


# --- the game -------------------------------------------------------------------------------------


class TextStep(NamedTuple):
    """The result of an answer.

    Attributes:
        observation: The board in the requested format.
        reward: Reward of the answer.
        is_over: Whether the episode is over.
        is_legal: Whether the answer was a legal move.
        message: Why the answer was not a legal move, or how the episode ended. Empty after other
            answers.
    """

    observation: str
    reward: float
    is_over: bool
    is_legal: bool
    message: str

    @property
    def text(self) -> str:
        """The message and the observation, as the next turn of a conversation."""
        return "\n\n".join(filter(None, (self.message, self.observation)))


class TextGame:
    """A game that a language model plays by answering messages.

    An answer that is not a legal move does not change the board, although the rules may deduct
    points. The model receives the reason and may answer again.

    Args:
        rules: The name of a preset, a string for `Rules.parse`, or `Rules`.
        seed: Seed of the game, as in `py2048.Game`. The default is random.
        board: Board to start from.
        observation: ``text``, ``json`` or ``image``.
        reward: ``points``, ``largest`` or ``regret``.
        retries: Maximum number of consecutive answers that are not legal moves. One more ends the
            episode.
        max_moves: Maximum number of moves in an episode.
        player: Name of the player for the record.
        solution: File created by ``py2048 solve --output``, which ``regret`` needs on boards with
            more than eight cells.

    Raises:
        RulesError: If the rules do not exist.
        SeedError: If the seed is invalid.
        BoardError: If the board does not fit the rules.
        OptionError: If another argument is invalid.
        PlayerError: If regret cannot be computed under these rules.
    """

    def __init__(
        self,
        rules: str | Rules = "classic",
        *,
        seed: int | None = None,
        board: Board | str | None = None,
        observation: str = "text",
        reward: str = "points",
        retries: int = 3,
        max_moves: int | None = None,
        player: str = "",
        solution: str | Path = "",
    ) -> None:
        self.game = Game(get_rules(rules), seed=seed, board=board, player=player)
        self.rules = self.game.rules
        self._observation = known_word(observation, "observation", OBSERVATIONS)
        self._reward = known_word(reward, "reward", REWARDS)
        self._retries = count_of(retries + 1, "retries + 1") - 1
        self._max_moves = math.inf if max_moves is None else count_of(max_moves, "max_moves")
        self._values = _exact_values(self.rules, solution) if reward == "regret" else None
        self._refused = 0

    @property
    def instructions(self) -> str:
        """Instructions for the model, to be sent before the first board."""
        rows, columns = self.rules.shape
        target, ends = self.rules.target, self.rules.ends_at_target
        goal = f" Make a tile of {target}{', which ends the game' * ends}." if target else ""
        return (
            f"You play 2048 on a board of {rows} rows and {columns} columns, where . is empty. A "
            "move slides all tiles up, down, left or right as far as they go, and two equal tiles "
            "that meet merge into their sum. It must change the board; then a new tile appears. "
            f"The game is over when no move is legal.{goal} Score as much as you can. {END}"
        )

    @property
    def legal_moves(self) -> tuple[str, ...]:
        """Names of the legal moves, or nothing when the game is over."""
        return tuple(map(str, self.game.legal_directions()))

    @property
    def is_over(self) -> bool:
        """Whether the episode is over."""
        return self.game.is_over or self._is_given_up or self.game.ply >= self._max_moves

    @property
    def observation(self) -> str:
        """The current board in the requested format."""
        return observed(self.game, self._observation)

    def step(self, answer: str) -> TextStep:
        """Play a model's answer.

        Raises:
            GameOverError: If the episode is over.
        """
        if self.is_over:
            raise GameOverError("the episode is over: start another game")
        board, score = self.game.board, self.game.score
        try:
            direction = read_move(answer)
            is_legal = self.game.attempt(direction)
            message = "" if is_legal else f"{direction} changes nothing on this board."
        except DirectionError as error:
            is_legal, message = False, f"{error}."
        self._refused = 0 if is_legal else self._refused + 1
        gained = self.game.score - score
        if self._reward == "largest":
            reward = math.log2(self.game.board.max_tile / board.max_tile)
        elif self._values is None:
            reward = gained
        else:
            reward = self._negative_regret(board, direction if is_legal else None, gained)
        more = self._ending() or ("" if is_legal else self._retry_prompt())
        message = " ".join(filter(None, (message, more)))
        return TextStep(self.observation, reward, self.is_over, is_legal, message)

    def record(self) -> Record:
        """Return a record of the game so far, which ``py2048 verify`` can check.

        The seed would give away the next tiles, so the record includes it only when the episode is
        over.
        """
        record = self.game.record()
        return record if self.is_over else replace(record, seed=None)

    @property
    def _is_given_up(self) -> bool:
        return self._refused > self._retries

    def _ending(self) -> str:
        """Return how the episode ended, or an empty string."""
        result = f"{self.game.score} points, largest tile {self.game.board.max_tile}."
        if self.game.is_over:
            return f"The game is over: {result}"
        if self._is_given_up:
            return f"No retries are left: {result}"
        return f"That was the last move: {result}" if self.is_over else ""

    def _retry_prompt(self) -> str:
        tries = self._retries - self._refused + 1
        return f"Legal moves: {', '.join(self.legal_moves)}. Tries left: {tries}. {END}"

    def _negative_regret(self, board: Board, direction: Direction | None, gained: float) -> float:
        """Return the negative regret of a move.

        A player who gives up loses the best move's whole value.
        """
        assert self._values is not None
        values = self._values(board)
        best = max(values.values())
        if direction is not None:
            return values[direction] - best
        return gained - (best if self._is_given_up else 0.0)


def observed(game: Game, form: str) -> str:
    """Return the board of a game in one of the formats in `OBSERVATIONS`."""
    legal = [str(direction) for direction in game.legal_directions()]
    if form == "json":
        rows = [list(row) for row in game.board.rows]
        fields = {"board": rows, "score": game.score, "moves": game.ply, "legal": legal}
        return json.dumps(fields | {"over": game.is_over})
    if form == "image":
        return f"data:image/png;base64,{base64.b64encode(picture(game)).decode()}"
    return f"score {game.score}, move {game.ply}\n{game.board}\nlegal: {', '.join(legal) or 'none'}"


def picture(game: Game) -> bytes:
    """Return the board of a game as PNG data."""
    import numpy as np

    from py2048.envs.rendering import picture_of

    exponents = [[max(0, tile.bit_length() - 1) for tile in row] for row in game.board.rows]
    data = io.BytesIO()
    picture_of(np.array(exponents, np.uint8), game.score).save(data, "PNG")
    return data.getvalue()


def _exact_values(
    rules: Rules, solution: str | Path
) -> Callable[[Board], Mapping[Direction, float]]:
    """Return a function that computes the exact values of a board's moves."""
    from py2048.players.perfect import PerfectPlayer
    from py2048.review.judges import ExactJudge

    return ExactJudge(PerfectPlayer(file=str(solution)).solution(rules), rules).rate
