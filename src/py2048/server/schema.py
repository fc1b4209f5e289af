"""Every message and answer of the server as a type: read strictly, and described by OpenAPI.

What a browser or a program sends is decoded into these types, so nothing that it says is believed
unchecked; what the server answers is encoded from them. docs/reference/web-protocol.md says what
the messages mean.
"""

from __future__ import annotations

import functools
import operator
import re
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError

from py2048.core.errors import Py2048Error
from py2048.core.language import _

MAX_CHARACTERS = 4096
"""The longest message that a browser may send."""

CASUAL, RANKED, DAILY, BOT = "casual", "ranked", "daily", "bot"
MODES = (RANKED, CASUAL, DAILY, BOT)
"""The kinds of games that can be begun at any time."""

BATTLE = "battle"
"""The kind of the games of a battle; see `py2048.server.play.battles`."""
OFFLINE = "offline"
"""The category of a casual game of which a part was played without the server: likewise."""

POSITION = "position"
"""The category of a casual game that began from a position of another: it counts on no board."""

_MAX_ID = 32
_VALUE_SHOWN = 40
_PLAIN = r"^[^\x00\ud800-\udfff]*$"  # what every database and browser can hold
T = TypeVar("T")


class ActionRejected(Py2048Error):  # noqa: N818 - what the protocol calls it
    """An action that the server does not do.

    Attributes:
        reason: one word for programs.
        wait: seconds after which to try again, 0.0 if that would not help.
    """

    def __init__(self, reason: str, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.reason = reason
        self.wait = wait


def malformed(message: str) -> ActionRejected:
    """Return the rejection of a message that no page of ours sends."""
    return ActionRejected("malformed", message)


# Values. A description completes the sentence "NAME must be …".


def _text(description: str) -> Meta:
    return Meta(
        max_length=400, pattern=_PLAIN, description=f"{description} of at most 400 characters"
    )


def _whole(first: int, last: int) -> Meta:
    return Meta(ge=first, le=last, description=f"a whole number from {first} to {last}")


def _name_of(kind: object) -> Meta:
    return Meta(description=f"one of {', '.join(get_args(kind))}")


def _one_of(*names: str) -> Meta:
    """Describe a text of ours, which needs no check, as one of some names."""
    return Meta(extra_json_schema={"enum": list(names)})


Text = Annotated[str, _text("a text")]
RulesText = Annotated[str, _text("a preset such as classic, or a text such as classic:size=5x5,")]
ActionNumber = Annotated[int, _whole(1, 2**31 - 1)]
ChainNumber = ActionNumber | UnsetType
"""Says which actions a page sends without waiting for answers; see `ClientConnection`."""

MAX_TURNS_TEXT = 1000
TurnsText = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_TURNS_TEXT,
        pattern=r"^[0-9A-Za-z_-]+$",
        description=f"turns as in a record, at most {MAX_TURNS_TEXT} characters",
    ),
]
_Side = Literal["up", "down", "left", "right"]
DirectionName = Annotated[_Side, _name_of(_Side)]
Delay = Annotated[
    float, Meta(ge=0, le=10_000, description="a number of milliseconds from 0 to 10000")
]
BoardRows = Annotated[
    list[list[int]],
    Meta(
        description="a list of rows from the top, each a list of tiles, 0 for empty",
        extra_json_schema={"minItems": 1, "maxItems": 16},
    ),
]
LeaderboardName = Literal["ranked", "assisted", "computer", "bot", "daily"]
PERIODS = ("day", "week", "season", "ever")
"""What a leaderboard covers: games that ended in this day, week or quarter, in UTC, or all."""

_PERIOD = r"^(day|week|season|ever|[0-9]{4}-Q[1-4])$"
PeriodName = Annotated[
    str,
    Meta(pattern=_PERIOD, description=f"one of {', '.join(PERIODS)}, or a season such as 2026-Q4"),
]
BOARDS: tuple[str, ...] = get_args(LeaderboardName)
"""The boards of scores, each for itself."""

