"""IST's 2048: the coordinate and board data types and a game in the terminal.

`adt` is the reference solution, in one file as the document asks.
"""

from __future__ import annotations
