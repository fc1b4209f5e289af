"""Training, tournaments and benchmarks, with their commands."""

from __future__ import annotations
