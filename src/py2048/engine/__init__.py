"""The compiled board layer: rules as arrays, boards and their operations, batches, rollouts.

It is the only part that knows how a board lies in memory, and holds the one door to Numba.
"""

from __future__ import annotations
