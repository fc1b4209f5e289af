"""Numba and its modules, imported when they are needed and as fast as that goes."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, Protocol, TypeGuard

PRIVATE_CHANGED = AttributeError, ImportError, TypeError
"""What is raised where a part of Numba that it does not document is gone or has changed."""


Example = Callable[[], tuple[object, ...]]
"""Returns arguments of a kernel."""


class Kernel(Protocol):
    """What we know of a kernel: it is a dispatcher of Numba, or a plain function in plain mode."""

    py_func: FunctionType
    targetoptions: dict[str, object]
    warm_forms: tuple[str | Example, ...]
    _cache: object

    def compile(self, form: object, /) -> object:
        """Compile for the types of arguments; return the compiled function."""


def is_kernel(value: object) -> TypeGuard[Kernel]:
    """Return whether `value` was declared by `py2048.compiled.jit.kernel`."""
    return hasattr(value, "warm_forms")


def numba_module(module: str = "") -> Any:
    """Return Numba or a module of it, untyped, imported now and not with this file."""
    if "numba" not in sys.modules:
        with collections_put_off():
            importlib.import_module("numba")
    return importlib.import_module(f"numba{module}")


@contextmanager
def collections_put_off() -> Iterator[None]:
    """Look for no garbage meanwhile, and then count all objects among the old ones.

    Numba makes some 100,000 objects that stay. The collector would go through them again and
    again, the last time through all there are, for a fifth of the time that the import takes.
    Old objects are looked at by the next full collection, as always.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # There and back again: nothing stays frozen. What someone else froze is left alone.
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        if was_enabled:
            gc.enable()
