"""Rooms: the games that are open in one process, who plays or watches them, and their saving.

Everything here happens in the event loop, but for what may block: that goes to `GameService` in a
thread. A move is done at once, then written by `GroupCommit` together with others, and only then
answered. What cannot be written is taken back, and everybody in the room is told so.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from math import inf
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

from starlette.websockets import WebSocketDisconnect

from py2048.app.session import Event, IllegalMove
from py2048.app.storage import GameChange
from py2048.app.storage.values import OpenGame, utc_text
from py2048.core.errors import Py2048Error, StaleGameError, StorageError
from py2048.core.language import _, language, use_language
from py2048.server import schema
from py2048.server.play import messages
from py2048.server.play.changes import GroupCommit, Notices
from py2048.server.play.games import LIVE, GameService, OnlineGame, check_sealed
from py2048.server.schema import ActionRejected

if TYPE_CHECKING:
    from py2048.app.storage import Store
    from py2048.server.http.monitoring import Metrics

_log = logging.getLogger("py2048.web")
_P = ParamSpec("_P")
_T = TypeVar("_T")
_THREADS = 8
_FIRST_WAIT_S, _MAX_WAIT_S = 0.1, 5.0
"""Between two tries to read a game again."""

_MAX_LIVE = 40
_ABANDONED_S = 1.0
"""After this a room is closed that no client has entered since its game was loaded."""

LINGER_S = 60.0
"""How long a program's game stays open after the last move: loading it again replays it."""

MAX_GAMES = 32
"""The games that a program plays at the same time."""

_MAX_KEPT = 2000
"""The games that all programs play at the same time."""

_LOOK_S = 2.0
"""Between two looks into the store for what other processes did and no notice told."""

MAX_FRAMES = 256
MAX_CHARACTERS = 1_000_000
TOO_SLOW, SIGN_IN = 1013, 1008
_LOST = OSError, WebSocketDisconnect


