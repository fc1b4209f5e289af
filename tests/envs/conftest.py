"""Skip the environments' tests unless Gymnasium is installed."""

from __future__ import annotations

import pytest

pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install py2048[rl]")
