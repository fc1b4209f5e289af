"""One player's game: session, storage, controller, and the terminal and desktop screens."""

from __future__ import annotations
