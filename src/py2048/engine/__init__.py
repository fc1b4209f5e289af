"""Boards: the readable reference, the compiled single-board kernels, the compiled batch."""

from __future__ import annotations

from py2048.engine.board import Board, Cell, Motion, Slide
from py2048.engine.direction import Direction

__all__ = ["Board", "Cell", "Direction", "Motion", "Slide"]
