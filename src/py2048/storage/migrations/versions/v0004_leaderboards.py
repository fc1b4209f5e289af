"""Leaderboards that do not read all games, and indexes for what is looked for now and then."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_Time = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")
_Period = sa.String(16).with_variant(sa.String(16, collation="C"), "postgresql")
_IS_OVER, _IS_OVER_SQLITE = sa.text("is_over"), sa.text("is_over = 1")

# The best of each player among the games that `{condition}` names; a later equal one is no better.
_BEST = """
INSERT INTO leaders (period, category, rules, owner, score, finished, record)
SELECT :period, category, rules, owner, score, finished, id FROM (
    SELECT records.id, category, rules, records.owner, score, finished, row_number() OVER (
        PARTITION BY category, rules, records.owner ORDER BY score DESC, finished, records.id
    ) AS place
    FROM records JOIN accounts ON accounts.id = records.owner
    WHERE accounts.name IS NOT NULL AND finished >= :since
) AS ranked WHERE place = 1
"""
_DAILY = """
INSERT INTO leaders (period, category, rules, owner, score, finished, record)
SELECT rounds.day, category, rules, records.owner, score, finished, records.id
FROM rounds JOIN records ON records.id = rounds.game_id JOIN accounts ON accounts.id = records.owner
WHERE accounts.name IS NOT NULL AND rounds.day IS NOT NULL
"""


def upgrade() -> None:
    """Create the table with what is known, and change the indexes."""
    op.drop_index("games_by_owner", "games")
    op.create_index("games_by_owner", "games", ["owner"])
    op.create_index("games_by_start", "games", ["started"])
    op.create_index(
        "games_over", "games", ["started"],
        sqlite_where=_IS_OVER_SQLITE, postgresql_where=_IS_OVER,
    )  # fmt: skip
    op.create_index("records_by_career", "records", ["owner", "rules", "category"])
    _create_leaders()
    _fill_leaders()


def _create_leaders() -> None:
    op.create_table(
        "leaders",
        sa.Column("period", _Period, primary_key=True),
        sa.Column("category", sa.Text, primary_key=True),
        sa.Column("rules", sa.Text, primary_key=True),
        sa.Column("owner", sa.String(32), primary_key=True),
        sa.Column("score", sa.BigInteger, nullable=False),
        sa.Column("finished", _Time, nullable=False),
        sa.Column("record", sa.String(32), nullable=False),
    )
    op.create_index(
        "leaders_by_score",
        "leaders",
        ["period", "category", "rules", sa.desc("score"), "finished", "record"],
    )
    op.create_index("leaders_by_owner", "leaders", ["owner"])


def _fill_leaders() -> None:
    today = datetime.now(UTC).date()
    monday = today - timedelta(days=today.weekday())
    for period, since in (
        ("ever", ""),
        (f"day {today}", f"{today}"),
        (f"week {monday}", f"{monday}"),
    ):
        op.execute(sa.text(_BEST).bindparams(period=period, since=since))
    op.execute(sa.text(_DAILY))
