"""Commands for playing, records, reviews and practice."""

from __future__ import annotations
