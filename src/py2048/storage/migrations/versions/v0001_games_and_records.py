"""Games in progress with their turns, finished records, best scores, settings.

A new store is made at once, so nothing runs this: it is where older stores begin. Migrations only
add, and there is no way down: a database never loses what it holds.
"""

from __future__ import annotations

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Do nothing: the tables of this revision are in every store that has one."""
