"""Upper bounds for all data that grows while a server runs.

This module defines the maximum size of every cache, room, buffer, history and table. A comment
above each bound says what is limited, which class or module enforces the bound, and what happens
when it is reached. The table in ``docs/reference/limits-and-alerts.md`` is generated from these
comments.
"""

from __future__ import annotations

# Connections

# keys of a rate limit | limits.TokenBuckets | the oldest starts anew
MAX_KEYS = 20_000
# parsed addresses | middleware | the oldest is dropped
MAX_NETWORKS = 4096
# messages that wait for a browser | rooms.Client | the browser is disconnected
MAX_QUEUED_FRAMES = 256
# characters of these messages | rooms.Client | the browser is disconnected
MAX_QUEUED_BYTES = 1_000_000
# verified tokens of programs | auth.Authenticator | the oldest is dropped
MAX_TOKENS = 10_000

# Games

# messages of a game that wait for the store | rooms.Room | the browser is disconnected
MAX_WAITING_FRAMES = 1024
# games that a program plays at the same time | rooms.Rooms | further ones are rejected
MAX_GAMES = 32
# open games of all programs | rooms.Rooms | further ones are rejected
MAX_KEPT_ROOMS = 2000
# games of which `/live` shows those in progress | rooms.Rooms | the oldest is dropped
MAX_LIVE = 40
# games in unsent notices | changes.GameNotices | the oldest is dropped
MAX_NOTICES = 20_000
# games that failed the verification | games.GameService | the oldest is dropped
MAX_UNCOUNTED = 1000
# actions in a game | games.OnlineGame | the game ends
MAX_ACTIONS = 1_000_000
# games in progress of an account | games.GameService | further ones are rejected
MAX_OPEN_GAMES = 100

# Workers

# bytes of memory | workers.Worker | the worker is replaced
MAX_WORKER_BYTES = 2 << 30
# computer players in a worker | hints | the oldest is dropped
MAX_PLAYERS = 16
# replays and score graphs in a worker | site.games | the oldest is dropped
MAX_REPLAYS = 16
# pictures of results in a worker | site.games | the oldest is dropped
MAX_PICTURES = 256
# last boards of games in a worker | site.pages | the oldest is dropped
MAX_BOARDS = 1024
# waiting reviews | reviews.ReviewQueue | further ones are rejected
MAX_PENDING = 200

# Pages

# rendered lists, and as many plots | site.pages.Site | the oldest is dropped
MAX_TEMPLATES = 256
# compressed files | assets | the oldest is dropped
MAX_COMPRESSED = 256
# descriptions of rules | messages | the oldest is dropped
MAX_RULES = 256

# The store

# programs of a person | accounts.Accounts | further ones are rejected
MAX_BOTS = 5
# login sessions of an account | accounts.Sessions | the oldest is dropped
MAX_SESSIONS = 50
# recovery codes of an account | accounts.Accounts | all are replaced together
CODES = 8
# finished reviews | reviews.Reviews | the oldest is dropped
MAX_REVIEWS = 5000

BOUNDS = {name: value for name, value in globals().items() if isinstance(value, int)}
"""All bounds by name."""
