"""Who follows whom, battles, and seasons of leaderboards."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_Time = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")

# The best of each player in each quarter; a later equal one is no better.
_SEASONS = """
INSERT INTO leaders (period, category, rules, owner, score, finished, record)
SELECT season, category, rules, owner, score, finished, id FROM (
    SELECT season, id, category, rules, owner, score, finished, row_number() OVER (
        PARTITION BY season, category, rules, owner ORDER BY score DESC, finished, id
    ) AS place
    FROM (
        SELECT records.*, 'season ' || substr(finished, 1, 4) || CASE
            WHEN substr(finished, 6, 2) < '04' THEN '-Q1'
            WHEN substr(finished, 6, 2) < '07' THEN '-Q2'
            WHEN substr(finished, 6, 2) < '10' THEN '-Q3'
            ELSE '-Q4' END AS season
        FROM records JOIN accounts ON accounts.id = records.owner
        WHERE accounts.name IS NOT NULL
    ) AS named
) AS ranked WHERE place = 1
"""


def upgrade() -> None:
    """Create the tables, and fill the seasons with what is known."""
    op.create_table(
        "follows",
        sa.Column("owner", sa.String(32), primary_key=True),
        sa.Column("followed", sa.String(32), primary_key=True),
        sa.Column("since", _Time, nullable=False),
    )
    op.create_index("follows_by_followed", "follows", ["followed"])
    op.create_table(
        "battles",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("rules", sa.Text, nullable=False),
        sa.Column("minutes", sa.Integer, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("created", _Time, nullable=False),
        sa.Column("starts", _Time),
        sa.Column("ends", _Time),
        sa.Column("is_settled", sa.Boolean, nullable=False),
        sa.Column("rematch", sa.String(32)),
    )
    op.create_index("battles_by_state", "battles", ["is_settled", "created"])
    op.create_table(
        "battle_players",
        sa.Column("battle_id", sa.String(32), primary_key=True),
        sa.Column("seat", sa.Integer, primary_key=True),
        sa.Column("account", sa.String(32)),
        sa.Column("game_id", sa.String(32)),
        sa.Column("has_left", sa.Boolean, nullable=False),
        sa.Column("score", sa.BigInteger),
        sa.Column("max_tile", sa.BigInteger),
        sa.Column("plies", sa.Integer),
    )
    op.create_index(
        "battle_players_by_account", "battle_players", ["battle_id", "account"], unique=True
    )
    op.create_index("battle_players_of", "battle_players", ["account"])
    op.create_index("battle_players_by_game", "battle_players", ["game_id"])
    op.execute(sa.text(_SEASONS))
