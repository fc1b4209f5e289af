"""How the problems of COMP1127 are checked; the problems themselves stand in ``tasks.py``."""

from __future__ import annotations
