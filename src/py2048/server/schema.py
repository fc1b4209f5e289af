"""Message types of the WebSocket and the JSON API.

Input is validated by decoding it into the types of this module, and responses are encoded from
them. The OpenAPI description is generated from the same types. docs/reference/web-protocol.md
explains the messages.
"""

from __future__ import annotations

import functools
import operator
import re
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError

from py2048.app.session.levels import ME
from py2048.core.errors import Py2048Error
from py2048.core.language import _
from py2048.review.levels import PERFECT
from py2048.review.reasons import ReasonKind

MAX_CHARACTERS = 4096  # of an incoming message

CASUAL, RANKED, DAILY, BOT = "casual", "ranked", "daily", "bot"
MODES = (RANKED, CASUAL, DAILY, BOT)
"""Modes of games that can be started at any time."""

BATTLE = "battle"
"""Mode of games in a battle."""

POSITION = "position"
"""Category of casual games that start from a given position. No leaderboard lists them."""

_MAX_ID = 32
_MAX_QUOTED = 40
_PLAIN = r"^[^\x00\ud800-\udfff]*$"  # excludes NUL, which PostgreSQL rejects, and lone surrogates
T = TypeVar("T")


class ActionRejected(Py2048Error):  # noqa: N818 - the protocol's term
    """An action that the server rejects.

    Attributes:
        reason: Machine-readable word.
        wait_s: Seconds after which a retry may succeed, or 0 if a retry cannot succeed.
    """

    def __init__(self, reason: str, message: str, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.reason = reason
        self.wait_s = wait_s

    def __reduce__(self) -> tuple[object, ...]:
        """Allow worker processes to raise it."""
        return type(self), (self.reason, str(self), self.wait_s)


def malformed(message: str) -> ActionRejected:
    """Return the exception that rejects an invalid message."""
    return ActionRejected("malformed", message)


# Field types. The description of a type completes the error message "NAME must be …".


def _text(description: str) -> Meta:
    limited = f"{description} of at most 400 characters"
    return Meta(max_length=400, pattern=_PLAIN, description=limited)


def _whole(first: int, last: int) -> Meta:
    return Meta(ge=first, le=last, description=f"a whole number from {first} to {last}")


def _name_of(kind: object) -> Meta:
    return Meta(description=f"one of {', '.join(get_args(kind))}")


def _one_of(*names: str) -> Meta:
    """List the possible values of a string in the schema, without validating them."""
    return Meta(extra_json_schema={"enum": list(names)})


Text = Annotated[str, _text("a text")]
LevelText = Annotated[str, _text("the name of a level, a slip such as 0.15, perfect, or me,")]
RulesText = Annotated[str, _text("a preset such as classic, or a text such as classic:size=5x5,")]
ActionNumber = Annotated[int, _whole(1, 2**31 - 1)]
ChainNumber = ActionNumber | UnsetType
"""Identifies a chain of actions that are sent without waiting for responses (see
`ClientConnection`).
"""

MAX_TURNS_TEXT = 1000
_turns = f"turns as in a record, at most {MAX_TURNS_TEXT} characters"
TurnsText = Annotated[
    str, Meta(max_length=MAX_TURNS_TEXT, pattern=r"^[0-9A-Za-z_-]+$", description=_turns)
]
_Side = Literal["up", "down", "left", "right"]
DirectionName = Annotated[_Side, _name_of(_Side)]
_delay = "a number of milliseconds from 0 to 10000"
Delay = Annotated[float, Meta(ge=0, le=10_000, description=_delay)]
_rows = "a list of rows from the top, each a list of tiles, 0 for empty"
_row_limits = {"minItems": 1, "maxItems": 16}
BoardRows = Annotated[list[list[int]], Meta(description=_rows, extra_json_schema=_row_limits)]
LeaderboardName = Literal["ranked", "assisted", "computer", "bot", "daily"]
PERIODS = ("day", "week", "season", "ever")
"""Periods of leaderboards, based on a game's end time in UTC. A season is a quarter."""

_PERIOD = r"^(day|week|season|ever|[0-9]{4}-Q[1-4])$"
_period = f"one of {', '.join(PERIODS)}, or a season such as 2026-Q4"
PeriodName = Annotated[str, Meta(pattern=_PERIOD, description=_period)]
BOARDS: tuple[str, ...] = get_args(LeaderboardName)
"""Names of the leaderboards."""

Heading = Annotated[str, _one_of(*get_args(_Side))]
Mode = Annotated[str, _one_of(*MODES, BATTLE)]
Category = Annotated[str, _one_of("plain", "assisted", "computer", POSITION)]
OutcomeName = Annotated[str, _one_of("playing", "won", "lost", "ended")]
UnitName = Annotated[str, _one_of("points", "rating", "chance")]
BoardName = Annotated[str, _one_of(*BOARDS, BATTLE)]
GameCategory = Annotated[str, _one_of("plain", *BOARDS, BATTLE, POSITION)]
GRADES = ("best", "good", "inaccuracy", "mistake", "blunder")
"""Values of `py2048.review.Grade`."""

GradeName = Annotated[str, _one_of(*GRADES)]
ReasonName = Annotated[str, _one_of(*(kind.value for kind in ReasonKind))]
ReviewState = Annotated[str, _one_of("none", "waiting", "running", "done", "failed")]
Rows = tuple[tuple[int, ...], ...]
Cell = tuple[int, int]


# Messages from pages


class PageMessage(Struct, tag_field="type"):
    """A message that a page sends. `type` selects its class."""


class NewGame(PageMessage, tag="new"):
    """Start a new game."""

    rules: RulesText = "classic"
    mode: Text | UnsetType = UNSET


class OpenRequest(PageMessage, tag="open"):
    """Open one of the user's own games on this connection."""

    game: Text


class WatchRequest(PageMessage, tag="watch"):
    """Watch any player's game."""

    game: Text


class LeaveRequest(PageMessage, tag="leave"):
    """Leave the game."""


class NumberedRequest(PageMessage, kw_only=True):
    """An action in a game, which may be part of a chain."""

    number: ActionNumber
    chain: ChainNumber = UNSET


class MoveRequest(NumberedRequest, tag="move", kw_only=True):
    """Make a move."""

    direction: DirectionName


class UndoRequest(NumberedRequest, tag="undo"):
    """Undo the last turn."""


class RedoRequest(NumberedRequest, tag="redo"):
    """Redo the last undone turn."""


class HintRequest(NumberedRequest, tag="hint", kw_only=True):
    """Request a hint: chances for players of a level, or the values of a computer player."""

    player: Text | None = None
    level: LevelText = ME


class OfflineRequest(PageMessage, tag="offline"):
    """Append turns that were played offline."""

    number: ActionNumber
    turns: TurnsText
    category: Category = "plain"


class AutoplayRequest(PageMessage, tag="autoplay"):
    """Let a computer player make the moves, or stop autoplay if no player is given."""

    player: Text | None = None
    delay: Delay = 0.0


class BattleRequest(PageMessage, tag="battle"):
    """Follow the standings of a battle, identified by its id or by the id of one of its games."""

    battle: Text | None = None
    game: Text | None = None


class GamesRequest(PageMessage, tag="games"):
    """List my games in progress."""


class PingRequest(PageMessage, tag="ping"):
    """Check the connection."""


_KINDS = {*PageMessage.__subclasses__(), *NumberedRequest.__subclasses__()} - {NumberedRequest}
_TYPES = {kind.__struct_config__.tag: kind for kind in _KINDS}
_decoder = msgspec.json.Decoder[PageMessage](functools.reduce(operator.or_, _KINDS))
_move_decoder = msgspec.json.Decoder(MoveRequest)
_type_decoder = msgspec.json.Decoder(dict[str, Any])


def parse_move(frame: bytes) -> MoveRequest | None:
    """Decode a frame that is a valid move, or return None."""
    try:
        return _move_decoder.decode(frame)
    except (msgspec.DecodeError, RecursionError):
        return None


def parse_message(frame: str | None) -> PageMessage:
    """Decode a frame.

    Raises:
        ActionRejected: If the frame is not a valid message (``malformed``).
    """
    if frame is None or len(frame) > MAX_CHARACTERS:
        raise malformed(f"a message must be text of at most {MAX_CHARACTERS} characters")
    try:
        return _decoder.decode(frame)
    except ValidationError as error:
        kind = type_of(frame)
        if not kind:
            raise malformed("a message must be a JSON object with a type") from None
        if kind not in _TYPES:
            raise malformed(f"no message has the type {kind[:20]!r}") from None
        raise malformed(explain(error, _TYPES[kind], _type_decoder.decode(frame))) from None
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        raise malformed("the message is not JSON") from None


def type_of(frame: str | bytes | None) -> str:
    """Return the type of a message, or an empty string if the message has no type."""
    try:
        kind = _type_decoder.decode(frame or "").get("type")
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return ""
    return kind if isinstance(kind, str) and "\0" not in kind else ""


def convert(value: object, kind: type[T], *, strict: bool = True) -> T:
    """Convert a JSON value, a query or a form to an instance of `kind`.

    Raises:
        ActionRejected: If the value does not match the type. The error message names the field and
            the expected value.
    """
    try:
        return msgspec.convert(value, kind, strict=strict)
    except ValidationError as error:
        raise malformed(explain(error, kind, value)) from None


def explain(error: ValidationError, kind: type, value: object) -> str:
    """Return an error message that names the invalid field and the expected value."""
    found = re.search(r"required field `(\w+)`|at `\$\.(\w+)", str(error))
    if found is None or not isinstance(value, dict):
        return "the body must be a JSON object"
    name = found[1] or found[2]
    wanted = _expected(kind, name)
    given = f", not {str(value[name])[:_MAX_QUOTED]!r}" if name in value else ""
    return f"{name} must be {wanted}{given}"


@functools.cache
def _expected(kind: type, name: str) -> str:
    """Return the description of a field's type."""
    _schemas, components = msgspec.json.schema_components((kind,))
    field = components[kind.__name__]["properties"].get(name, {})
    found = (each.get("description") for each in (field, *field.get("anyOf", ())))
    return next(filter(None, found), "something else")


def checked_game_id(text: str) -> str:
    """Return a game id if it is valid. The game may not exist.

    Raises:
        ActionRejected: If the id is invalid (``unknown_game``).
    """
    if not (0 < len(text) <= _MAX_ID and text.isascii() and text.isalnum()):
        raise ActionRejected("unknown_game", _("there is no such game"))
    return text


# Bodies and queries of requests to the JSON API.


class PositionRequest(Struct):
    """A board and its rules. The default rules are classic with the size of the board."""

    board: BoardRows
    rules: RulesText | UnsetType = UNSET


class AdviceRequest(PositionRequest):
    """A position, and the computer player that rates the moves. None selects the default player.

    With a `level`, the values are the chances of reaching the goal for players of this level.
    """

    player: Text | None = None
    level: LevelText = PERFECT


class GameRequest(Struct):
    """Request to start a bot game (with a token) or a casual game (with a cookie)."""

    rules: RulesText = "classic"
    mode: Annotated[Text, Meta(extra_json_schema={"enum": ["bot", "casual"]})] | UnsetType = UNSET


class MoveBody(Struct):
    """The next move of a game."""

    number: ActionNumber
    direction: DirectionName


class RulesQuery(Struct):
    """The rules to check."""

    text: RulesText = "classic"


class VerifyQuery(Struct):
    """The secret for verifying the tiles of a record."""

    secret: Annotated[str, Meta(description="the revealed secret of the game")] | None = None


class LeaderboardQuery(Struct):
    """Selects a leaderboard."""

    rules: RulesText = "classic"
    board: Annotated[LeaderboardName, _name_of(LeaderboardName)] = "ranked"
    period: PeriodName = "ever"


class TurnsQuery(Struct, rename={"first": "from"}):
    """Selects turns of a game."""

    first: Annotated[int, _whole(0, 10**9)] = 0
    limit: Annotated[int, _whole(1, 1000)] = 500


class ReviewRequest(Struct):
    """Requests a review. The game's player may choose a `level`.

    The default is the level of the previous review, or else the player's own level.
    """

    level: LevelText | None = None


# Messages and responses from the server


class Reply(Struct, forbid_unknown_fields=True):
    """Base class of all messages and responses that the server sends."""


class RulesInfo(Reply):
    """Rules: the complete `text` for programs, and a one-line `summary` for people."""

    name: str
    text: str
    rows: int
    columns: int
    target: int | None
    summary: str


class PlayerInfo(Reply):
    """A computer player that gives hints."""

    spec: str
    summary: str


class TileMotion(Reply):
    """The motion of a tile, which merges with another tile at the target if `merged` is set."""

    source: Cell
    target: Cell
    merged: bool


class NewTile(Reply):
    """A tile that appears."""

    tile: int
    cell: Cell


class SlideInfo(Reply):
    """The result of sliding a board in one direction, before the new tile appears."""

    legal: bool
    points: int
    board: Rows
    motions: list[TileMotion]


class SlidesAnswer(Reply):
    """The result of sliding a board in each direction."""

    legal: list[Heading]
    slides: dict[Heading, SlideInfo]


class GameEvent(Reply, tag_field="kind"):
    """An event in a game. `kind` selects its class."""


class TurnEvent(GameEvent):
    """An event that moves tiles. Pages slide the board themselves to find the motions."""

    direction: Heading
    points: int
    spawn: NewTile | None


class MovedEvent(TurnEvent, tag="moved"):
    """A turn was played or redone."""

    redone: bool


class UndoneEvent(TurnEvent, tag="undone"):
    """A turn was undone: the tile `spawn` disappears, and the other tiles slide back."""


class NothingMovedEvent(GameEvent, tag="nothing_moved"):
    """A move changed nothing. `points` is negative if the rules penalise illegal moves."""

    direction: Heading
    points: int


class WonEvent(GameEvent, tag="won"):
    """The target tile was reached. `say` is the message to show."""

    say: str
    tile: int
    plays_on: bool


class OverEvent(GameEvent, tag="over"):
    """The game is over. `say` is the message to show."""

    say: str
    outcome: OutcomeName
    score: int
    best: int
    is_best: bool


PlayedEvent = MovedEvent | NothingMovedEvent | UndoneEvent | WonEvent | OverEvent


class GamePosition(Reply, kw_only=True):
    """The position of a game after `version` actions.

    `think_ms` is the total thinking time of a program, measured by the server.
    """

    game: str
    version: int
    board: Rows
    score: int
    best: int
    ply: int
    outcome: OutcomeName
    won: bool
    legal: list[Heading]
    can_undo: bool
    can_redo: bool
    category: Category
    autoplay: str | None
    secret: str | None
    think_ms: int | None


class StateMessage(GamePosition, tag_field="type", tag="state", kw_only=True):
    """The complete state of a game."""

    mine: bool
    watching: bool
    rules: RulesInfo
    mode: Mode
    day: str | None
    player: str
    commitment: str | None
    say: str


class EventsMessage(GamePosition, tag_field="type", tag="events", kw_only=True):
    """The latest events in a game, and the resulting position."""

    events: list[PlayedEvent]


class ServerMessage(Reply, tag_field="type"):
    """A message that the server sends. `type` selects its class."""


class Me(Reply):
    """The connected user."""

    name: str
    is_guest: bool


class HelloMessage(ServerMessage, tag="hello"):
    """The first message on a connection. `current` is the id of the game to continue."""

    me: Me
    current: str | None
    players: tuple[str, ...]


class ChanceInfo(Reply):
    """Statistics of similar positions: `made` of `games` recorded games reached the tile."""

    tile: int
    made: int
    games: int


class HintAnswer(Reply, kw_only=True):
    """A player's best move. `instead_of` is the requested player if it is not compiled yet.

    If a level was requested, `values` are the chances of reaching the `goal`, and `errors` are
    their standard errors.
    """

    direction: Heading
    values: dict[Heading, float]
    errors: dict[Heading, float]
    goal: int | None
    unit: UnitName
    policy: str | None
    chance: ChanceInfo | None
    player: str
    instead_of: str | None


class HintOption(Reply):
    """A direction and its explanation. `share` is the relative length of the bar, from 0 to 1."""

    direction: Heading
    text: str
    share: float
    grade: str | None


class HintMessage(HintAnswer, tag_field="type", tag="hint", kw_only=True):
    """A hint for a given version of a game."""

    game: str
    version: int
    say: str
    headline: str
    reason: str
    options: list[HintOption]
    outlook: str


class CompilingMessage(ServerMessage, tag="compiling"):
    """Compilation progress of a requested computer player. `share` is between 0 and 1."""

    game: str
    player: str
    share: float
    say: str


class AutoplayMessage(ServerMessage, tag="autoplay"):
    """A computer player has taken over, or has handed the game back."""

    game: str
    player: str | None


class OpenGameInfo(Reply):
    """A game in progress."""

    game: str
    rules: RulesInfo
    mode: Mode
    score: int
    ply: int
    updated: str


class GamesMessage(ServerMessage, tag="games"):
    """My games in progress."""

    games: list[OpenGameInfo]


class RejectedMessage(ServerMessage, tag="refused"):
    """An action was rejected. The message includes the state of the game."""

    reason: str
    message: str
    of: str
    state: StateMessage | None
    retry_ms: int | UnsetType = UNSET
    chain: int | UnsetType = UNSET


class BattlePlayerInfo(Reply):
    """A player in a battle. `game` is null until the player has a board."""

    seat: int
    name: str
    game: str | None
    score: int
    max_tile: int
    plies: int
    is_over: bool
    has_left: bool
    place: int
    board: Rows | None


class BattleMessage(ServerMessage, tag="battle"):
    """The standings of a battle. `starts_ms` and `ends_ms` count milliseconds from now."""

    battle: str
    stage: Annotated[str, _one_of("gathering", "running", "over")]
    starts_ms: int | None
    ends_ms: int | None
    rematch: str | None
    you: int | None
    players: list[BattlePlayerInfo]


class PongMessage(ServerMessage, tag="pong"):
    """Response to a ping. The server also sends a pong every 2 seconds during a long request."""


class GameRow(Reply):
    """A row in a list of games. `finished` is null if the game is in progress.

    `think_ms` is the total thinking time of a program.
    """

    place: int | None
    player: str | None
    game: str
    rules: RulesInfo
    mode: Mode
    board: GameCategory
    score: int
    max_tile: int
    plies: int
    started: str
    finished: str | None
    outcome: OutcomeName
    think_ms: int | None = None


class LeaderboardAnswer(Reply):
    """The best game of each player."""

    rules: str
    board: BoardName
    period: Annotated[str, Meta(extra_json_schema={"pattern": _PERIOD})]
    games: list[GameRow]


class PlayedTurn(Reply):
    """A turn, and the board after the turn."""

    direction: Heading
    motions: list[TileMotion]
    spawn: NewTile | None
    board: Rows


class TurnInfo(PlayedTurn):
    """One turn from a record, with the score after the turn."""

    kind: Annotated[str, _one_of("moved", "nothing_moved")]
    points: int
    score: int


class TurnsAnswer(Reply, rename={"first": "from"}):
    """Turns of a finished game. `times` are their durations in milliseconds."""

    game: str
    start: Rows
    first: int
    total: int
    turns: list[TurnInfo]
    times: list[int]


class ReasonInfo(Reply):
    """The reason for a mistake, found by simulating games (see `py2048.review.reasons`)."""

    kind: ReasonName
    numbers: dict[str, float]


class LineInfo(Reply):
    """A typical continuation of the game. Pages highlight the tile with the value `fear`."""

    turns: list[PlayedTurn]
    fear: int | None


class ReviewedMove(Reply, kw_only=True):
    """The review of a legal move.

    `values` contains the value of each direction. If the game is reviewed for a player level, the
    values are chances of reaching the `goal`, or of surviving 20 more moves if `survival` is set.
    Otherwise, their unit is `ReviewSummary.unit`. `errors` are the standard errors of the
    differences from the best value. `loss` is the difference between the best value and the value
    of the move. `options` lists all directions, best first. `badge`, `headline` and `why` are texts
    that explain the grade to the player.
    """

    ply: int
    played: Heading
    best: Heading
    grade: GradeName
    loss: float
    share: float
    luck: float
    source: str
    goal: int | None
    survival: bool
    values: dict[Heading, float]
    errors: dict[Heading, float]
    reason: ReasonInfo | None
    options: list[HintOption]
    badge: str
    headline: str
    why: str


class Moment(ReviewedMove, kw_only=True):
    """One of the costliest mistakes of a game. `turn` is an index into the replay, from 0.

    `lines` contains typical continuations after the move and after the best move.
    """

    turn: int
    board: Rows
    lines: dict[Heading, LineInfo]


class HabitInfo(Reply):
    """A kind of mistake that the player repeated. `cost` is the average loss per mistake."""

    reason: ReasonName
    count: int
    cost: float
    turns: list[int]
    say: str = ""


class PhaseInfo(Reply):
    """The phase of a game in which `tile` was the largest tile.

    `loss` and `luck` are totals for this phase, in the unit `ReviewSummary.unit`.
    """

    tile: int
    first: int
    last: int
    loss: float
    luck: float
    accuracy: float | None


class ReviewSummary(Reply, kw_only=True):
    """The review of a whole game.

    `level` is the player level against which moves were judged, or ``perfect``. `wanted` is the
    requested level, which may be ``me``. Moves after the `goal` was reached are not graded.
    `reviewed` counts the graded moves. `accuracy` is null if too few moves were graded.

    `moments` are up to ten costly moves, in game order. `first` is the turn of the costliest move.
    `graph` is an SVG plot of the values. `swing` is the standard deviation of the player's luck.
    If moves were judged by the points that perfect play would score, `expected` is the value of
    the start position, and the final score equals `expected` minus `loss` plus `luck`.
    """

    judge: str
    level: str
    wanted: str = ME
    unit: UnitName
    exact: bool
    reviewed: int
    accuracy: float | None
    goal: int | None
    habits: list[HabitInfo]
    moments: list[Moment]
    first: int | None
    expected: float | None
    loss: float
    luck: float
    swing: float
    counts: dict[GradeName, int]
    phases: list[PhaseInfo]
    graph: str


class ReviewAnswer(Reply, rename={"first": "from"}):
    """The state of a finished game's review, and some of the reviewed moves.

    While the review is `waiting`, `ahead` is the number of reviews before it in the queue. While
    the review is `running`, `done` and `total` are its progress in moves. If the review has
    `failed`, `fault` is the reason.
    """

    game: str
    state: ReviewState
    ahead: int
    done: int
    total: int
    fault: str | None
    summary: ReviewSummary | None
    first: int
    moves: list[ReviewedMove]


class VerifiedAnswer(Reply):
    """The result of verifying a record. `fair` is true if a secret was given and verified."""

    ok: bool
    error: str | UnsetType = UNSET
    rules: str | UnsetType = UNSET
    player: str | UnsetType = UNSET
    score: int | UnsetType = UNSET
    plies: int | UnsetType = UNSET
    seed: int | UnsetType | None = UNSET
    fair: bool | UnsetType = UNSET


class RecordAnswer(Reply):
    """The record of a finished game, described in docs/reference/record-format.md."""

    format: str
    version: int
    rules: str
    player: str
    started: str
    finished: str
    seed: int | None
    start: Rows
    turns: str
    score: int
    undos: int
    hints: int
    times: list[int]
    checksum: str


class BotGame(Reply):
    """A program's game in progress."""

    game: str
    rules: str
    score: int
    ply: int
    updated: str


class BotAnswer(Reply):
    """The program that a token belongs to, with its owner and its games in progress."""

    name: str
    person: str | None
    games: list[BotGame]


class ErrorAnswer(Reply):
    """A one-line error message, with a `reason` for programs.

    The same request may succeed after `retry_ms` milliseconds.
    """

    error: str
    reason: str | UnsetType = UNSET
    retry_ms: int | UnsetType = UNSET


_encoder = msgspec.json.Encoder()


def encode(answer: object) -> bytes:
    """Encode a message as JSON."""
    return _encoder.encode(answer)
