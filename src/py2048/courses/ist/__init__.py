"""The IST project: the data types coordinate and board, and a game in the terminal.

`adt` is the reference solution. The document demands a single file.
"""

from __future__ import annotations
