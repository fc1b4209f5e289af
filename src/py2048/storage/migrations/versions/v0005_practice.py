"""Mistakes to practise, and answers to puzzles."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_Time = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "mistakes",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("rules", sa.Text, primary_key=True),
        sa.Column("position", sa.Text, primary_key=True),
        sa.Column("board", sa.Text, nullable=False),
        sa.Column("score", sa.BigInteger, nullable=False),
        sa.Column("game", sa.String(64), nullable=False),
        sa.Column("played", sa.Text, nullable=False),
        sa.Column("moves", sa.Text, nullable=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("theme", sa.Text, nullable=False),
        sa.Column("box", sa.Integer, nullable=False),
        sa.Column("due", _Time, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("successes", sa.Integer, nullable=False),
    )
    op.create_index("mistakes_by_time", "mistakes", ["owner", "due"])
    op.create_table(
        "puzzle_answers",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("puzzle", sa.Integer, primary_key=True),
        sa.Column("answered", _Time, nullable=False),
        sa.Column("is_solved", sa.Boolean, nullable=False),
        sa.Column("rating", sa.Float, nullable=False),
        sa.Column("deviation", sa.Float, nullable=False),
    )
    op.create_index("puzzle_answers_by_time", "puzzle_answers", ["owner", "answered"])
