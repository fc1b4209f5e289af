"""The tables; `migration` makes them."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

REVISION = "0010"
"""Names these tables: a store says by it what it holds."""

metadata = sa.MetaData()
json_text = json.JSONEncoder(allow_nan=False).encode
"""Writes a JSON value as the tables hold it: NaN and infinity are none."""


class Json(sa.TypeDecorator[object]):
    """Any JSON value, kept as text, so that both databases take and refuse the same."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> str:  # noqa: ARG002
        """Write the value, which must be JSON."""
        return json_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> object:  # noqa: ARG002
        """Read the value back."""
        return json.loads(value or "null")


# Texts of one width that sort as times. The "C" collation makes PostgreSQL compare bytes,
# as SQLite does.
_Time = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")
_Period = sa.String(16).with_variant(sa.String(16, collation="C"), "postgresql")


def _given(kind: Any, *names: str) -> list[sa.Column[Any]]:
    """Return columns of one kind that are never empty."""
    return [sa.Column(name, kind, nullable=False) for name in names]


games = sa.Table(
    "games",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    *_given(sa.Text, "owner", "rules"),
    sa.Column("seed", sa.Text),  # decimal digits: a seed may exceed 64 bits
    *_given(sa.Text, "start", "player"),
    *_given(_Time, "started", "updated"),
    # Turns from `length` on are leftovers of a line that was cut; the next turn overwrites them.
    *_given(sa.Integer, "length", "position"),
    sa.Column("score", sa.BigInteger, nullable=False),
    sa.Column("is_over", sa.Boolean, nullable=False),
    *_given(sa.Integer, "revision", "undos", "hints"),
    sa.Column("extra", Json, nullable=False),
    # A move changes no column of an index: PostgreSQL then leaves all of them as they are.
    sa.Index("games_by_owner", "owner"),
    sa.Index("games_by_start", "started"),
)

# SQLite uses a partial index where a query has the same words. An `Index` with a condition for
# PostgreSQL would load all that SQLAlchemy knows of it, before a terminal's first picture.
for _dialect, _is_over in {"sqlite": "is_over = 1", "postgresql": "is_over"}.items():
    _index = sa.DDL(  # type: ignore[no-untyped-call]  # SQLAlchemy's own
        f"CREATE INDEX games_over ON games (started) WHERE {_is_over}"
    )
    sa.event.listen(games, "after_create", _index.execute_if(dialect=_dialect))

