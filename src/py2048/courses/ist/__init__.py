"""The IST project: data types for coordinates and boards, and a game in the terminal.

`adt` is the reference solution. The document demands a single file.
"""

from __future__ import annotations
