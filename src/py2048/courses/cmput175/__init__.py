"""The CMPUT 175 assignment: 2048 in the terminal, with the classes `Grid` and `Game`.

`game` is the reference solution, and `tests` contains the tests from the assignment.
"""

from __future__ import annotations
