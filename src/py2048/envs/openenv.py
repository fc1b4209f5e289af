"""2048 as an OpenEnv environment for language models; requires the extra ``openenv``.

``uvicorn py2048.envs.openenv:app`` serves the environment. Each connection plays its own games.
"""

from __future__ import annotations

from typing import Any

from py2048.core.errors import extra_for
from py2048.envs.text import TextGame

with extra_for("the OpenEnv server", "openenv"):
    from openenv.core.env_server import (
        Action,
        Environment,
        Observation,
        State,
        create_app,
    )
    from openenv.core.env_server.types import EnvironmentMetadata

SESSIONS = 256
"""Maximum number of simultaneous connections."""


class Answer(Action):
    """The model's output, such as ``<move>left</move>``."""

    answer: str


class Reply(Observation):
    """The board after an answer.

    Attributes:
        observation: The board as text, as JSON, or as a ``data:`` URL of an image.
        message: Instructions at the start of a game, and later the reason why an answer was
            rejected.
        legal_moves: Names of the legal moves.
        is_legal: Whether the answer was a legal move.
        score: Points so far.
        largest_tile: Largest tile on the board.
    """

    observation: str
    message: str
    legal_moves: list[str]
    is_legal: bool
    score: int
    largest_tile: int


class Progress(State):
    """The game so far.

    Attributes:
        rules: Rules of the game.
        seed: Seed of the game, which is revealed when the game is over.
        record: Record of the game, which ``py2048 verify`` can check.
    """

    rules: str
    seed: int | None
    record: str


class TextEnvironment(Environment):
    """The games of one connection."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._game, self._episode = TextGame(), ""

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        rules: str = "classic",
        observation: str = "text",
        reward: str = "points",
        retries: int = 3,
        max_moves: int | None = None,
    ) -> Reply:
        """Start a game. The arguments are those of `TextGame`."""
        self._game = TextGame(
            rules,
            seed=seed,
            observation=observation,
            reward=reward,
            retries=retries,
            max_moves=max_moves,
            player="OpenEnv",
        )
        self._episode = episode_id or f"{self._game.game.seed}"
        return self._board(self._game.instructions)

    def step(self, action: Answer, timeout_s: float | None = None) -> Reply:  # noqa: ARG002
        """Play the model's answer."""
        step = self._game.step(action.answer)
        return self._board(step.message, is_legal=step.is_legal, reward=step.reward)

    @property
    def state(self) -> Progress:
        """The game so far."""
        record = self._game.record()
        return Progress(
            episode_id=self._episode,
            step_count=record.plies,
            rules=str(record.rules),
            seed=record.seed,
            record=record.to_json(),
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Describe the environment."""
        about = "2048 under any rules, rewarded by points, the largest tile or exact regret"
        return EnvironmentMetadata(name="py2048", description=about)

    def _board(self, message: str, *, is_legal: bool = True, reward: float | None = None) -> Reply:
        text_game, game = self._game, self._game.game
        return Reply(
            observation=text_game.observation,
            message=message,
            legal_moves=list(text_game.legal_moves),
            is_legal=is_legal,
            score=game.score,
            largest_tile=game.board.max_tile,
            reward=reward,
            done=text_game.is_over,
        )


app: Any = create_app(
    TextEnvironment,
    Answer,
    Reply,
    env_name="py2048",
    max_concurrent_envs=SESSIONS,
    state_cls=Progress,
)
