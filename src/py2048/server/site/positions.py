"""Casual games from a position of a finished game: "play on from here"."""

from __future__ import annotations

import re
from itertools import islice

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from py2048.board import Board
from py2048.game import Game, Record
from py2048.server.http.middleware import address_of
from py2048.server.play import fairness
from py2048.server.play.games import GameService, OnlineGame
from py2048.server.schema import CASUAL, ActionRejected
from py2048.server.services import Services
from py2048.server.site.auth import Auth
from py2048.server.site.forms import FormError, read_form
from py2048.storage import NewOnlineGame

_TURN = re.compile("[0-9]{1,7}")


class PositionPages:
    """What the forms of a finished game's page ask for.

    Args:
        services: the server's parts.
        auth: tells who asks.
    """

    def __init__(self, services: Services, auth: Auth) -> None:
        self._services = services
        self._auth = auth

    def routes(self) -> list[Route]:
        """Return the route."""
        return [Route("/game/{game}/play", self.play_on, methods=["POST"])]

    async def play_on(self, request: Request) -> Response:
        """Begin a casual game from a position of a finished game, and go to it."""
        user = await self._auth.user(request)
        try:
            turn = (await read_form(request)).get("turn", "")
        except FormError as error:
            raise HTTPException(error.status, str(error)) from None
        if not _TURN.fullmatch(turn):
            raise ActionRejected("position", "choose a move of the game: give its number as turn")
        services, origin = self._services, request.path_params["game"]
        game_id = await services.visible_game(origin, user.account)
        services.limits.check_new_game(user.account, address_of(request.scope))
        rooms = await services.ready()
        game = await rooms.begin(plan_from_position, rooms.games, user.account, game_id, int(turn))
        response = RedirectResponse(f"/?game={game.id}", 303)
        self._auth.remember(response, user)
        return response


def plan_from_position(
    games: GameService, account_id: str, game_id: str, turn: int
) -> tuple[OnlineGame, NewOnlineGame]:
    """Return a casual game from the position of a finished game, and what is to be written.

    Its tiles come from a secret of its own, its score begins at 0, and it counts on no board.

    Args:
        games: the games.
        account_id: who plays on.
        game_id: the game.
        turn: how many of its turns are played at the position.

    Raises:
        ActionRejected: if there is no such finished game (``unknown_game``) or position
            (``position``), no move is possible there (``over``), or the game is sealed: whoever
            watches the new game would see its tiles. Also as `GameService.plan_game`.
        StorageError: if the store cannot be read.
    """
    info = games.store.online.info(game_id)
    if info is not None and fairness.is_sealed(info):
        since = fairness.revelation_of(info.day or "").date().isoformat()
        raise ActionRejected("sealed", f"positions of this challenge may be played from {since}")
    record = Record.from_json(games.record_text(game_id))
    board = _board_after(record, turn)
    if Game(record.rules, board=board).is_over:
        raise ActionRejected("over", "no move is possible there: choose an earlier position")
    secret = fairness.new_secret()
    return games.plan(account_id, record.rules, CASUAL, secret, position=board)


def _board_after(record: Record, turn: int) -> Board:
    """Return the board of a record after some turns.

    Raises:
        ActionRejected: reason ``position``, if there are not so many.
    """
    boards = (record.start, *(board for board, _, _ in islice(record.replay(), max(turn, 0))))
    if len(boards) != turn + 1:
        last = sum(1 for _ in record.steps)
        raise ActionRejected("position", f"there is no move {turn}: choose one from 0 to {last}")
    return boards[turn]
