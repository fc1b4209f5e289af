"""New arrays in old memory: what nobody holds any more is handed out again.

An agent's arrays are new at each step. Fresh memory costs ten times as much as what is written to
it, because the system hands it out page by page, so memory is taken again from arrays that are
gone: from those to which the recycler holds the only reference.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

KEPT = 4
"""So many arrays wait to be used again; an agent holds two or three at a time."""

COUNTS_REFERENCES = sys.implementation.name == "cpython"


class Recycler:
    """Hands out arrays of one shape and type, never one that is still in use.

    Only views of them may be given away: a view keeps what it looks at in use.

    Args:
        shape: the shape.
        dtype: the type of the elements.
    """

    def __init__(self, shape: int | tuple[int, ...], dtype: Any) -> None:
        self._shape, self._dtype = shape, np.dtype(dtype)
        self._kept: list[NDArray[Any]] = [np.empty(0)]
        self._alone = self._references(0)
        self._kept.clear()

    def take(self) -> NDArray[Any]:
        """Return an array with any content."""
        for number in range(len(self._kept)):
            if COUNTS_REFERENCES and self._references(number) == self._alone:
                return self._kept[number]
        array = np.empty(self._shape, self._dtype)
        self._kept = [*self._kept[1 - KEPT :], array]
        return array

    def _references(self, number: int) -> int:
        return sys.getrefcount(self._kept[number])

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the arrays out of copies."""
        return Recycler, (self._shape, self._dtype)
