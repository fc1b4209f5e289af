"""CMPUT 175's 2048: the classes `Grid` and `Game`, played in the terminal.

`game` is the reference solution, `tests` the document's checks of it.
"""

from __future__ import annotations
