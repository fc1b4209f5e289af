"""Wording, themes and drawing shared by the terminal, the window and the web."""

from __future__ import annotations