Heading = Annotated[str, _one_of(*get_args(_Side))]
Mode = Annotated[str, _one_of(*MODES, BATTLE)]
Category = Annotated[str, _one_of("plain", "assisted", "computer", OFFLINE, POSITION)]
OutcomeName = Annotated[str, _one_of("playing", "won", "lost", "ended")]
UnitName = Annotated[str, _one_of("points", "rating", "chance")]
BoardName = Annotated[str, _one_of(*BOARDS, BATTLE)]
GameCategory = Annotated[str, _one_of(*BOARDS, BATTLE, OFFLINE, POSITION)]
GRADES = ("best", "good", "inaccuracy", "mistake", "blunder")
"""The grades of moves, as of `py2048.review.Grade`."""

GradeName = Annotated[str, _one_of(*GRADES)]
ReviewState = Annotated[str, _one_of("none", "waiting", "running", "done", "failed")]
Rows = tuple[tuple[int, ...], ...]
Cell = tuple[int, int]


# What a page sends over the WebSocket


class PageMessage(Struct, tag_field="type"):
    """A message of a page, told apart by its `type`."""


class NewGame(PageMessage, tag="new"):
    """A new game."""

    rules: RulesText = "classic"
    mode: Text | UnsetType = UNSET


class OpenRequest(PageMessage, tag="open"):
    """Continue my game on this connection."""

    game: Text


class WatchRequest(PageMessage, tag="watch"):
    """Watch a game, of any player."""

    game: Text


class LeaveRequest(PageMessage, tag="leave"):
    """Leave the game."""


class NumberedRequest(PageMessage, kw_only=True):
    """An action of a game, which a page may send in a chain."""

    number: ActionNumber
    chain: ChainNumber = UNSET


class MoveRequest(NumberedRequest, tag="move", kw_only=True):
    """Slide."""

    direction: DirectionName


class UndoRequest(NumberedRequest, tag="undo"):
    """Take back the last turn."""


class RedoRequest(NumberedRequest, tag="redo"):
    """Play the last undone turn again."""


class HintRequest(NumberedRequest, tag="hint", kw_only=True):
    """Ask a computer player what it would do."""

    player: Text | None = None


class OfflineRequest(PageMessage, tag="offline"):
    """Take over turns that were played without the server."""

    number: ActionNumber
    turns: TurnsText


class AutoplayRequest(PageMessage, tag="autoplay"):
    """Let a computer player make the moves; without one, stop it."""

    player: Text | None = None
    delay: Delay = 0.0


class BattleRequest(PageMessage, tag="battle"):
    """Hear how a battle goes, named by itself or by one of its games."""

    battle: Text | None = None
    game: Text | None = None


class GamesRequest(PageMessage, tag="games"):
    """List my games in progress."""


class PingRequest(PageMessage, tag="ping"):
    """Ask for a sign of life."""


_TYPES = {
    kind.__struct_config__.tag: kind
    for kind in (*PageMessage.__subclasses__(), *NumberedRequest.__subclasses__())
    if kind is not NumberedRequest
}
_decoder: msgspec.json.Decoder[PageMessage] = msgspec.json.Decoder(
    functools.reduce(operator.or_, _TYPES.values())
)
_type_decoder = msgspec.json.Decoder(dict[str, Any])


def parse_message(frame: str | None) -> PageMessage:
    """Return the message in a frame.

    Raises:
        ActionRejected: if it is not one.
    """
    if frame is None or len(frame) > MAX_CHARACTERS:
        raise malformed(f"a message is text of at most {MAX_CHARACTERS} characters")
    try:
        return _decoder.decode(frame)
    except ValidationError as error:
        kind = type_of(frame)
        if not kind:
            raise malformed("a message is a JSON object with a type") from None
        if kind not in _TYPES:
            raise malformed(f"no message has the type {kind[:20]!r}") from None
        raise malformed(explain(error, _TYPES[kind], _type_decoder.decode(frame))) from None
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        raise malformed("the message is not JSON") from None


def type_of(frame: str | None) -> str:
    """Return the type that a frame names, an empty text if it names none."""
    try:
        kind = _type_decoder.decode(frame or "").get("type")
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return ""
    return kind if isinstance(kind, str) and "\0" not in kind else ""


