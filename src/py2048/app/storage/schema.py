"""The database tables, which `migration` creates."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

REVISION = "0012"  # schema version, stored in each database

metadata = sa.MetaData()
json_text = json.JSONEncoder(allow_nan=False).encode


class Json(sa.TypeDecorator[object]):
    """A JSON value stored as text, so that SQLite and PostgreSQL accept the same values."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> str:  # noqa: ARG002
        """Serialise the value, rejecting NaN and infinity, which JSON lacks."""
        return json_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> object:  # noqa: ARG002
        """Parse the value."""
        return json.loads(value or "null")


# Fixed-width text, which sorts chronologically. With the "C" collation, PostgreSQL compares bytes
# like SQLite.
_Time = sa.String(27).with_variant(sa.String(27, collation="C"), "postgresql")
_Period = sa.String(16).with_variant(sa.String(16, collation="C"), "postgresql")


def _table(name: str, *items: sa.schema.SchemaItem, **options: Any) -> sa.Table:
    return sa.Table(name, metadata, *items, **options)


def _key(kind: Any, *names: str) -> list[sa.Column[Any]]:
    """Create columns of the primary key."""
    return [sa.Column(name, kind, primary_key=True) for name in names]


def _required(kind: Any, *names: str) -> list[sa.Column[Any]]:
    """Create columns that are not nullable."""
    return [sa.Column(name, kind, nullable=False) for name in names]


def _optional(kind: Any, *names: str) -> list[sa.Column[Any]]:
    """Create columns that are nullable."""
    return [sa.Column(name, kind) for name in names]


games = _table(
    "games",
    sa.Column("id", sa.String(32), primary_key=True),
    *_required(sa.Text, "owner", "rules"),
    sa.Column("seed", sa.Text),  # Decimal text, because a seed may exceed 64 bits.
    *_required(sa.Text, "start", "player"),
    *_required(_Time, "started", "updated"),
    # Rows in `turns` whose ply is `length` or higher are obsolete and will be overwritten.
    *_required(sa.Integer, "length", "position"),
    sa.Column("score", sa.BigInteger, nullable=False),
    sa.Column("is_over", sa.Boolean, nullable=False),
    *_required(sa.Integer, "revision", "undos", "hints"),
    sa.Column("extra", Json, nullable=False),
    # Moves change no indexed column, so PostgreSQL can leave the indexes untouched.
    sa.Index("games_by_owner", "owner"),
    sa.Index("games_by_start", "started"),
)

# SQLite uses a partial index only if a query repeats the index's condition literally. The index is
# created with raw SQL, because SQLAlchemy's `Index` would need the PostgreSQL dialect, whose import
# would delay every start.
for _dialect, _is_over in {"sqlite": "is_over = 1", "postgresql": "is_over"}.items():
    _index = sa.DDL(  # type: ignore[no-untyped-call]
        f"CREATE INDEX games_over ON games (started) WHERE {_is_over}"
    )
    sa.event.listen(games, "after_create", _index.execute_if(dialect=_dialect))

