"""Commands for training, measuring and solving."""

from __future__ import annotations
