"""The daily challenge: equal moves get equal tiles, and nobody can predict them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from inside import Visitor, record_of

from py2048 import Game, get_rules
from py2048.app.storage import Account, NewOnlineGame, OnlineGameInfo, SavedGame
from py2048.core.errors import RecordError
from py2048.core.fairness import check_fair, commitment_of, draws_of
from py2048.core.game.turn import start_from
from py2048.server.app import Server
from py2048.server.play.games import GameService, OnlineGame
from py2048.server.schema import ActionRejected

CLASSIC = get_rules("classic")


def played(games: GameService, day: str, *, secret: str, seed: int | None = None) -> OnlineGame:
    """Return a saved daily game that was played to its end."""
    draws = draws_of(secret) if secret else None
    start = Game(CLASSIC, seed=seed, draws=draws).start
    saved = SavedGame(rules=str(CLASSIC), seed=seed, start=str(start), player="Ada", owner="ada")
    info = OnlineGameInfo(saved.id, "ada", "daily", day, secret)
    assert games.store.online.begin(NewOnlineGame(saved, info))
    game = games.load(saved.id)
    while not game.is_over:
        legal = game.session.game.legal_directions()
        game.move(game.version + 1, legal[game.version % len(legal)])
    assert games.store.changes.write([game.tracked.take_change()]) == set()
    return game


def test_the_date_tells_nothing(games: GameService) -> None:
    """Tiles cannot be derived from the date, and two servers deal different ones."""
    today = datetime.now(UTC).date()
    game, other = games.begin_game("ada", "", "daily"), games.begin_game("bob", "", "daily")
    assert game.session.game.start == other.session.game.start
    for secret in (game.info.secret, other.info.secret):
        assert secret == games.store.online.find_day_secret(today.isoformat())
        assert not secret.endswith(commitment_of(secret))
    starts = {start_from(CLASSIC, draws_of(f"daily-{n:064x}")) for n in range(40)}
    assert len(starts) > 20


def test_the_secret_of_a_day_is_kept_until_after_it(games: GameService) -> None:
    """Neither a finished game nor the export reveals the secret, and others cannot see the game."""
    today = datetime.now(UTC).date().isoformat()
    secret = games.store.online.day_secret(today, f"daily-{1:064x}")
    game = played(games, today, secret=secret)
    assert games.finish(game.id) == "daily"
    assert game.is_over
    assert game.secret is games.load(game.id).secret is None
    assert game.commitment == commitment_of(secret)
    assert games.challenge(today) == (commitment_of(secret), None)
    assert secret not in str(games.export("ada"))
    games.check_visible(game.id, "ada")
    with pytest.raises(ActionRejected) as refused:
        games.check_visible(game.id, "bob")
    assert refused.value.reason == "sealed"


def test_the_secret_is_known_afterwards_and_proves_the_game(games: GameService) -> None:
    """Two days later the secret is shown and only it verifies the record, which is assisted."""
    day = (datetime.now(UTC).date() - timedelta(days=2)).isoformat()
    secret = games.store.online.day_secret(day, f"daily-{2:064x}")
    game = played(games, day, secret=secret)
    assert games.finish(game.id) == "assisted"
    found = record_of(games, game.id)
    check_fair(found[1], game.secret or "", game.commitment)
    games.check_visible(game.id, "bob")
    assert games.challenge(day) == (commitment_of(secret), secret)
    assert games.challenge("2020-01-01") == (None, None)
    for other in (f"daily-{3:064x}", secret.removeprefix("daily-")):
        with pytest.raises(RecordError):
            check_fair(found[1], other)


async def test_guests_of_an_address_begin_few_games_of_a_day(server: Server) -> None:
    """New daily games are limited per address; games in progress can be continued."""
    guests = [Visitor(server, address="::a") for _ in range(11)]
    answers = [await guest.new(mode="daily") for guest in guests]
    assert [answer["type"] for answer in answers] == ["state"] * 10 + ["refused"]
    assert answers[-1]["reason"] == "busy"
    begun = await Visitor(server, guests[0].account, address="::a").new(mode="daily")
    assert begun["game"] == answers[0]["game"]
    known = Account("f" * 32, "Ada", "hash", 0, "2026-01-01")
    elsewhere = Visitor(server, address="::b"), Visitor(server, known, address="::a")
    for visitor in elsewhere:
        assert (await visitor.new(mode="daily"))["type"] == "state"
