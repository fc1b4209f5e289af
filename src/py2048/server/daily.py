"""The daily challenge: when its secret, and with it its games, may be known.

Who plays the same meets the same tiles, so a game that is seen can be copied; and whoever knows the
secret can plan. Both are kept until nobody can begin or finish an honest game of the day any more.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from py2048.server.fairness import commitment_of, is_sealed, revelation_of
from py2048.server.table import RefusedError

if TYPE_CHECKING:
    from py2048.storage import Store


def challenge(store: Store, day: str) -> tuple[str | None, str | None]:
    """Return the commitment to a day's secret, and the secret once it may be known.

    Both are None where nobody has played, or where the date was the seed.
    """
    secret = store.find_day_secret(day)
    if secret is None:
        return None, None
    return commitment_of(secret), secret if datetime.now(UTC) >= revelation_of(day) else None


def check_shown(store: Store, game_id: str, account_id: str) -> None:
    """Refuse to show a daily game to others before the secret of its day is known.

    Raises:
        RefusedError: reason ``sealed``.
    """
    round_ = store.find_round(game_id)
    if round_ is not None and round_.owner != account_id and is_sealed(round_):
        since = revelation_of(round_.day or "").date().isoformat()
        raise RefusedError("sealed", f"games of this challenge are shown from {since} on (UTC)")
