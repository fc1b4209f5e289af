"""Import modules of the repository that are not part of the package."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


def module_of(folder: str, name: str) -> Callable[..., Any]:
    """Return a fixture that imports a module from its folder on demand."""

    @pytest.fixture
    def found(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
        monkeypatch.syspath_prepend(str(ROOT / folder))
        return import_module(name)

    return found
