"""Upper bounds for all data that grows while a server runs.

This module defines the maximum size of every cache, room, buffer, history and table. The page
``docs/reference/limits-and-alerts.md`` lists all bounds.
"""

from __future__ import annotations


class Bound(int):
    """A maximum number.

    Attributes:
        what: What the number limits.
        owner: Name of the class or module that enforces the bound.
        full: What happens when the bound is reached.
    """

    what: str
    owner: str
    full: str

    def __new__(cls, most: int, what: str, owner: str, full: str) -> Bound:
        """Create a bound."""
        self = super().__new__(cls, most)
        self.what, self.owner, self.full = what, owner, full
        return self

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        """Pickle only the number, because worker processes do not need the description."""
        return int, (int(self),)


_DROPPED, _REJECTED = "the oldest is dropped", "further ones are rejected"
_SLOW = "the browser is disconnected"

# Connections

MAX_KEYS = Bound(20_000, "keys of a rate limit", "limits.TokenBuckets", "the oldest starts anew")
MAX_NETWORKS = Bound(4096, "parsed addresses", "middleware", _DROPPED)
MAX_QUEUED_FRAMES = Bound(256, "messages that wait for a browser", "rooms.Client", _SLOW)
MAX_QUEUED_BYTES = Bound(1_000_000, "characters of these messages", "rooms.Client", _SLOW)
MAX_TOKENS = Bound(10_000, "verified tokens of programs", "auth.Authenticator", _DROPPED)

# Games

MAX_WAITING_FRAMES = Bound(1024, "messages of a game that wait for the store", "rooms.Room", _SLOW)
MAX_GAMES = Bound(32, "games that a program plays at the same time", "rooms.Rooms", _REJECTED)
MAX_KEPT_ROOMS = Bound(2000, "open games of all programs", "rooms.Rooms", _REJECTED)
MAX_LIVE = Bound(40, "games of which `/live` shows those in progress", "rooms.Rooms", _DROPPED)
MAX_NOTICES = Bound(20_000, "games in unsent notices", "changes.GameNotices", _DROPPED)
MAX_UNCOUNTED = Bound(1000, "games that failed the verification", "games.GameService", _DROPPED)
MAX_ACTIONS = Bound(1_000_000, "actions in a game", "games.OnlineGame", "the game ends")
MAX_OPEN_GAMES = Bound(100, "games in progress of an account", "games.GameService", _REJECTED)

# Workers

MAX_WORKER_BYTES = Bound(2 << 30, "bytes of memory", "workers.Worker", "the worker is replaced")
MAX_PLAYERS = Bound(16, "computer players in a worker", "hints", _DROPPED)
MAX_REPLAYS = Bound(16, "replays and score graphs in a worker", "site.games", _DROPPED)
MAX_PICTURES = Bound(256, "pictures of results in a worker", "site.games", _DROPPED)
MAX_BOARDS = Bound(1024, "last boards of games in a worker", "site.pages", _DROPPED)
MAX_PENDING = Bound(200, "waiting reviews", "reviews.ReviewQueue", _REJECTED)

# Pages

MAX_TEMPLATES = Bound(256, "rendered lists, and as many plots", "site.pages.Site", _DROPPED)
MAX_COMPRESSED = Bound(256, "compressed files", "assets", _DROPPED)
MAX_RULES = Bound(256, "descriptions of rules", "messages", _DROPPED)

# The store

MAX_BOTS = Bound(5, "programs of a person", "accounts.Accounts", _REJECTED)
MAX_SESSIONS = Bound(50, "login sessions of an account", "accounts.Sessions", _DROPPED)
CODES = Bound(8, "recovery codes of an account", "accounts.Accounts", "all are replaced together")
MAX_REVIEWS = Bound(5000, "finished reviews", "reviews.Reviews", _DROPPED)

BOUNDS = {name: value for name, value in globals().items() if isinstance(value, Bound)}
"""All bounds by name."""
