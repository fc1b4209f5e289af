"""The game of 2048 in plain Python: rules, boards, games, records and exceptions."""

from __future__ import annotations
