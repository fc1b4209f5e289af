"""The CMPUT 175 assignment: 2048 in the terminal, with the classes `Grid` and `Game`.

`game` is the reference solution. `tests` contains the tests from the document.
"""

from __future__ import annotations
