"""The tables of the first py2048, from which every older store was migrated."""

from __future__ import annotations

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.engine import Connection

from py2048.storage import schema

_Time = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")


def make_first_tables(connection: Connection) -> None:
    """Make the tables of revision 0001."""
    op = Operations(MigrationContext.configure(connection))
    _create_games(op)
    _create_records(op)
    _create_bests_and_settings(op)
    schema.version.create(connection)
    connection.execute(sa.insert(schema.version), {"version_num": "0001"})


def _create_games(op: Operations) -> None:
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


def _create_records(op: Operations) -> None:
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


def _create_bests_and_settings(op: Operations) -> None:
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
