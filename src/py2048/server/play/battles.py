"""Battles: two to eight players start together on the same tiles and play for a few minutes.

All games of a battle draw their tiles from the same secret, as daily games do, so the same moves
get the same tiles. Battles do not count on any leaderboard, because players see each other's
boards. When the time is up, each game ends in its current position and is saved as a record.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from py2048.app.storage import AccountError, NewOnlineGame, OnlineGameInfo, RecordSummary, SavedGame
from py2048.app.storage.values import Battle, BattlePlayer, utc_now, utc_text
from py2048.core import fairness
from py2048.core.errors import Py2048Error, StaleGameError, StorageError
from py2048.core.game.turn import start_from
from py2048.core.language import _, number
from py2048.core.rules import Rules
from py2048.server import schema
from py2048.server.admission import SERVER
from py2048.server.play.games import GameService, OnlineGame, checked_rules, dealt, guest_name
from py2048.server.play.messages import rejection, rules_info
from py2048.server.play.rooms import Client, Rooms
from py2048.server.schema import BATTLE, ActionRejected, checked_game_id

_POLL_S = 0.5

MIN_PLAYERS, MAX_PLAYERS = 2, 8
MINUTES = (1, 3, 5, 10, 20)
COUNTDOWN = timedelta(seconds=5)
GRACE = timedelta(seconds=1)  # Extra time to save moves that were made in time.

_MAX_ATTEMPTS = 5  # Ending a game is retried if another move is saved first.
_MAX_UNSTARTED_AGE = timedelta(days=1)

_Live = Mapping[str, OnlineGame]
"""Maps ids to open games. They may be newer than the stored games."""

_Standings = tuple[str, str | None, list[schema.BattlePlayerInfo]]
_Audience = dict[Client, _Standings | None]
"""Maps each client that follows a battle to the standings it received last."""


def stage_of(battle: Battle) -> str:
    """Return the stage of a battle: gathering, running or over."""
    if battle.starts is None:
        return "gathering"
    return "over" if battle.is_settled else "running"


def find(games: GameService, battle_id: str) -> Battle:
    """Return a battle.

    Raises:
        ActionRejected: If the battle does not exist (``unknown_game``).
    """
    found = games.store.battles.find(checked_game_id(battle_id))
    if found is None:
        raise ActionRejected("unknown_game", _("there is no such battle"))
    return found


def path_of(battle_id: str) -> str:
    """Return the URL path of a battle's page."""
    return f"/battle/{battle_id}"


# Before the start


def offer(games: GameService, account: str, rules: str, minutes: str) -> str:
    """Create a battle with the account in its first seat, and return the battle's path.

    Raises:
        ActionRejected: If battles do not allow the rules or the length.
    """
    if minutes not in map(str, MINUTES):
        some, given = ", ".join(map(str, MINUTES)), repr(minutes[:20])
        text = _("a battle lasts {some} minutes, not {minutes}")
        raise ActionRejected("rules", text.format(some=some, minutes=given))
    battle_id, secret = secrets.token_hex(8), fairness.new_secret(fairness.BATTLE)
    wanted = checked_rules(rules)
    dealt(wanted, secret)  # raises if no move is possible
    games.store.battles.create(battle_id, account, str(wanted), int(minutes), secret)
    return path_of(battle_id)


def join(games: GameService, battle_id: str, account: str) -> str:
    """Take a seat in a battle, and return the battle's path.

    Raises:
        AccountError: If no seat is free.
    """
    games.store.battles.join(battle_id, account, most=MAX_PLAYERS)
    return path_of(battle_id)


def start(games: GameService, battle_id: str, account: str) -> str:
    """Start a battle with a countdown. Only the player in the lowest seat can start the battle.

    Returns:
        The URL path of the player's board, or of the battle if it has already started.

    Raises:
        AccountError: If the account is not in the lowest seat, or the battle has too few players.
        StaleGameError: If a player has joined or left in the meantime.
    """
    battle = find(games, battle_id)
    if battle.starts is not None:
        return path_of(battle_id)
    if not battle.players or battle.players[0].account != account:
        raise AccountError(_("only the player who joined first can start the battle"))
    if len(battle.players) < MIN_PLAYERS:
        raise AccountError(_("a battle needs at least two players: share the link"))
    starts = datetime.now(UTC) + COUNTDOWN
    ends = starts + timedelta(minutes=battle.minutes)
    new = {each.seat: _dealt(battle, each) for each in battle.players}
    try:
        games.store.battles.start(battle, new, utc_text(starts), utc_text(ends))
    except StaleGameError:
        if find(games, battle_id).starts is None:
            raise
        return path_of(battle_id)  # the player clicked twice
    return f"/?game={new[battle.players[0].seat].id}"


