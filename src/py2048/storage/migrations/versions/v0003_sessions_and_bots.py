"""Sessions that can be ended, names that look alike, programs' accounts, secrets of the days."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from py2048.storage.look_alikes import looks_of

revision = "0003"
down_revision = "0002"

_Time = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables, and enter the names that are there."""
    names = op.create_table(
        "names",
        sa.Column("account", sa.String(32), primary_key=True),
        sa.Column("looks", sa.Text),
        sa.Column("recovery", sa.Text),
        sa.Column("bot_of", sa.String(32)),
    )
    op.create_index("names_by_looks", "names", ["looks"], unique=True)
    op.create_index("names_by_person", "names", ["bot_of"])
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("owner", sa.String(32), nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("created", _Time, nullable=False),
        sa.Column("seen", _Time, nullable=False),
    )
    op.create_index("sessions_by_owner", "sessions", ["owner"])
    op.create_table(
        "days",
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("secret", sa.Text, nullable=False),
    )
    _enter_names(names)


def _enter_names(names: sa.Table) -> None:
    """Enter each name; of those that look alike the oldest account's stands for all."""
    accounts = sa.table("accounts", sa.column("id"), sa.column("name"), sa.column("created"))
    query = sa.select(accounts.c.id, accounts.c.name).where(accounts.c.name.is_not(None))
    taken: set[str] = set()
    rows = []
    for account, name in op.get_bind().execute(query.order_by(accounts.c.created)):
        looks = looks_of(name)
        rows.append({"account": account, "looks": None if looks in taken else looks})
        taken.add(looks)
    op.bulk_insert(names, rows)
