"""What 2048 is, in plain Python: rules, boards, games, records, errors."""

from __future__ import annotations
