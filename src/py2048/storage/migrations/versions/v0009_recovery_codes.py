"""Several recovery codes for each account; names that look alike by Unicode's own table."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from py2048.storage.look_alikes import looks_of
from py2048.storage.values import utc_now

revision = "0009"
down_revision = "0008"

_Time = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")
_names = sa.table("names", sa.column("account"), sa.column("looks"), sa.column("recovery"))


def upgrade() -> None:
    """Create the table with the codes that are there, and compare all names anew."""
    codes = op.create_table(
        "recovery_codes",
        sa.Column("owner", sa.String(32), primary_key=True),
        sa.Column("code", sa.String(64), primary_key=True),
        sa.Column("created", _Time, nullable=False),
    )
    query = sa.select(_names.c.account, _names.c.recovery).where(_names.c.recovery.is_not(None))
    now = utc_now()
    rows = [
        {"owner": account, "code": code, "created": now}
        for account, code in op.get_bind().execute(query)
    ]
    op.bulk_insert(codes, rows)
    op.drop_column("names", "recovery")
    _compare_names()


def _compare_names() -> None:
    """Of names that look alike the oldest account's stands for all; the others stay names."""
    connection = op.get_bind()
    accounts = sa.table("accounts", sa.column("id"), sa.column("name"), sa.column("created"))
    query = sa.select(accounts.c.id, accounts.c.name).where(accounts.c.name.is_not(None))
    looks: dict[str, str] = {}
    for account, name in connection.execute(query.order_by(accounts.c.created, accounts.c.id)):
        looks.setdefault(looks_of(name), account)
    connection.execute(sa.update(_names).values(looks=None))
    change = sa.update(_names).where(_names.c.account == sa.bindparam("owner"))
    rows = [{"owner": account, "seen": seen} for seen, account in looks.items()]
    if rows:
        connection.execute(change.values(looks=sa.bindparam("seen")), rows)
