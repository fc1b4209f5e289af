"""Reviews of finished games."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_Time = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "reviews",
        sa.Column("game_id", sa.String(32), primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("asked", _Time, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("claimed", _Time),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("finished", _Time),
        sa.Column("fault", sa.Text),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("moves", sa.Text, nullable=False),
    )
    op.create_index("reviews_in_line", "reviews", ["finished", "asked"])
    op.create_index("reviews_by_owner", "reviews", ["owner"])
