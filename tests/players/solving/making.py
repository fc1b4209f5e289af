"""Access to the script that builds the bundled best moves."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "scripts"))

import make_best_moves as maker

__all__ = ["maker"]