def convert(value: object, kind: type[T], *, strict: bool = True) -> T:
    """Return a JSON value, or the texts of a query or a form, as a type.

    Raises:
        ActionRejected: if it is something else; the message names the field, and what it must be.
    """
    try:
        return msgspec.convert(value, kind, strict=strict)
    except ValidationError as error:
        raise malformed(explain(error, kind, value)) from None


def explain(error: ValidationError, kind: type, value: object) -> str:
    """Return what is wrong with a value that is not a `kind`: the field and what it must be."""
    found = re.search(r"required field `(\w+)`|at `\$\.(\w+)", str(error))
    if found is None or not isinstance(value, dict):
        return "the body must be a JSON object"
    name = found[1] or found[2]
    wanted = _schema_of(kind)["properties"].get(name, {}).get("description", "something else")
    given = f", not {str(value[name])[:_VALUE_SHOWN]!r}" if name in value else ""
    return f"{name} must be {wanted}{given}"


@functools.cache
def _schema_of(kind: type) -> dict[str, Any]:
    (_,), components = msgspec.json.schema_components((kind,))
    schema: dict[str, Any] = components[kind.__name__]
    for name, field in schema["properties"].items():
        options = [each.get("description") for each in field.get("anyOf", ())]
        schema["properties"][name] = {"description": next(filter(None, options), None)} | field
    return schema


def checked_game_id(text: str) -> str:
    """Return the id of a game, which need not exist.

    Raises:
        ActionRejected: if it cannot be one.
    """
    if not (0 < len(text) <= _MAX_ID and text.isascii() and text.isalnum()):
        raise ActionRejected("unknown_game", _("there is no such game"))
    return text


# What a program sends to the JSON API


class PositionRequest(Struct):
    """A board, and the rules that it is played by; without them, classic ones of its size."""

    board: BoardRows
    rules: RulesText | UnsetType = UNSET


class AdviceRequest(PositionRequest):
    """A position, and the player that is asked; without one, the usual."""

    player: Text | None = None


class GameRequest(Struct):
    """The game to begin: with a token a bot game, with a cookie a casual one."""

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
    """What the tiles of a record are to be checked against."""

    secret: Annotated[str, Meta(description="the revealed secret of the game")] | None = None


class LeaderboardQuery(Struct):
    """Which leaderboard."""

    rules: RulesText = "classic"
    board: Annotated[LeaderboardName, _name_of(LeaderboardName)] = "ranked"
    period: PeriodName = "ever"


class TurnsQuery(Struct, rename={"first": "from"}):
    """Which turns of a game."""

    first: Annotated[int, _whole(0, 10**9)] = 0
    limit: Annotated[int, _whole(1, 1000)] = 500


class ReviewRequest(Struct):
    """A request for a review; there is nothing to choose."""


# What the server answers


class Answer(Struct, forbid_unknown_fields=True):
    """Something that the server says; it has no fields but those described."""


class RulesInfo(Answer):
    """Rules as a page shows them: `text` is the full text, `summary` one line for people."""

    name: str
    text: str
    rows: int
    columns: int
    target: int | None
    summary: str


class PlayerInfo(Answer):
    """A computer player that may be asked."""

    spec: str
    summary: str


class TileMotion(Answer):
    """A tile that slides from one cell to another, `merged` if it merges there."""

    source: Cell
    target: Cell
    merged: bool


class NewTile(Answer):
    """A tile that appears."""

    tile: int
    cell: Cell


class SlideInfo(Answer):
    """What a direction does to a board, before a tile appears."""

    legal: bool
    points: int
    board: Rows
    motions: list[TileMotion]


class SlidesAnswer(Answer):
    """What each direction does to a board."""

    legal: list[Heading]
    slides: dict[Heading, SlideInfo]


class GameEvent(Answer, tag_field="kind"):
    """Something that happened in a game; `say` tells it in a sentence."""

    say: str


class TurnEvent(GameEvent):
    """Something that moves tiles."""

    direction: Heading
    points: int
    motions: list[TileMotion]
    spawn: NewTile | None