def _dealt(battle: Battle, player: BattlePlayer) -> NewOnlineGame:
    owner = player.account or ""
    start = start_from(Rules.parse(battle.rules), fairness.draws_of(battle.secret))
    called = player.name or guest_name(owner)
    saved = SavedGame(rules=battle.rules, seed=None, start=str(start), owner=owner, player=called)
    info = OnlineGameInfo(saved.id, owner, BATTLE, None, battle.secret, player.name)
    return NewOnlineGame(saved, info)


# Leaving, settling and rematches


def leave(games: GameService, battle_id: str, account: str) -> str:
    """Give up a seat. If the battle has started, the player's game ends in its current position.

    Returns:
        The battle's path, or the path of the form for new battles if no player is left.

    Raises:
        StaleGameError: If every attempt to end the game fails because another move was saved first.
    """
    if find(games, battle_id).starts is None:
        games.store.battles.leave(battle_id, account)
    battle = games.store.battles.find(battle_id)  # it may have started meanwhile
    if battle is None:
        return "/battle"
    player = battle.seat_of(account)
    if player is not None and player.score is None:
        attempts = (_stop(games, battle_id, player, has_left=True) for _ in range(_MAX_ATTEMPTS))
        if not any(attempts):
            raise StaleGameError(_("a move was still being saved: try again"))
    return path_of(battle_id)


def settle(games: GameService, battle_id: str) -> Battle:
    """Save final scores if the time is up or all games are over. Return the updated battle.

    Raises:
        ActionRejected: If the battle does not exist (``unknown_game``).
    """
    battle = find(games, battle_id)
    if battle.ends is None or battle.is_settled:
        return battle
    is_up = utc_now() >= utc_text(datetime.fromisoformat(battle.ends) + GRACE)
    pending = [each for each in battle.players if each.score is None and each.game_id]
    records = games.store.records
    if not is_up and not all(records.summary(each.game_id or "") for each in pending):
        return battle
    stopped = [_stop(games, battle.id, each, has_left=False) for each in pending]
    if all(stopped):
        games.store.battles.settle(battle.id)
    return find(games, battle.id)


def _stop(games: GameService, battle_id: str, player: BattlePlayer, *, has_left: bool) -> bool:
    """End a game in its current position and store its result; return whether this succeeded."""
    game_id = player.game_id or ""
    try:
        games.finish(game_id, is_stopped=True)
    except StorageError:
        raise
    except Py2048Error:
        return True  # A game that cannot be verified has no score.
    found = games.store.records.summary(game_id)
    if found is None:
        return games.store.online.open_game(game_id) is None
    stand = {"score": found.score, "max_tile": found.max_tile, "plies": found.plies}
    games.store.battles.note(battle_id, player.seat, has_left=has_left, **stand)
    return True


def maintain(games: GameService) -> None:
    """Settle battles that all players have left, and delete battles that were never started."""
    for battle_id in games.store.battles.overdue(utc_text(datetime.now(UTC) - 5 * GRACE)):
        settle(games, battle_id)
    games.store.battles.forget(utc_text(datetime.now(UTC) - _MAX_UNSTARTED_AGE))


def rematch(games: GameService, battle_id: str, account: str) -> str:
    """Join the rematch of a finished battle, creating it if needed. Return the rematch's path.

    Raises:
        AccountError: If the battle is not over, or the rematch is full.
    """
    battle = find(games, battle_id)
    if not battle.is_settled:
        raise AccountError(_("this battle is not over yet"))
    fresh, secret = secrets.token_hex(8), fairness.new_secret(fairness.BATTLE)
    return join(games, games.store.battles.rematch(battle, fresh, secret), account)


# Standings


def players_of(games: GameService, battle: Battle, live: _Live) -> list[schema.BattlePlayerInfo]:
    """Return the standings of a battle, best first. Before the start, players are ordered by seat.

    Args:
        games: The game service.
        battle: The battle.
        live: Games that are open in this process, by id. They take precedence over stored games.
    """
    standings = [_standing(games, each, live.get(each.game_id or "")) for each in battle.players]
    scores = [each.score for each in standings]
    for each in standings:
        each.place = 1 + sum(score > each.score for score in scores)
    return sorted(standings, key=lambda each: each.place if battle.starts else each.seat)


def _verdict(battle: Battle, players: list[schema.BattlePlayerInfo], account: str) -> str:
    """Return a sentence that tells an account who won and by how much. `players` are best first."""
    if not battle.is_settled:
        return _("The battle is still on.")
    (first, second, *_rest), mine = players, battle.seat_of(account)
    if first.score == second.score:
        return _("A draw.")
    text = _("You won by {n}.") if mine and first.seat == mine.seat else _("{name} won by {n}.")
    return text.format(name=first.name, n=number(first.score - second.score))


