"""Tasks for verifiers v1, each of which is one game of 2048. Requires the extra ``verifiers``.

The verifiers library imports plugins only from top-level modules, so the id ``py2048-verifiers``
names a small module that re-exports this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from py2048.core import rng
from py2048.core.errors import extra_for
from py2048.envs.text import TextGame

with extra_for("the task set", "verifiers"):
    import verifiers.v1 as vf

__all__ = ["GameEnv", "GameTaskset"]


class GameConfig(vf.TasksetConfig):
    """Arguments for `TextGame`, the number of games, and the seed of the series."""

    rules: str = "classic"
    seed: int = 0
    games: int = 100
    observation: str = "text"
    reward: str = "points"
    retries: int = 3
    max_moves: int | None = None
    solution: str = ""


class GameData(vf.TaskData):
    """The `TextGame` arguments of one task."""

    game: dict[str, Any]


class GameTask(vf.Task[GameData]):
    """A task: one game."""


class GameTaskset(vf.Taskset[GameTask, GameConfig]):
    """A series of games."""

    def load(self) -> Iterator[GameTask]:
        """Yield a task for each game, with its instructions and first board."""
        config = self.config
        names = ("rules", "observation", "reward", "retries", "max_moves", "solution")
        shared = {name: getattr(config, name) for name in names}
        for number in range(config.games):
            arguments = shared | {"seed": rng.derive_seed(config.seed, number)}
            game = TextGame(**arguments)
            yield GameTask(
                GameData(
                    name=f"{game.rules.name}#{number}",
                    system_prompt=game.instructions,
                    prompt=_message("", game.observation),
                    game=arguments,
                ),
                config.task,
            )


class GameEnvConfig(vf.EnvConfig):
    """Settings of the player. By default, a model only answers prompts and needs no sandbox."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime=vf.SubprocessConfig())


class GameEnv(vf.Env[GameEnvConfig]):
    """Plays a game with a model. The trace contains the reward, the metrics and the record."""

    async def run(self, task: GameTask, agents: Any) -> None:
        """Play a game until it ends or the model stops answering."""
        game, total = TextGame(**task.data.game, player=agents.player.config.model or ""), 0.0
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                step = game.step(segment.last_reply)
                total += step.reward
                if step.is_over:
                    break
                segment = await interaction.turn(_message(step.message, step.observation))
        trace, played = interaction.trace, game.game
        trace.record_reward(task.data.game["reward"], total)
        trace.record_metrics(
            {"score": played.score, "tile": played.board.max_tile, "moves": played.ply}
        )
        trace.info["record"] = game.record().to_json()


def _message(text: str, observation: str) -> list[Any]:
    """Return a message from the user, with the observation as text or as an image."""
    if not observation.startswith("data:"):
        return [vf.UserMessage(content="\n\n".join(filter(None, (text, observation))))]
    parts: list[Any] = [vf.TextContentPart(text=text)] if text else []
    source = vf.ImageUrlSource(url=observation)
    return [vf.UserMessage(content=[*parts, vf.ImageUrlContentPart(image_url=source)])]