class MovedEvent(TurnEvent, tag="moved"):
    """A turn was played; `redone` if it had been undone before."""

    redone: bool


class UndoneEvent(TurnEvent, tag="undone"):
    """A turn was taken back; `motions` run backwards, and `spawn` is the tile that goes."""


class NothingMovedEvent(GameEvent, tag="nothing_moved"):
    """A direction changed nothing; `points` is less than 0 where the rules take some."""

    direction: Heading
    points: int


class WonEvent(GameEvent, tag="won"):
    """The target was reached."""

    tile: int
    plays_on: bool


class OverEvent(GameEvent, tag="over"):
    """The game is over."""

    outcome: OutcomeName
    score: int
    best: int
    is_best: bool


PlayedEvent = MovedEvent | NothingMovedEvent | UndoneEvent | WonEvent | OverEvent


class GamePosition(Answer, kw_only=True):
    """The position of a game, of which `version` counts the actions that led there.

    `think_ms` is the time that a program has taken for all its moves, by the server's clock.
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
    """All that a page needs to show a game that it knows nothing of."""

    mine: bool
    watching: bool
    rules: RulesInfo
    mode: Mode
    day: str | None
    player: str
    commitment: str | None
    say: str


class EventsMessage(GamePosition, tag_field="type", tag="events", kw_only=True):
    """What has just happened in a game, and the position after it."""

    events: list[PlayedEvent]


class ServerMessage(Answer, tag_field="type"):
    """A message of the server, told apart by its `type`."""


class Me(Answer):
    """Who is connected."""

    name: str
    is_guest: bool


class HelloMessage(ServerMessage, tag="hello"):
    """The first message: who is who, and which game to continue."""

    me: Me
    current: str | None
    players: tuple[str, ...]


class ChanceInfo(Answer):
    """How many of how many recorded games made a tile, from the stage of a position on."""

    tile: int
    made: int
    games: int


class HintAnswer(Answer, kw_only=True):
    """What a player would do; `instead_of` names the player asked while that is compiled."""

    direction: Heading
    values: dict[Heading, float]
    unit: UnitName
    policy: str | None
    chance: ChanceInfo | None
    player: str
    instead_of: str | None


class HintOption(Answer):
    """A direction of a hint as a row of a list; `share` is what it keeps of the best's worth."""

    direction: Heading
    text: str
    share: float
    grade: str | None


class HintMessage(HintAnswer, tag_field="type", tag="hint", kw_only=True):
    """A hint for the game at a version."""

    game: str
    version: int
    say: str
    headline: str
    reason: str
    options: list[HintOption]
    outlook: str


class CompilingMessage(ServerMessage, tag="compiling"):
    """How far the compiler is with a player that somebody waits for."""

    game: str
    player: str
    share: float
    say: str


class AutoplayMessage(ServerMessage, tag="autoplay"):
    """A computer player has begun to make the moves, or has stopped."""

    game: str
    player: str | None


class OpenGameInfo(Answer):
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
    """An action that was not done, and the state of the game."""

    reason: str
    message: str
    of: str
    state: StateMessage | None
    retry_ms: int | UnsetType = UNSET
    chain: int | UnsetType = UNSET


class BattlePlayerInfo(Answer):
    """Somebody in a battle; without a `game` there is no board yet."""

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
    """How a battle goes: `starts_ms` and `ends_ms` are the milliseconds until then."""

    battle: str
    stage: Annotated[str, _one_of("gathering", "running", "over")]
    starts_ms: int | None
    ends_ms: int | None
    rematch: str | None
    you: int | None
    players: list[BattlePlayerInfo]


class PongMessage(ServerMessage, tag="pong"):
    """A sign of life."""