def _standing(
    games: GameService, player: BattlePlayer, game: OnlineGame | None
) -> schema.BattlePlayerInfo:
    name = player.name or (guest_name(player.account) if player.account else _("somebody"))
    info = schema.BattlePlayerInfo(
        player.seat, name, player.game_id, player.score or 0, player.max_tile or 0,
        player.plies or 0, player.score is not None, player.has_left, 0, None,
    )  # fmt: skip
    if game is not None:
        info.board = game.session.game.board.rows
    if player.score is None and game is not None:
        info.score, info.plies = game.session.game.score, game.session.game.ply
        info.max_tile, info.is_over = game.session.game.board.max_tile, game.is_over
    elif player.score is None and player.game_id and (row := games.find(player.game_id)):
        info.score, info.max_tile = row.score, row.max_tile
        info.is_over = isinstance(row, RecordSummary)
    return info


def battle_message(games: GameService, battle: Battle, live: _Live) -> schema.BattleMessage:
    """Return the standings as a message."""
    return schema.BattleMessage(
        battle.id, stage_of(battle), _until(battle.starts), _until(battle.ends), battle.rematch,
        None, players_of(games, battle, live),
    )  # fmt: skip


def _until(time: str | None) -> int | None:
    """Return the milliseconds until a time, or 0 if the time has passed."""
    if time is None:
        return None
    left = datetime.fromisoformat(time) - datetime.now(UTC)
    return max(round(left / timedelta(milliseconds=1)), 0)


def battle_page(games: GameService, battle_id: str, account: str) -> dict[str, Any]:
    """Return the template values of a battle's page."""
    battle = settle(games, battle_id)
    message = battle_message(games, battle, {})
    return {
        **msgspec.structs.asdict(message),
        "verdict": _verdict(battle, message.players, account),
        "rules": rules_info(battle.rules),
        "minutes": battle.minutes,
        "mine": battle.seat_of(account),
        "max_players": MAX_PLAYERS,
        "commitment": fairness.commitment_of(battle.secret),
        "secret": battle.secret if battle.is_settled else None,
    }


class BattleFeeds:
    """Sends each battle's standings to the clients that follow it."""

    def __init__(self) -> None:
        self._audiences: dict[str, _Audience] = {}

    async def follow(
        self, rooms: Rooms, client: Client, battle: str | None, game: str | None
    ) -> None:
        """Follow a battle, identified by its id or a game's id. With neither, follow no battle.

        Raises:
            ActionRejected: If the battle does not exist.
        """
        self.unfollow(client)
        if game is not None:
            battle = await asyncio.to_thread(rooms.games.store.battles.of_game, game)
        if battle is None:
            return
        await asyncio.to_thread(find, rooms.games, battle)
        if battle not in self._audiences:
            self._audiences[battle] = {}
            rooms.start(self._broadcast(rooms, battle, self._audiences[battle]))
        self._audiences[battle][client] = None

    def unfollow(self, client: Client) -> None:
        """Stop sending standings to a client."""
        for audience in self._audiences.values():
            audience.pop(client, None)

    async def _broadcast(self, rooms: Rooms, battle: str, audience: _Audience) -> None:
        """Send changed standings to the audience until no client follows the battle."""
        opened: set[str] = set()
        try:
            while audience:
                with suppress(StorageError):
                    await _send_new(rooms, battle, audience, opened)
                await asyncio.sleep(_POLL_S)
        except ActionRejected as error:  # all players left before the start
            for client in audience:
                client.send(schema.encode(rejection(error, "battle", None)))
        finally:
            del self._audiences[battle]
            for game in opened.intersection(rooms.open):
                rooms.release(rooms.open[game])


async def _send_new(rooms: Rooms, battle_id: str, audience: _Audience, opened: set[str]) -> None:
    """Send new standings to the audience, and add the ids of the games shown to `opened`."""
    battle, live = await asyncio.to_thread(settle, rooms.games, battle_id), {}
    for player in battle.players:
        room = rooms.open.get(player.game_id or "")
        if room and player.score is not None and not room.game.is_finished:
            room.reload()  # another process has recorded the game
        if player.game_id and not battle.is_settled:
            with suppress(ActionRejected):
                room = room or await rooms.find(player.game_id, SERVER)
                if room.is_settled:  # unsaved moves may be rolled back
                    live[player.game_id] = room.game
    opened.update(live)
    message = await asyncio.to_thread(battle_message, rooms.games, battle, live)
    standings = message.stage, message.rematch, message.players
    for client, last_sent in tuple(audience.items()):
        if last_sent != standings:
            audience[client] = standings
            mine = battle.seat_of(client.account)
            personal = msgspec.structs.replace(message, you=mine and mine.seat)
            client.send(schema.encode(personal))