turns = sa.Table(
    "turns",
    metadata,
    sa.Column(
        "game_id", sa.String(32), sa.ForeignKey("games.id", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("ply", sa.Integer, primary_key=True),
    sa.Column("code", sa.Text, nullable=False),
    sa.Column("millis", sa.BigInteger),
    sqlite_with_rowid=False,
)

records = sa.Table(
    "records",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    *_given(sa.Text, "owner", "rules", "player", "category"),
    *_given(_Time, "started", "finished"),
    *_given(sa.BigInteger, "score", "max_tile"),
    sa.Column("plies", sa.Integer, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    # The long text is last, so that SQLite lists summaries without reading it.
    sa.Column("record", sa.Text, nullable=False),
    sa.Index("records_by_score", "rules", "category", "score"),
    sa.Index("records_by_time", "rules", "category", "finished"),
    sa.Index("records_by_owner", "owner", "finished"),
    sa.Index("records_by_career", "owner", "rules", "category"),
)

bests = sa.Table(
    "bests",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("rules", sa.Text, primary_key=True),
    sa.Column("category", sa.Text, primary_key=True),
    sa.Column("score", sa.BigInteger, nullable=False),
    sa.Column("reached", _Time, nullable=False),
)

settings = sa.Table(
    "settings",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", Json, nullable=False),
)

accounts = sa.Table(
    "accounts",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("name", sa.Text),  # none for a guest
    sa.Column("name_key", sa.Text),  # the name with case and width taken away: it is unique
    sa.Column("password", sa.Text),  # an argon2 hash
    sa.Column("generation", sa.Integer, nullable=False),
    sa.Column("created", _Time, nullable=False),
    sa.Index("accounts_by_name", "name_key", unique=True),
)

# What a game on the server has besides; it stays when the game becomes a record.
rounds = sa.Table(
    "rounds",
    metadata,
    sa.Column("game_id", sa.String(32), primary_key=True),
    sa.Column("owner", sa.String(32), nullable=False),
    sa.Column("mode", sa.Text, nullable=False),
    sa.Column("day", sa.String(10)),  # of a daily game: a player has one a day
    sa.Column("secret", sa.Text, nullable=False),
    sa.Index("rounds_by_day", "owner", "day", unique=True),
    sa.Index("rounds_of_day", "day"),
)

# What an account with a name has besides.
names = sa.Table(
    "names",
    metadata,
    sa.Column("account", sa.String(32), primary_key=True),
    sa.Column("looks", sa.Text),  # what the name shares with those that look like it
    sa.Column("bot_of", sa.String(32)),  # of a program's account: the person who answers for it
    sa.Index("names_by_looks", "looks", unique=True),
    sa.Index("names_by_person", "bot_of"),
)

# What replaces a lost password. Each code works once.
recovery_codes = sa.Table(
    "recovery_codes",
    metadata,
    sa.Column("owner", sa.String(32), primary_key=True),
    sa.Column("code", sa.String(64), primary_key=True),  # the SHA-256 of the code
    sa.Column("created", _Time, nullable=False),
)

# Who is signed in where. The token itself is known to the browser, or to the program, alone.
sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),  # the SHA-256 of the token
    sa.Column("owner", sa.String(32), nullable=False),
    sa.Column("label", sa.Text, nullable=False),
    *_given(_Time, "created", "seen"),
    sa.Index("sessions_by_owner", "owner"),
)

# Battles: games of several players with one secret. They stay when accounts are deleted.
battles = sa.Table(
    "battles",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("rules", sa.Text, nullable=False),
    sa.Column("minutes", sa.Integer, nullable=False),
    sa.Column("secret", sa.Text, nullable=False),
    sa.Column("created", _Time, nullable=False),
    sa.Column("starts", _Time),  # none while players gather
    sa.Column("ends", _Time),
    sa.Column("is_settled", sa.Boolean, nullable=False),
    sa.Column("rematch", sa.String(32)),
    sa.Index("battles_by_state", "is_settled", "created"),
)

battle_players = sa.Table(
    "battle_players",
    metadata,
    sa.Column("battle_id", sa.String(32), primary_key=True),
    sa.Column("seat", sa.Integer, primary_key=True),
    sa.Column("account", sa.String(32)),  # none when it was deleted
    sa.Column("game_id", sa.String(32)),
    sa.Column("has_left", sa.Boolean, nullable=False),
    # How the game stood when the battle was over, or when the player left.
    sa.Column("score", sa.BigInteger),
    sa.Column("max_tile", sa.BigInteger),
    sa.Column("plies", sa.Integer),
    sa.Index("battle_players_by_account", "battle_id", "account", unique=True),
    sa.Index("battle_players_of", "account"),
    sa.Index("battle_players_by_game", "game_id"),
)

# What the draws of each daily challenge come from.
days = sa.Table(
    "days",
    metadata,
    sa.Column("day", sa.String(10), primary_key=True),
    sa.Column("secret", sa.Text, nullable=False),
)

# The best game of each account with a name, by period: see `leaderboards`.
leaders = sa.Table(
    "leaders",
    metadata,
    sa.Column("period", _Period, primary_key=True),
    sa.Column("category", sa.Text, primary_key=True),
    sa.Column("rules", sa.Text, primary_key=True),
    sa.Column("owner", sa.String(32), primary_key=True),
    sa.Column("score", sa.BigInteger, nullable=False),
    sa.Column("finished", _Time, nullable=False),
    sa.Column("record", sa.String(32), nullable=False),
    sa.Column("think_ms", sa.BigInteger),  # of all moves together, where it counts: for programs
    sa.Index(
        "leaders_by_score",
        *("period", "category", "rules"),
        sa.desc("score"),
        *("finished", "record"),
    ),
    sa.Index("leaders_by_owner", "owner"),
)

# Mistakes to practise. A position and its symmetric images are one: see `session.notebook`.
mistakes = sa.Table(
    "mistakes",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("rules", sa.Text, primary_key=True),
    sa.Column("position", sa.Text, primary_key=True),
    sa.Column("board", sa.Text, nullable=False),
    sa.Column("score", sa.BigInteger, nullable=False),
    sa.Column("game", sa.String(64), nullable=False),  # a digest of the game up to the move
    sa.Column("played", sa.Text, nullable=False),
    sa.Column("moves", Json, nullable=False),  # what each legal direction is worth
    *_given(sa.Text, "unit", "source", "theme"),
    sa.Column("box", sa.Integer, nullable=False),
    sa.Column("due", _Time, nullable=False),
    *_given(sa.Integer, "tries", "successes"),
    sa.Index("mistakes_by_time", "owner", "due"),
)

# The first answer to each puzzle, and the rating that it led to.
puzzle_answers = sa.Table(
    "puzzle_answers",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("puzzle", sa.Integer, primary_key=True),
    sa.Column("answered", _Time, nullable=False),
    sa.Column("is_solved", sa.Boolean, nullable=False),
    *_given(sa.Float, "rating", "deviation"),
    sa.Index("puzzle_answers_by_time", "owner", "answered"),
)

# The reviews of finished games, and the requests for them.
reviews = sa.Table(
    "reviews",
    metadata,
    sa.Column("game_id", sa.String(32), primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),  # whose game it is
    sa.Column("version", sa.Text, nullable=False),  # of who reviews
    sa.Column("asked", _Time, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),  # a claim on the review is a number of these
    sa.Column("claimed", _Time),  # when the claim was last renewed
    sa.Column("done", sa.Integer, nullable=False),
    sa.Column("finished", _Time),
    sa.Column("fault", sa.Text),
    *_given(Json, "summary", "moves"),
    sa.Index("reviews_in_line", "finished", "asked"),
    sa.Index("reviews_by_owner", "owner"),
)

OWNED = tuple(table for table in metadata.sorted_tables if "owner" in table.c)
"""The tables whose rows belong to an account."""

# Which `REVISION` the tables are of. Not part of `metadata`, whose tables are backed up.
version = sa.Table(
    "py2048_schema",
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="py2048_schema_pkc"),
)
