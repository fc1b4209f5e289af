"""Learning: n-tuple networks trained by temporal differences, and their checkpoints."""

from __future__ import annotations

from py2048.learning.checkpoint import load_checkpoint, save_checkpoint
from py2048.learning.plan import Plan, plan_from
from py2048.learning.trainer import Tally, Trainer

__all__ = ["Plan", "Tally", "Trainer", "load_checkpoint", "plan_from", "save_checkpoint"]
