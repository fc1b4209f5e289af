"""What terminal and window share: the controller and its helpers."""

from __future__ import annotations
