"""Accounts of the web server, and the rounds they play: what a public game needs besides."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_Time = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables of the web server."""
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("name", sa.Text),
        sa.Column("name_key", sa.Text),
        sa.Column("password", sa.Text),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("created", _Time, nullable=False),
    )
    op.create_index("accounts_by_name", "accounts", ["name_key"], unique=True)
    op.create_table(
        "rounds",
        sa.Column("game_id", sa.String(32), primary_key=True),
        sa.Column("owner", sa.String(32), nullable=False),
        sa.Column("mode", sa.Text, nullable=False),
        sa.Column("day", sa.String(10)),
        sa.Column("secret", sa.Text, nullable=False),
    )
    op.create_index("rounds_by_day", "rounds", ["owner", "day"], unique=True)
    op.create_index("rounds_of_day", "rounds", ["day"])
