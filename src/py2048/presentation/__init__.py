"""What every screen shares: themes, sentences, autoplay, background work. Draws nothing."""

from __future__ import annotations
