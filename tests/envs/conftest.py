"""The environments need Gymnasium; without the extra `rl` there is nothing here to test."""

from __future__ import annotations

import pytest

pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install py2048[rl]")
