"""Games in progress with their turns, finished records, best scores, settings.

Migrations only add, and there is no way down: a database never loses what it holds.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_Time = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")


def upgrade() -> None:
    """Create the first tables."""
    _create_games()
    _create_records()
    _create_bests_and_settings()


def _create_games() -> None:
    op.create_table(
        "games",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("rules", sa.Text, nullable=False),
        sa.Column("seed", sa.Text),
        sa.Column("start", sa.Text, nullable=False),
        sa.Column("player", sa.Text, nullable=False),
        sa.Column("started", _Time, nullable=False),
        sa.Column("updated", _Time, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("score", sa.BigInteger, nullable=False),
        sa.Column("is_over", sa.Boolean, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("undos", sa.Integer, nullable=False),
        sa.Column("hints", sa.Integer, nullable=False),
        sa.Column("extra", sa.Text, nullable=False),
    )
    op.create_index("games_by_owner", "games", ["owner", "updated"])
    op.create_table(
        "turns",
        sa.Column(
            "game_id",
            sa.String(32),
            sa.ForeignKey("games.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("ply", sa.Integer, primary_key=True),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("millis", sa.BigInteger),
        sqlite_with_rowid=False,
    )


def _create_records() -> None:
    op.create_table(
        "records",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("rules", sa.Text, nullable=False),
        sa.Column("player", sa.Text, nullable=False),
        sa.Column("category", sa.Text, nullable=False),
        sa.Column("started", _Time, nullable=False),
        sa.Column("finished", _Time, nullable=False),
        sa.Column("score", sa.BigInteger, nullable=False),
        sa.Column("max_tile", sa.BigInteger, nullable=False),
        sa.Column("plies", sa.Integer, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
    )
    op.create_index("records_by_score", "records", ["rules", "category", "score"])
    op.create_index("records_by_time", "records", ["rules", "category", "finished"])
    op.create_index("records_by_owner", "records", ["owner", "finished"])


def _create_bests_and_settings() -> None:
    op.create_table(
        "bests",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("rules", sa.Text, primary_key=True),
        sa.Column("category", sa.Text, primary_key=True),
        sa.Column("score", sa.BigInteger, nullable=False),
        sa.Column("reached", _Time, nullable=False),
    )
    op.create_table(
        "settings",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
