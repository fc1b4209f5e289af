"""The CMPUT 175 assignment: 2048 in the terminal, as the classes `Grid` and `Game`.

`game` is the reference solution, `tests` the document's tests.
"""

from __future__ import annotations
