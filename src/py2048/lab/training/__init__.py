"""Training: temporal-difference learning of networks and of their bands, from games and boards."""

from __future__ import annotations
