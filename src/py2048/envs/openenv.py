"""2048 as an OpenEnv environment, played by what a model writes; needs the extra ``openenv``.

``uvicorn py2048.envs.openenv:app`` serves it; each connection plays games of its own.
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
"""How many connections may play at once."""


class Answer(Action):
    """What the model has written, such as ``<move>left</move>``."""

    answer: str


class Reply(Observation):
    """The board after an answer.

    Attributes:
        observation: the board, as text, JSON or the ``data:`` URL of a picture.
        message: the instructions at the start; then why an answer was not a legal move.
        legal_moves: the moves that change the board.
        is_legal: whether the answer was a legal move.
        score: the points so far.
        largest_tile: the largest tile.
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
        rules: the rules.
        seed: its seed.
        record: its record, which ``py2048 verify`` checks.
    """

    rules: str
    seed: int
    record: str


class TextEnvironment(Environment):
    """One connection's games."""

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
        """Start a game; the arguments are those of `TextGame`."""
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
        """Play what the model has written."""
        step = self._game.step(action.answer)
        return self._board(step.message, is_legal=step.is_legal, reward=step.reward)

    @property
    def state(self) -> Progress:
        """The game so far."""
        game = self._game.game
        return Progress(
            episode_id=self._episode,
            step_count=game.ply,
            rules=str(game.rules),
            seed=game.seed,
            record=game.record().to_json(),
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Return what the environment is."""
        about = "2048 under any rules, rewarded by points, the largest tile or exact regret"
        return EnvironmentMetadata(name="py2048", description=about)

    def _board(self, message: str, *, is_legal: bool = True, reward: float | None = None) -> Reply:
        spoken, game = self._game, self._game.game
        return Reply(
            observation=spoken.observation,
            message=message,
            legal_moves=list(spoken.legal_moves),
            is_legal=is_legal,
            score=game.score,
            largest_tile=game.board.max_tile,
            reward=reward,
            done=spoken.is_over,
        )


app: Any = create_app(
    TextEnvironment,
    Answer,
    Reply,
    env_name="py2048",
    max_concurrent_envs=SESSIONS,
    state_cls=Progress,
)
