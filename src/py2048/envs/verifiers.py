"""2048 as a task set of verifiers v1, a seed a task; it needs the extra ``verifiers``.

Its id is ``py2048-verifiers``: verifiers imports plugins by the name of a top-level module, which
gives what is here.
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
    """Which games are played, by the arguments of `TextGame`; game `i` has its own seed."""

    rules: str = "classic"
    seed: int = 0
    games: int = 100
    observation: str = "text"
    reward: str = "points"
    retries: int = 3
    max_moves: int | None = None
    solution: str = ""


class GameData(vf.TaskData):
    """A game that is to be played: the arguments of its `TextGame`."""

    game: dict[str, Any]


class GameTask(vf.Task[GameData]):
    """A game."""


class GameTaskset(vf.Taskset[GameTask, GameConfig]):
    """The games of a series."""

    def load(self) -> Iterator[GameTask]:
        """Yield each game with its instructions and its first board."""
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
    """Who plays: by default a model that only answers, for which no sandbox is needed."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime=vf.SubprocessConfig())


class GameEnv(vf.Env[GameEnvConfig]):
    """Plays a game with a model; the trace has the reward, metrics and the verified record."""

    async def run(self, task: GameTask, agents: Any) -> None:
        """Play one game to its end, or as long as the model answers."""
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
    """Return a user's turn; a board that is a picture is sent as one."""
    if not observation.startswith("data:"):
        return [vf.UserMessage(content="\n\n".join(filter(None, (text, observation))))]
    parts: list[Any] = [vf.TextContentPart(text=text)] if text else []
    source = vf.ImageUrlSource(url=observation)
    return [vf.UserMessage(content=[*parts, vf.ImageUrlContentPart(image_url=source)])]
