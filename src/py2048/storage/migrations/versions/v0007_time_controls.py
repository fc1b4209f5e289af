"""The time controls of programs' games."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the table; the games of programs that are there have no limit."""
    op.create_table(
        "bot_games",
        sa.Column("game_id", sa.String(32), primary_key=True),
        sa.Column("owner", sa.String(32), nullable=False),
        sa.Column("control", sa.Text, nullable=False),
    )
    op.create_index("bot_games_by_owner", "bot_games", ["owner"])
