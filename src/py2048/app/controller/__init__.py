"""The controller and its helpers, shared by the terminal and the desktop window."""

from __future__ import annotations
