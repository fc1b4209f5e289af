"""Learning: n-tuple networks trained by temporal differences, and their checkpoints."""

from __future__ import annotations

from py2048.learning.campaign import Campaign, Goals, Point, Status
from py2048.learning.checkpoint import load_checkpoint, save_checkpoint
from py2048.learning.plan import Plan, plan_from
from py2048.learning.trainer import Tally, Trainer, evaluate

__all__ = [
    "Campaign",
    "Goals",
    "Plan",
    "Point",
    "Status",
    "Tally",
    "Trainer",
    "evaluate",
    "load_checkpoint",
    "plan_from",
    "save_checkpoint",
]
