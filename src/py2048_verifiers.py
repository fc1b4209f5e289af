"""The task set of py2048 under a name by which verifiers finds it: ``py2048-verifiers``."""

from __future__ import annotations

from py2048.envs.verifiers import GameEnv, GameTaskset

__all__ = ["GameEnv", "GameTaskset"]