turns = _table(
    "turns",
    sa.Column(
        "game_id", sa.String(32), sa.ForeignKey("games.id", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("ply", sa.Integer, primary_key=True),
    sa.Column("code", sa.Text, nullable=False),
    sa.Column("millis", sa.BigInteger),
    sqlite_with_rowid=False,
)

records = _table(
    "records",
    sa.Column("id", sa.String(32), primary_key=True),
    *_required(sa.Text, "owner", "rules", "player", "category"),
    *_required(_Time, "started", "finished"),
    *_required(sa.BigInteger, "score", "max_tile"),
    sa.Column("plies", sa.Integer, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    # Long texts come last, so that SQLite can read the columns before them without loading the
    # texts.
    sa.Column("record", sa.Text, nullable=False),
    sa.Column("continued", sa.Boolean),  # Whether best scores exclude the record.
    sa.Index("records_by_owner", "owner", "finished"),
    sa.Index("records_by_score", "owner", "rules", "category", "score"),
    sa.Index("records_by_time", "owner", "rules", "category", "finished"),
)

# Totals of all records with the same largest tile and the same rounded score.
summaries = _table(
    "summaries",
    *_key(sa.Text, "owner", "rules", "category"),
    *_key(sa.BigInteger, "max_tile", "rounded"),
    *_required(sa.BigInteger, "games", "score", "plies"),
    sqlite_with_rowid=False,
)

# Each player's shortest time to each tile, in games without help.
milestones = _table(
    "milestones",
    *_key(sa.Text, "owner", "rules"),
    *_key(sa.BigInteger, "tile"),
    *_required(sa.BigInteger, "millis", "moves"),
    sa.Column("game_id", sa.String(32), nullable=False),
    sa.Index("milestones_by_time", "rules", "tile", "millis"),
    sqlite_with_rowid=False,
)

settings = _table(
    "settings",
    *_key(sa.Text, "owner", "key"),
    sa.Column("value", Json, nullable=False),
)

# Accounts. Guests have no name and no password. `name_key` is the normalised name.
accounts = _table(
    "accounts",
    sa.Column("id", sa.String(32), primary_key=True),
    *_optional(sa.Text, "name", "name_key", "password"),  # the password's argon2 hash
    sa.Column("generation", sa.Integer, nullable=False),
    sa.Column("created", _Time, nullable=False),
    sa.Index("accounts_by_name", "name_key", unique=True),
)

# Server data about games, which is kept when a game becomes a record.
rounds = _table(
    "rounds",
    sa.Column("game_id", sa.String(32), primary_key=True),
    sa.Column("owner", sa.String(32), nullable=False),
    sa.Column("mode", sa.Text, nullable=False),
    sa.Column("day", sa.String(10)),  # For daily games only. A player has one per day.
    sa.Column("secret", sa.Text, nullable=False),
    sa.Column("streak", sa.Integer),  # Consecutive days with a finished daily game.
    sa.Column("offline", sa.Boolean),  # Whether a browser chose some of the tiles.
    sa.Index("rounds_by_day", "owner", "day", unique=True),
    sa.Index("rounds_of_day", "day"),
    sa.Index("rounds_by_streak", "owner", "streak"),
)

# Additional data of named accounts. If the account belongs to a program, `bot_of` is its owner's
# account.
names = _table(
    "names",
    sa.Column("account", sa.String(32), primary_key=True),
    sa.Column("looks", sa.Text),  # equal for lookalike names
    sa.Column("bot_of", sa.String(32)),
    sa.Index("names_by_looks", "looks", unique=True),
    sa.Index("names_by_person", "bot_of"),
)

# Codes that replace a lost password. Each code can be used once.
recovery_codes = _table(
    "recovery_codes",
    sa.Column("owner", sa.String(32), primary_key=True),
    sa.Column("code", sa.String(64), primary_key=True),  # SHA-256 of the code
    sa.Column("created", _Time, nullable=False),
)

# Login sessions. Only hashes of the tokens are stored.
sessions = _table(
    "sessions",
    sa.Column("id", sa.String(64), primary_key=True),  # SHA-256 of the token
    sa.Column("owner", sa.String(32), nullable=False),
    sa.Column("label", sa.Text, nullable=False),
    *_required(_Time, "created", "seen"),
    sa.Index("sessions_by_owner", "owner"),
)

# Battles of several players, which are kept when accounts are deleted.
battles = _table(
    "battles",
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("rules", sa.Text, nullable=False),
    sa.Column("minutes", sa.Integer, nullable=False),
    sa.Column("secret", sa.Text, nullable=False),
    sa.Column("created", _Time, nullable=False),
    *_optional(_Time, "starts", "ends"),  # null until the battle starts
    sa.Column("is_settled", sa.Boolean, nullable=False),
    sa.Column("rematch", sa.String(32)),
    sa.Index("battles_by_state", "is_settled", "created"),
)

battle_players = _table(
    "battle_players",
    sa.Column("battle_id", sa.String(32), primary_key=True),
    sa.Column("seat", sa.Integer, primary_key=True),
    *_optional(sa.String(32), "account", "game_id"),  # null if the account was deleted
    sa.Column("has_left", sa.Boolean, nullable=False),
    # Final result, set when the battle ends or the player leaves.
    *_optional(sa.BigInteger, "score", "max_tile"),
    sa.Column("plies", sa.Integer),
    sa.Index("battle_players_by_account", "battle_id", "account", unique=True),
    sa.Index("battle_players_of", "account"),
    sa.Index("battle_players_by_game", "game_id"),
)

# Secrets that determine the tiles of daily challenges.
days = _table(
    "days",
    sa.Column("day", sa.String(10), primary_key=True),
    sa.Column("secret", sa.Text, nullable=False),
)

# The best game of each named account per period (see `records.Leaderboards`).
leaders = _table(
    "leaders",
    sa.Column("period", _Period, primary_key=True),
    *_key(sa.Text, "category", "rules"),
    sa.Column("owner", sa.String(32), primary_key=True),
    sa.Column("score", sa.BigInteger, nullable=False),
    sa.Column("finished", _Time, nullable=False),
    sa.Column("record", sa.String(32), nullable=False),
    sa.Column("think_ms", sa.BigInteger),  # total thinking time; programs only
    sa.Index(
        "leaders_by_score",
        *("period", "category", "rules"),
        sa.desc("score"),
        *("finished", "record"),
    ),
    sa.Index("leaders_by_owner", "owner"),
)

# Mistakes to practise. Symmetric positions share a row; see `session.notebook`.
mistakes = _table(
    "mistakes",
    *_key(sa.Text, "owner", "rules", "position"),
    sa.Column("board", sa.Text, nullable=False),
    sa.Column("score", sa.BigInteger, nullable=False),
    sa.Column("game", sa.String(64), nullable=False),  # Digest of the game before the mistake.
    sa.Column("played", sa.Text, nullable=False),
    sa.Column("moves", Json, nullable=False),  # value of each legal direction
    *_required(sa.Text, "unit", "source", "theme"),
    sa.Column("box", sa.Integer, nullable=False),
    sa.Column("due", _Time, nullable=False),
    *_required(sa.Integer, "tries", "successes"),
    sa.Index("mistakes_by_time", "owner", "due"),
)

# Each player's first answer to each puzzle. `answered` is the time of the player's last answer.
puzzle_answers = _table(
    "puzzle_answers",
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("puzzle", sa.Integer, primary_key=True),
    sa.Column("answered", _Time, nullable=False),
    sa.Column("is_solved", sa.Boolean, nullable=False),
    *_required(sa.Float, "rating", "deviation"),
    sa.Index("puzzle_answers_by_time", "owner", "answered"),
)

# Ratings of the puzzles that were answered.
puzzle_ratings = _table(
    "puzzle_ratings",
    sa.Column("puzzle", sa.Integer, primary_key=True, autoincrement=False),
    *_required(sa.Float, "rating", "deviation"),
)

# Reviews of finished games, and requests for reviews.
reviews = _table(
    "reviews",
    sa.Column("game_id", sa.String(32), primary_key=True),
    *_required(sa.Text, "owner", "version"),  # the reviewer's version
    sa.Column("asked", _Time, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),  # identifies the current claim
    sa.Column("claimed", _Time),
    sa.Column("done", sa.Integer, nullable=False),
    sa.Column("finished", _Time),
    sa.Column("fault", sa.Text),
    *_required(Json, "summary", "moves"),
    sa.Index("reviews_in_line", "finished", "asked"),
    sa.Index("reviews_by_owner", "owner"),
)

OWNED_TABLES = tuple(table for table in metadata.sorted_tables if "owner" in table.c)

# The table for the schema version is kept out of `metadata`, so that backups do not include it.
version = sa.Table(
    "py2048_schema",
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="py2048_schema_pkc"),
)
