"""Runs on several machines, by Ray (extra ``cluster``). Everything about Ray is in here."""

from __future__ import annotations

from py2048.cluster.ray_pool import RayPool

__all__ = ["RayPool"]