class GameRow(Answer):
    """A row of a list of games; `finished` is none while a game is in progress.

    `think_ms` is the time of all moves together, on the board of programs.
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


class LeaderboardAnswer(Answer):
    """The best game of each player."""

    rules: str
    board: BoardName
    period: Annotated[str, Meta(extra_json_schema={"pattern": _PERIOD})]
    games: list[GameRow]


class TurnInfo(Answer):
    """A turn of a record, with the board and the score after it."""

    kind: Annotated[str, _one_of("moved", "nothing_moved")]
    direction: Heading
    points: int
    motions: list[TileMotion]
    spawn: NewTile | None
    score: int
    board: Rows
    say: str


class TurnsAnswer(Answer, rename={"first": "from"}):
    """Some turns of a finished game; `times` are the milliseconds that each took."""

    game: str
    start: Rows
    first: int
    total: int
    turns: list[TurnInfo]
    times: list[int]


class ReviewedMove(Answer):
    """What a review says of a legal turn; `loss` is in the unit of the review.

    `value` is what was to come before it with the best move, `losses` what each legal direction
    loses against that, `share` the part of the chances that the move lost. `badge`, `headline` and
    `why` say it in words, `why` of a mistake only.
    """

    ply: int
    played: Heading
    best: Heading
    loss: float
    grade: GradeName
    value: float
    losses: dict[Heading, float]
    share: float
    badge: str
    headline: str
    why: str


class Mistake(Answer):
    """One of the worst moves of a game; `turn` is its place in the replay, counted from 0.

    `loss`, `luck` and `values` are in the unit of the review, `share` is the part of the chances
    that the move lost, and `source` says what valued the position; if that is a table, `chances`
    are those to make its tile after each direction.
    """

    ply: int
    turn: int
    score: int
    board: Rows
    played: Heading
    best: Heading
    values: dict[Heading, float]
    chances: dict[Heading, float]
    loss: float
    share: float
    grade: GradeName
    luck: float
    source: str
    critical: bool
    say: str


class PhaseInfo(Answer):
    """The moves while one tile was the largest; `loss` and `luck` are in the review's unit."""

    tile: int
    first: int
    last: int
    loss: float
    luck: float
    accuracy: float


class ReviewSummary(Answer):
    """What a review says of a game as a whole, and of its worst moves in order.

    `reviewed` moves are graded, all but those after a goal was reached. Where values are points,
    the score is what was `expected` at the start less the `loss` plus the `luck`. `most` is the
    largest value of a position. `graph` is that of the values, an SVG element. `swing` is how far
    the luck of such a game usually is from none.
    """

    judge: str
    unit: UnitName
    exact: bool
    reviewed: int
    accuracy: float
    expected: float | None
    most: float
    loss: float
    luck: float
    counts: dict[GradeName, int]
    phases: list[PhaseInfo]
    mistakes: list[Mistake]
    graph: str
    swing: float = 0.0


class ReviewAnswer(Answer, rename={"first": "from"}):
    """The review of a finished game as far as it is, with some of its moves.

    While it is `waiting`, `ahead` others come first; while it is `running`, `done` of the `total`
    moves are reviewed; if it `failed`, `fault` says why.
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


class VerifiedAnswer(Answer):
    """Whether a record follows its rules; with a secret, whether its tiles are `fair`."""

    ok: bool
    error: str | UnsetType = UNSET
    rules: str | UnsetType = UNSET
    player: str | UnsetType = UNSET
    score: int | UnsetType = UNSET
    plies: int | UnsetType = UNSET
    seed: int | UnsetType | None = UNSET
    fair: bool | UnsetType = UNSET


class RecordAnswer(Answer):
    """A finished game as its record, see docs/reference/record-format.md."""

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


class BotGame(Answer):
    """A game in progress of a program."""

    game: str
    rules: str
    score: int
    ply: int
    updated: str


class BotAnswer(Answer):
    """The program of a token, the person who answers for it, and its games in progress."""

    name: str
    person: str | None
    games: list[BotGame]


class ErrorAnswer(Answer):
    """What went wrong, in one line; `reason` is one word for programs.

    After `retry_ms` milliseconds the same request may be granted.
    """

    error: str
    reason: str | UnsetType = UNSET
    retry_ms: int | UnsetType = UNSET


_encoder = msgspec.json.Encoder()


def encode(answer: object) -> bytes:
    """Return an answer as JSON."""
    return _encoder.encode(answer)
