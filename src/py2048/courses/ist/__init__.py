"""IST's 2048: the data types coordinate and board, and a game in the terminal.

`adt` is the reference solution, in a single file as the document demands.
"""

from __future__ import annotations