@dataclass(eq=False)
class Client:
    """Somebody in a room, and the frames that are still to be sent.

    The server never waits for a slow reader: `send` returns at once, and a client that reads too
    slowly loses the connection. A frame goes out at once where that is possible, and else by `run`,
    which keeps the order.

    Args:
        account: who it is.
        session: the session that opened the connection, None for a guest.
        write_now: sends a text frame at once if it can, and returns whether it did.

    Attributes:
        room: the room, None outside of rooms.
        closed: the code to close the connection with, once there is one.
        language: what it reads.
        hears_from: the number of the room's first frame for everybody that is sent here too;
            none is until the client has been told something itself, such as the state.
    """

    account: str
    session: str | None = None
    write_now: Callable[[bytes], bool] = field(default=lambda _frame: False, repr=False)
    room: Room | None = field(default=None, init=False)
    closed: int | None = field(default=None, init=False)
    language: str = field(default_factory=language, init=False)
    hears_from: float = field(default=inf, init=False)
    _frames: deque[bytes] = field(default_factory=deque, init=False)
    _size: int = field(default=0, init=False)
    _sender: asyncio.Task[object] | None = field(default=None, init=False)
    _is_sending: bool = field(default=False, init=False)
    _awake: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def send(self, frame: bytes) -> None:
        """Send a text frame, in UTF-8, soon, after those before it."""
        if self.closed is not None:
            return
        if not (self._frames or self._is_sending) and self.write_now(frame):
            return
        self._frames.append(frame)
        self._size += len(frame)
        if len(self._frames) > MAX_FRAMES or self._size > MAX_CHARACTERS:
            self.close(TOO_SLOW)
        self._awake.set()

    @property
    def has_sent_all(self) -> bool:
        """Whether no frame waits."""
        return not self._frames

    def close(self, code: int) -> None:
        """Send the frames left, then close with `code`; a slow reader gets nothing more."""
        if self.closed is None:
            self.closed = code
        if code == TOO_SLOW:
            self._frames.clear()
            if self._sender is not None:
                self._sender.cancel()
        self._awake.set()

    async def run(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        """Send frames until the client is closed.

        The task that awaits this is cancelled when the client is closed as too slow, as sending
        the current frame may never end.
        """
        self._sender = asyncio.current_task()
        while (frame := await self.next()) is not None:
            self._is_sending = True
            await send(frame)
            self._is_sending = False

    async def next(self) -> bytes | None:
        """Return the next frame, when there is one; None after the last of a closed client."""
        while not self._frames:
            if self.closed is not None:
                return None
            self._awake.clear()
            await self._awake.wait()
        frame = self._frames.popleft()
        self._size -= len(frame)
        return frame


async def until_one_ends(*works: Coroutine[object, object, object]) -> None:
    """Do what belongs to a connection at the same time, until one of it ends; log what failed."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception) and not isinstance(result, _LOST):
                _log.error("a connection failed", exc_info=result)


class RoomState(Enum):
    """What is done with the game of a room at the moment."""

    OPEN = "open"
    """All that was done is written."""
    WRITING = "writing"
    LOADING = "loading"
    """It is read from the store again: another process changed it, or a write failed."""
    GONE = "gone"


class Autoplay(NamedTuple):
    """A computer player that makes the moves: its spec, its task, and where it was asked for."""

    player: str
    task: asyncio.Task[None]
    address: str


class _Frame(NamedTuple):
    """A frame that is sent when all that happened before it is written.

    Attributes:
        number: its place among the frames of the room.
        data: the frame, in each language in which somebody reads it.
        client: its receiver, None for everybody in the room.
        since: when it was queued.
    """

    number: int
    data: Mapping[str, bytes]
    client: Client | None
    since: float


class Room:
    """An open game, with its clients and the frames that wait until the game is written.

    Args:
        rooms: the rooms of this process.
        game: the game.

    Attributes:
        game: the game.
        state: what is done with it.
        fault: why it cannot be read, while that is tried again.
        clients: who plays or watches it.
        autoplay: the computer player that makes the moves, None where none does.
        following: is held while it is brought to a revision of the store.
        counting: the task that makes a record of the game, once it is over.
    """

    def __init__(self, rooms: Rooms, game: OnlineGame) -> None:
        self.game = game
        self.state = RoomState.OPEN
        self.fault: StorageError | None = None
        self.clients: set[Client] = set()
        self.autoplay: Autoplay | None = None
        self.following = asyncio.Lock()
        self.counting: asyncio.Task[None] | None = None
        self._rooms = rooms
        self._group_commit = rooms.group_commit
        self._kept_until = 0.0
        self._changed = asyncio.Event()
        self._writing: list[_Frame] = []  # sent when what is being written is written
        self._waiting: list[_Frame] = []  # sent after the write that follows
        self._frames = 0

    @property
    def is_settled(self) -> bool:
        """Whether all that was done is written."""
        return self.state is RoomState.OPEN

    @property
    def is_played(self) -> bool:
        """Whether the player of the game is here."""
        return any(client.account == self.game.info.owner for client in self.clients)

    @property
    def is_kept(self) -> bool:
        """Whether it stays open without anybody in it, for a program that sends moves by HTTP."""
        return time.monotonic() < self._kept_until

    def keep(self) -> None:
        """Stay open for a while."""
        if not self.is_kept:
            asyncio.get_running_loop().call_later(LINGER_S, self._let_go)
        self._kept_until = time.monotonic() + LINGER_S

    def _let_go(self) -> None:
        """Close, unless somebody is here or it was kept meanwhile."""
        if (left := self._kept_until - time.monotonic()) > 0:
            asyncio.get_running_loop().call_later(left, self._let_go)
        self._rooms.release(self)

    def _become(self, state: RoomState) -> None:
        """Change the state, and wake those who wait for that."""
        self.state = state
        self._changed.set()
        self._changed = asyncio.Event()

    # Sending

    def send(self, told: Callable[[], schema.Answer], client: Client | None = None) -> None:
        """Tell something, to all if no client is given, when all before it is written."""
        self._let_hear(client)
        data = {}
        for code in {each.language for each in (self.clients if client is None else (client,))}:
            with use_language(code):
                data[code] = schema.encode(told())
        frame = _Frame(self._frames, data, client, time.perf_counter())
        self._frames += 1
        is_new = self.state is RoomState.OPEN and self.game.tracked.is_changed
        if is_new or self.state is RoomState.WRITING:
            self._waiting.append(frame)
            self._write()
        else:
            self._deliver([frame])

    def broadcast(self, events: Sequence[Event], client: Client | None = None) -> None:
        """Tell everybody what happened; without events send `client` the state.

        An attempt that changed nothing is told to `client` alone.
        """
        if events:
            self._let_hear(client)
            told = partial(messages.events_of, self.game, events, self.autoplayer)
            is_news = self.game.tracked.is_changed or any(
                not isinstance(each, IllegalMove) for each in events
            )
            self.send(told, None if is_news else client)
        elif client is not None:
            self.send_state(client)

    def send_state(self, client: Client) -> None:
        """Send a client the state of the game."""
        self.send(partial(self.state_for, client.account), client)

    def state_for(self, account: str) -> schema.StateMessage:
        """Return the state of the game for an account."""
        mine = account == self.game.info.owner
        return messages.state_of(self.game, mine=mine, autoplay=self.autoplayer)

    def _let_hear(self, client: Client | None) -> None:
        """Let a client hear, from now on, what everybody is told."""
        if client is not None:
            client.hears_from = min(client.hears_from, self._frames)

    def _deliver(self, frames: Sequence[_Frame]) -> None:
        for frame in frames:
            if frame.client is None:  # a position is on its way to the program that plays
                self.game.clock.since = time.monotonic()
            for each in self.clients if frame.client is None else (frame.client,):
                if frame.number >= each.hears_from:
                    each.send(frame.data[each.language])

    # Writing

    def _write(self) -> None:
        """Have what happened written, unless something is being written or read."""
        if self.state is RoomState.OPEN and (change := self.game.tracked.take_change()):
            self._writing, self._waiting = self._waiting, []
            self._become(RoomState.WRITING)
            self._group_commit.submit(change, self._on_commit)

    def _on_commit(self, error: StorageError | None) -> None:
        """Continue after a change was written, or could not be."""
        if self.state is not RoomState.WRITING:
            return  # the game is read again, whatever was written
        if error is not None:
            self.reload(None if isinstance(error, StaleGameError) else error)
            return
        self._deliver(self._writing)
        now = time.perf_counter()
        for frame in self._writing:
            self._rooms.metrics.move_seconds.observe(now - frame.since)
        self._become(RoomState.OPEN)
        self._write()
        if self.is_settled:
            frames, self._waiting = self._waiting, []
            self._deliver(frames)
            self._rooms.on_settled(self)

    async def ready(self) -> None:
        """Wait until all that was done is written.

        Raises:
            ActionRejected: while the store cannot be written or read (``storage``), or once the
                game is gone (``unknown_game``).
        """
        while self.state is not RoomState.OPEN:
            if self.state is RoomState.GONE:
                raise _gone()
            if self.fault is not None:
                raise messages.unsaved(self.fault)
            await self._changed.wait()

    async def loaded(self) -> None:
        """Wait while the game is read again; raises as `ready`."""
        if self.state is RoomState.LOADING:
            await self.ready()

    # Autoplay

    @property
    def autoplayer(self) -> str | None:
        """The spec of the computer player that makes the moves, if any."""
        return self.autoplay.player if self.autoplay else None

    def set_autoplay(self, autoplay: Autoplay | None) -> None:
        """Note, and tell everybody, which computer player moves here; the one before stops."""
        if self.autoplay is not None:
            self.autoplay.task.cancel()
        self.autoplay = autoplay
        self.send(partial(schema.AutoplayMessage, self.game.id, self.autoplayer))

    def end_autoplay(self) -> None:
        """Stop the computer player that makes the moves, if any."""
        if self.autoplay is not None:
            self.set_autoplay(None)

    # When another process changed the game, or the store fails

    def reload(self, error: StorageError | None = None) -> None:
        """Load the game again and forget what is not written.

        Args:
            error: why it could not be written, None if another process changed the game. A change
                may be in the store although its acknowledgement was lost, so answers are kept until
                the store is read.
        """
        if error is not None:
            self._rooms.note_fault(error, "a move could not be written")
        if self.state is not RoomState.LOADING:
            answers = [*self._writing, *self._waiting] if error else []
            self._writing, self._waiting = [], []
            self._become(RoomState.LOADING)
            self.end_autoplay()
            self._rooms.start(self._load(error, answers))

    async def _load(self, error: StorageError | None, answers: Sequence[_Frame]) -> None:
        """Load the game, for as long as somebody waits for it."""
        wait = _FIRST_WAIT_S
        while True:
            try:
                game = await self._rooms.in_thread(self._rooms.games.load, self.game.id)
            except ActionRejected:  # its player has deleted it, or it gave way to a new one
                self._become(RoomState.GONE)
                self._tell_all(_gone, has_state=False)
                self._rooms.abandon(self)
                return
            except Py2048Error as failure:
                fault = failure if isinstance(failure, StorageError) else StorageError(str(failure))
                self._rooms.note_fault(fault, "a game cannot be read again")
                if self.fault is None:
                    self.fault = error or fault
                    self._become(RoomState.LOADING)  # those who wait need to know
                    self._tell_all(partial(messages.unsaved, fault), has_state=False)
                if not (self.clients and fault.kind):
                    self._rooms.abandon(self)
                    return
                await asyncio.sleep(wait)
                wait = min(2 * wait, _MAX_WAIT_S)
            else:
                self._replace(game, error, answers)
                return

    def _replace(
        self, game: OnlineGame, error: StorageError | None, answers: Sequence[_Frame]
    ) -> None:
        """Replace the game by what the store has, and tell everybody."""
        # A record has the version that its player knows: a mere state would answer no action.
        is_undone = game.is_finished and game.version < self.game.version
        if error is not None and game.leads_where(self.game):
            self._deliver(answers)  # all was written
            error = None
        is_told, self.fault, self.game = self.fault is not None, None, game
        if error is not None and not is_told:
            self._tell_all(partial(messages.unsaved, error))
        else:
            for client in self.clients:
                if is_undone and client.account == game.info.owner:
                    self._reject(client, game.over)
                else:
                    self.send_state(client)
        self._become(RoomState.OPEN)
        self._rooms.release(self)

    def _tell_all(self, why: Callable[[], ActionRejected], *, has_state: bool = True) -> None:
        """Tell everybody that what they did is not done."""
        for client in self.clients:
            self._reject(client, why, has_state=has_state)

    def _reject(
        self, client: Client, why: Callable[[], ActionRejected], *, has_state: bool = True
    ) -> None:
        def told() -> schema.Answer:
            state = self.state_for(client.account) if has_state else None
            return messages.rejection(why(), "", state)

        self.send(told, client)


def _gone() -> ActionRejected:
    return ActionRejected("unknown_game", _("this game is gone"))


class Rooms:
    """The rooms of one process.

    Args:
        store: where the games are.
        metrics: counts what happens.
        notices: tells other processes what happens here, and hears of theirs; None where there
            can be none.

    Attributes:
        games: the games.
        open: the rooms by their games.
        clients: everybody who is connected.
        group_commit: writes the games.
    """

    def __init__(self, store: Store, metrics: Metrics, notices: Notices | None = None) -> None:
        self.open: dict[str, Room] = {}
        self.games = GameService(store)
        self.metrics = metrics
        self.notices = notices
        self.clients: set[Client] = set()
        self._opening: dict[str, asyncio.Task[Room]] = {}
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="py2048-games")
        # Games are replayed one at a time, so that those who play feel little of it.
        self._finishing = ThreadPoolExecutor(1, thread_name_prefix="py2048-finish")
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed: OrderedDict[str, None] = OrderedDict()  # the last games, the latest last
        self.group_commit = GroupCommit(store, self._note_written)

    async def in_thread(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Do something that blocks."""
        here = copy_context()  # the language, among it
        return await self._loop.run_in_executor(self._pool, lambda: here.run(call, *args, **kwargs))

    def start(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Do something in the background, and end it with the server."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # Entering and leaving

    async def create(self, client: Client, rules: str, mode: str) -> Room:
        """Begin a new game and enter its room.

        Raises:
            ActionRejected, StorageError: see `GameService.begin_game`.
        """
        if client.room is not None and client.room.counting is not None:
            await asyncio.wait([client.room.counting])  # its score may be the best by now
        game = await self.in_thread(self.games.begin_game, client.account, rules, mode)
        room = self.open.setdefault(game.id, Room(self, game))
        self.enter(client, room)
        return room

    async def find(self, game_id: str) -> Room:
        """Return the room of a game, loading it if it is not open.

        Raises:
            ActionRejected: if there is no such game.
            StorageError: if the store cannot be read.
        """
        if game_id in self.open:
            return self.open[game_id]
        if game_id not in self._opening:
            self._opening[game_id] = self._loop.create_task(self._load(game_id))
        return await asyncio.shield(self._opening[game_id])

    async def find_own(self, game_id: str, account: str) -> Room:
        """Return the room of an account's own game, as `find`.

        Raises:
            ActionRejected: if the game is somebody else's (``not_yours``, or ``sealed``).
        """
        if game_id in self.open and self.notices is not None:
            await self._follow(self.open[game_id])  # its player may have left a process that died
        room = await self.find(game_id)
        if room.game.info.owner != account:
            self.release(room)
            check_sealed(room.game.info, account)
            raise ActionRejected("not_yours", _("this is somebody else's game: you may watch it"))
        return room

    async def _load(self, game_id: str) -> Room:
        try:
            game = await self.in_thread(self.games.load, game_id)
        finally:
            del self._opening[game_id]
        room = self.open.setdefault(game_id, Room(self, game))
        self._loop.call_later(_ABANDONED_S, self.release, room)  # who asked for it may be gone
        return room

    def enter(self, client: Client, room: Room) -> None:
        """Move a client to a room."""
        if client.room is not room:
            self.leave(client)
            self.open.setdefault(room.game.id, room)
            room.clients.add(client)
            client.room, client.hears_from = room, inf

    def leave(self, client: Client) -> None:
        """Let a client leave the room; the game stays in the store."""
        room, client.room = client.room, None
        if room is None:
            return
        room.clients.discard(client)
        if not room.clients:
            room.end_autoplay()
        self.release(room)

    def release(self, room: Room) -> None:
        """Close a room that is empty and not kept, when all of it is written."""
        game = room.game
        is_used = room.clients or (room.is_kept and not game.is_over)
        if not is_used and room.is_settled and self.open.get(game.id) is room:
            del self.open[game.id]

    def keep(self, room: Room) -> None:
        """Keep the room of a program's game open while it plays.

        Raises:
            ActionRejected: reason ``busy``, if too many programs play, or this one too many games.
        """
        kept = [] if room.is_kept else [each for each in self.open.values() if each.is_kept]
        if len(kept) >= _MAX_KEPT:
            raise ActionRejected("busy", "too many programs play just now", LINGER_S)
        if sum(each.game.info.owner == room.game.info.owner for each in kept) >= MAX_GAMES:
            most = f"a program plays at most {MAX_GAMES} games at the same time"
            raise ActionRejected("busy", most, LINGER_S)
        room.keep()

    def disconnect(self, account: str) -> None:
        """End the connections of an account, which has to sign in again or is deleted."""
        for client in tuple(self.clients):
            if client.account == account:
                client.close(SIGN_IN)

    def forget(self, accounts: Collection[str]) -> None:
        """Close the rooms of accounts that were deleted, and tell everybody in them."""
        for room in tuple(self.open.values()):
            if room.game.info.owner in accounts:
                room.reload()

    # Writing

    def _note_written(self, written: Sequence[GameChange]) -> None:
        """Count what is written, after the answers, and let other processes hear of it."""
        self.metrics.commits.inc()
        self.metrics.moves.inc(sum(len(change.turns) for change in written))
        for change in written:
            self._note_live(change.id)
            if self.notices is not None:
                self.notices.tell(change.id, change.revision)

    def on_settled(self, room: Room) -> None:
        """Finish a game that is over, and close its room when it is empty."""
        if room.game.is_over:
            room.counting = self.start(self._finish(room.game.id))
        self.release(room)

    async def _finish(self, game_id: str) -> None:
        try:
            finish = self.games.finish
            board = await self._loop.run_in_executor(self._finishing, finish, game_id)
        except StorageError as error:  # it is finished later
            self.note_fault(error, "a game could not be finished")
            return
        except Py2048Error as error:
            self.metrics.unverified.inc()
            _log.error("a game was not counted", extra={"game": game_id, "fault": str(error)})
            return
        if board:
            self.metrics.finished.inc()

    def abandon(self, room: Room) -> None:
        """Close a room whose game is gone or cannot be read any more."""
        self.open.pop(room.game.id, None)
        for client in room.clients:
            client.room = None

    def note_fault(self, error: StorageError, what: str) -> None:
        """Count and log that the store failed."""
        self.metrics.storage_faults.inc()
        _log.error(what, extra={"fault": str(error)})

    # Other processes, and what is live

    async def follow_others(self) -> None:
        """Follow what other processes do in the games that are open here, until cancelled."""
        if self.notices is None:
            return
        listening = self.start(self.notices.run(self._hear))
        while not listening.done():
            await asyncio.sleep(_LOOK_S)
            # A notice of a game that is only watched here may be lost; its own player would notice.
            wanted = [
                game_id
                for game_id, room in self.open.items()
                if (self.notices.fault or not room.is_played) and not room.game.is_over
            ]
            try:
                now = await self.in_thread(self.games.store.games.revisions, wanted)
            except StorageError as error:
                self.note_fault(error, "other processes cannot be followed")
                continue
            for game_id in filter(self.open.__contains__, wanted):
                # A game that is gone is finished: its record is its last revision.
                self._follow_to(game_id, now.get(game_id, self.open[game_id].game.version + 1))

    def _hear(self, revisions: Mapping[str, int]) -> None:
        """Take note of what another process has written."""
        for game_id, revision in revisions.items():
            self._note_live(game_id)
            self._follow_to(game_id, revision)

    def _follow_to(self, game_id: str, revision: int) -> None:
        """Have a game that is open brought to at least a revision, from the store."""
        room = self.open.get(game_id)
        if room is not None and revision > room.game.version:
            self.start(self._bring_to(room, revision))

    async def _bring_to(self, room: Room, revision: int) -> None:
        try:
            async with room.following:  # more may come meanwhile
                if revision > room.game.version:
                    await self._follow(room)
        except StorageError as error:
            self.note_fault(error, "another process cannot be followed")

    async def _follow(self, room: Room) -> None:
        """Bring an open game to where the store has it.

        Raises:
            StorageError: if the store cannot be read.
        """
        try:
            await room.ready()
        except ActionRejected:
            return  # it cannot be read, or is gone
        game = room.game
        since = self.games.store.games.change_since
        change = await self.in_thread(since, game.id, game.version, len(game.tracked.codes))
        if self.open.get(game.id) is not room or room.game is not game or not room.is_settled:
            return
        if change is not None and change.revision <= game.version:
            return
        room.end_autoplay()  # somebody acts there
        events = game.follow(change) if change is not None else None
        if events is None:  # undone, finished or gone; it is replayed in a thread
            room.reload()
        else:
            room.broadcast(events)

    def _note_live(self, game_id: str) -> None:
        """Note that a game was played just now, here or elsewhere."""
        self._changed[game_id] = None
        self._changed.move_to_end(game_id)
        if len(self._changed) > _MAX_LIVE:
            self._changed.popitem(last=False)

    async def live_games(self) -> list[OpenGame]:
        """Return the games that changed last, here or in another process that can be heard."""
        since = utc_text(datetime.now(UTC) - LIVE)
        games = await self.in_thread(self.games.store.online.live, tuple(self._changed))
        return [game for game in games if game.updated >= since]

    async def close(self) -> None:
        """Write all that was done, finish what is over, and close the store."""
        for room in tuple(self.open.values()):
            room.end_autoplay()
        for room in tuple(self.open.values()):
            with suppress(ActionRejected):  # the store is away: what was acknowledged is in it
                await room.ready()
        await asyncio.wait_for(asyncio.to_thread(self.group_commit.close), 40)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._finishing.shutdown()
        self._pool.shutdown()
        self.games.store.close()
