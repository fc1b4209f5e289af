"""Rooms: the games that are open in this process, with their players and watchers.

Everything here runs in the event loop; blocking calls go to `GameService` in a thread. A move is
played immediately, saved by `GroupCommit` together with others, and only then acknowledged.
Changes that cannot be saved are rolled back and every client in the room is notified.
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
from weakref import WeakValueDictionary

from py2048.app.session import Event, IllegalMove
from py2048.app.storage import GameChange
from py2048.app.storage.values import OpenGame, utc_text
from py2048.core.errors import Py2048Error, StaleGameError, StorageError
from py2048.core.language import _, language, use_language
from py2048.server import schema
from py2048.server.play import messages
from py2048.server.play.changes import GameNotices, GroupCommit
from py2048.server.play.games import LIVE, GameService, OnlineGame, check_sealed
from py2048.server.schema import ActionRejected

if TYPE_CHECKING:
    from py2048.app.storage import Store
    from py2048.server.http.monitoring import Metrics

_log = logging.getLogger("py2048.web")
_P = ParamSpec("_P")
_T = TypeVar("_T")
_THREADS = 8
_FIRST_RETRY_S, _MAX_RETRY_S = 0.1, 5.0  # for reloading a game
_MAX_LIVE = 40
_UNENTERED_S = 1.0  # Time after which a loaded room that nobody enters is closed.

LINGER_S = 60.0
"""How long a program's room stays open after a request, so that the next one need not load it."""

MAX_GAMES = 32  # Games that a program may play at the same time.
_MAX_KEPT_ROOMS = 2000  # For all programs together.
_POLL_S = 2.0  # Interval of polling for changes whose notices were lost.

MAX_QUEUED_FRAMES = 256
MAX_QUEUED_BYTES = 1_000_000
TOO_SLOW, SIGN_IN = 1013, 1008  # close codes


@dataclass(eq=False)
class Client:
    """A connection in a room, with its outgoing queue.

    `send` never blocks: it writes the frame immediately if the socket is ready and nothing is
    queued, and otherwise leaves it to `run`, which preserves order. A client whose queue exceeds
    `MAX_QUEUED_FRAMES` or `MAX_QUEUED_BYTES` is disconnected.

    Attributes:
        account: The account's id; guests have one too.
        session: The session that opened the connection, or None for a guest.
        write_now: Writes a text frame if the socket is ready; returns whether it did.
        room: The room the client is in, if any.
        close_code: Set once the connection is to be closed.
        language: Language of the messages this client receives.
        first_broadcast: Index of the first frame that this client receives as a broadcast; infinite
            until the client has received the room's state.
    """

    account: str
    session: str | None = None
    write_now: Callable[[bytes], bool] = field(default=lambda _frame: False, repr=False)
    room: Room | None = field(default=None, init=False)
    close_code: int | None = field(default=None, init=False)
    language: str = field(default_factory=language, init=False)
    first_broadcast: float = field(default=inf, init=False)
    _frames: deque[bytes] = field(default_factory=deque, init=False)
    _size: int = field(default=0, init=False)
    _sender: asyncio.Task[object] | None = field(default=None, init=False)
    _is_sending: bool = field(default=False, init=False)
    _awake: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def send(self, frame: bytes) -> None:
        """Send or queue a UTF-8 text frame."""
        if self.close_code is not None:
            return
        if not (self._frames or self._is_sending) and self.write_now(frame):
            return
        self._frames.append(frame)
        self._size += len(frame)
        if len(self._frames) > MAX_QUEUED_FRAMES or self._size > MAX_QUEUED_BYTES:
            self.close(TOO_SLOW)
        self._awake.set()

    @property
    def has_sent_all(self) -> bool:
        """Whether the queue is empty."""
        return not self._frames

    def close(self, code: int) -> None:
        """Close the connection after the queued frames, or immediately if it is too slow."""
        if self.close_code is None:
            self.close_code = code
        if code == TOO_SLOW:
            self._frames.clear()
            if self._sender is not None:
                self._sender.cancel()
        self._awake.set()

    async def run(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        """Send queued frames until the client is closed.

        The awaiting task is cancelled if the client is too slow, because sending the current frame
        may never finish.
        """
        self._sender = asyncio.current_task()
        while (frame := await self.next()) is not None:
            self._is_sending = True
            await send(frame)
            self._is_sending = False

    async def next(self) -> bytes | None:
        """Wait for the next frame; return None after the last frame of a closed client."""
        while not self._frames:
            if self.close_code is not None:
                return None
            self._awake.clear()
            await self._awake.wait()
        frame = self._frames.popleft()
        self._size -= len(frame)
        return frame


class RoomState(Enum):
    """Whether a room's game is in sync with the store."""

    OPEN = "open"
    """All changes are saved."""
    WRITING = "writing"
    """A change is being saved."""
    LOADING = "loading"
    """The game is being reloaded, after a failed write or a change by another process."""
    GONE = "gone"
    """The game has been deleted."""


class Autoplay(NamedTuple):
    """A computer player that makes a room's moves.

    Attributes:
        player: The player's spec.
        task: Makes the moves.
        address: Network address of the client that started it.
    """

    player: str
    task: asyncio.Task[None]
    address: str


class _Frame(NamedTuple):
    """A frame that is sent once all preceding changes are saved.

    Attributes:
        number: Position among the room's frames.
        data: The encoded frame per language of its receivers.
        client: The receiver, or None for a broadcast.
        since: When it was queued, from `time.perf_counter`.
    """

    number: int
    data: Mapping[str, bytes]
    client: Client | None
    since: float


class Room:
    """An open game with its clients, and the frames that wait until its changes are saved.

    Args:
        rooms: The rooms of this process.
        game: The game.

    Attributes:
        game: The game; reloading replaces it.
        state: Whether the game is in sync with the store.
        fault: Why the game cannot be reloaded, while retries continue.
        clients: Players and watchers.
        autoplay: The computer player that makes the moves, if any.
        sync_lock: Held while changes by another process are applied.
    """

    def __init__(self, rooms: Rooms, game: OnlineGame) -> None:
        self.game = game
        self.state = RoomState.OPEN
        self.fault: StorageError | None = None
        self.clients: set[Client] = set()
        self.autoplay: Autoplay | None = None
        self.sync_lock = asyncio.Lock()
        self._rooms = rooms
        self._group_commit = rooms.group_commit
        self._kept_until = 0.0
        self._state_changed = asyncio.Event()
        self._writing: list[_Frame] = []  # delivered after the current write
        self._waiting: list[_Frame] = []  # delivered after the next write
        self._frame_count = 0

    @property
    def is_settled(self) -> bool:
        """Whether all changes are saved."""
        return self.state is RoomState.OPEN

    @property
    def is_played(self) -> bool:
        """Whether the game's player is connected here."""
        return any(client.account == self.game.info.owner for client in self.clients)

    @property
    def is_kept(self) -> bool:
        """Whether the room stays open without clients, for a program that sends moves by HTTP."""
        return time.monotonic() < self._kept_until

    def keep(self) -> None:
        """Keep the room open without clients for `LINGER_S`."""
        if not self.is_kept:
            asyncio.get_running_loop().call_later(LINGER_S, self._stop_keeping)
        self._kept_until = time.monotonic() + LINGER_S

    def _stop_keeping(self) -> None:
        if (left_s := self._kept_until - time.monotonic()) > 0:
            asyncio.get_running_loop().call_later(left_s, self._stop_keeping)
        self._rooms.release(self)

    def _set_state(self, state: RoomState) -> None:
        self.state = state
        self._state_changed.set()
        self._state_changed = asyncio.Event()

    # Sending

    def send(self, message: Callable[[], schema.Reply], client: Client | None = None) -> None:
        """Send a message to one client or to all, once all preceding changes are saved.

        Args:
            message: Makes the message in the current language.
            client: The receiver, or None for a broadcast.
        """
        if client is not None:
            self._subscribe(client)
        data: dict[str, bytes] = {}
        for each in self.clients if client is None else (client,):
            if each.language not in data:
                with use_language(each.language):
                    data[each.language] = schema.encode(message())
        frame = _Frame(self._frame_count, data, client, time.perf_counter())
        self._frame_count += 1
        is_new = self.state is RoomState.OPEN and self.game.tracked.is_changed
        if is_new or self.state is RoomState.WRITING:
            self._waiting.append(frame)
            self._write()
        else:
            self._deliver([frame])

    def broadcast(self, events: Sequence[Event], client: Client | None = None) -> None:
        """Send events to everybody; without events, send the state to `client`.

        An attempt that changed nothing is reported to `client` only.
        """
        if events:
            message = partial(messages.events_of, self.game, events, self.autoplayer)
            is_private = isinstance(events[0], IllegalMove) and not self.game.tracked.is_changed
            if not is_private:
                self._subscribe(client)
            self.send(message, client if is_private else None)
        elif client is not None:
            self.send_state(client)

    def send_state(self, client: Client) -> None:
        """Send a client the state of the game."""
        self.send(partial(self.state_for, client.account), client)

    def state_for(self, account: str) -> schema.StateMessage:
        """Return the state of the game as an account sees it."""
        mine = account == self.game.info.owner
        return messages.state_of(self.game, mine=mine, autoplay=self.autoplayer)

    def _subscribe(self, client: Client | None) -> None:
        """Let a client receive broadcasts from the next frame on."""
        if client is not None and client.first_broadcast > self._frame_count:
            client.first_broadcast = self._frame_count

    def _deliver(self, frames: Sequence[_Frame]) -> None:
        for frame in frames:
            if frame.client is None:  # a program starts to think when its position is sent
                self.game.clock.since = time.monotonic()
            for each in self.clients if frame.client is None else (frame.client,):
                if frame.number >= each.first_broadcast:
                    each.send(frame.data[each.language])

    # Writing

    def _write(self) -> None:
        """Submit pending changes, unless a write or reload is in progress."""
        if self.state is RoomState.OPEN and (change := self.game.tracked.take_change()):
            self._writing, self._waiting = self._waiting, []
            self._set_state(RoomState.WRITING)
            self._group_commit.submit(change, self._on_commit)

    def _on_commit(self, error: StorageError | None) -> None:
        if self.state is not RoomState.WRITING:
            return  # a reload will show what was saved
        if error is not None:
            self.reload(None if isinstance(error, StaleGameError) else error)
            return
        self._deliver(self._writing)
        now = time.perf_counter()
        for frame in self._writing:
            self._rooms.metrics.move_seconds.observe(now - frame.since)
        self._set_state(RoomState.OPEN)
        if self._waiting:
            self._write()
        if self.is_settled:
            frames, self._waiting = self._waiting, []
            self._deliver(frames)
            self._rooms.on_settled(self)

    async def ready(self) -> None:
        """Wait until all changes are saved.

        Raises:
            ActionRejected: If the store is unavailable (``storage``) or the game has been deleted
                (``unknown_game``).
        """
        while self.state is not RoomState.OPEN:
            if self.state is RoomState.GONE:
                raise _deleted()
            if self.fault is not None:
                raise messages.unsaved(self.fault)
            await self._state_changed.wait()

    async def loaded(self) -> None:
        """Wait while the game is being reloaded; raises the same errors as `ready`."""
        if self.state is RoomState.LOADING:
            await self.ready()

    # Autoplay

    @property
    def autoplayer(self) -> str | None:
        """Spec of the computer player that makes the moves, if any."""
        return self.autoplay.player if self.autoplay else None

    def set_autoplay(self, autoplay: Autoplay | None) -> None:
        """Replace the computer player that makes the moves and notify all clients."""
        if self.autoplay is not None:
            self.autoplay.task.cancel()
        self.autoplay = autoplay
        self.send(partial(schema.AutoplayMessage, self.game.id, self.autoplayer))

    def end_autoplay(self) -> None:
        """Stop the computer player, if any."""
        if self.autoplay is not None:
            self.set_autoplay(None)

    # Reloading

    def reload(self, error: StorageError | None = None) -> None:
        """Reload the game from the store and discard unsaved changes.

        Args:
            error: Why the last write failed, or None if another process changed the game. A failed
                write may have reached the store all the same, so frames are kept until the game has
                been read.
        """
        if error is not None:
            self._rooms.note_fault(error, "a move could not be written")
        if self.state is not RoomState.LOADING:
            unconfirmed = [*self._writing, *self._waiting] if error else []
            self._writing, self._waiting = [], []
            self._set_state(RoomState.LOADING)
            self.end_autoplay()
            self._rooms.start(self._load(error, unconfirmed))

    async def _load(self, error: StorageError | None, unconfirmed: Sequence[_Frame]) -> None:
        """Load the game, retrying while clients wait."""
        wait_s = _FIRST_RETRY_S
        while True:
            try:
                game = await self._rooms.in_thread(self._rooms.games.load, self.game.id)
            except ActionRejected:  # deleted by its player, or discarded for a new game
                self._set_state(RoomState.GONE)
                self._reject_all(_deleted, has_state=False)
                self._rooms.abandon(self)
                return
            except Py2048Error as failure:
                fault = failure if isinstance(failure, StorageError) else StorageError(str(failure))
                self._rooms.note_fault(fault, "a game cannot be read again")
                if self.fault is None:
                    self.fault = error or fault
                    self._set_state(RoomState.LOADING)  # wakes `ready`, which raises the fault
                    self._reject_all(partial(messages.unsaved, fault), has_state=False)
                if not (self.clients and fault.kind):
                    self._rooms.abandon(self)
                    return
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, _MAX_RETRY_S)
            else:
                self._replace_game(game, error, unconfirmed)
                return

    def _replace_game(
        self, game: OnlineGame, error: StorageError | None, unconfirmed: Sequence[_Frame]
    ) -> None:
        """Install the reloaded game and notify all clients."""
        # A record may have a lower version than the client's last action. The state alone would
        # then not tell the client that the action was rejected.
        is_undone = game.is_finished and game.version < self.game.version
        if error is not None and game.has_same_turns(self.game):
            self._deliver(unconfirmed)  # the write succeeded after all
            error = None
        was_reported, self.fault, self.game = self.fault is not None, None, game
        if error is not None and not was_reported:
            self._reject_all(partial(messages.unsaved, error))
        else:
            for client in self.clients:
                if is_undone and client.account == game.info.owner:
                    self._reject(client, game.over)
                else:
                    self.send_state(client)
        self._set_state(RoomState.OPEN)
        self._rooms.release(self)

    def _reject_all(self, why: Callable[[], ActionRejected], *, has_state: bool = True) -> None:
        for client in self.clients:
            self._reject(client, why, has_state=has_state)

    def _reject(
        self, client: Client, why: Callable[[], ActionRejected], *, has_state: bool = True
    ) -> None:
        def message() -> schema.Reply:
            state = self.state_for(client.account) if has_state else None
            return messages.rejection(why(), "", state)

        self.send(message, client)


def _deleted() -> ActionRejected:
    return ActionRejected("unknown_game", _("this game has been deleted"))


class Rooms:
    """The rooms of one process.

    Args:
        store: The store.
        metrics: Counts events.
        notices: Exchanges notices with other processes; None if no other process can use the store.

    Attributes:
        games: The game service.
        open: Rooms by game id.
        clients: All connected clients.
        group_commit: Saves changes.
    """

    def __init__(self, store: Store, metrics: Metrics, notices: GameNotices | None = None) -> None:
        self.open: dict[str, Room] = {}
        self.games = GameService(store)
        self.metrics = metrics
        self.notices = notices
        self.clients: set[Client] = set()
        self._opening: dict[str, asyncio.Task[Room]] = {}
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="py2048-games")
        # A single thread replays finished games, to keep move latency low.
        self._finishing = ThreadPoolExecutor(1, thread_name_prefix="py2048-finish")
        self._ending = WeakValueDictionary[str, asyncio.Task[None]]()  # by account, until done
        self._tasks: set[asyncio.Task[None]] = set()
        self._last_played: OrderedDict[str, None] = OrderedDict()  # game ids, the latest last
        self.group_commit = GroupCommit(store, self._on_written)

    async def in_thread(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Run a blocking call in a thread, with the current context variables."""
        context = copy_context()
        return await self._loop.run_in_executor(
            self._pool, lambda: context.run(call, *args, **kwargs)
        )

    def start(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Run a coroutine in the background; `close` cancels it."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # Entering and leaving

    async def create(self, client: Client, rules: str, mode: str) -> Room:
        """Start a new game and enter its room.

        Raises:
            ActionRejected, StorageError: As `GameService.begin_game`.
        """
        await self.wait_for_records(client.account)  # a score may be the new best
        game = await self.in_thread(self.games.begin_game, client.account, rules, mode)
        room = self.open.setdefault(game.id, Room(self, game))
        self.enter(client, room)
        return room

    async def find(self, game_id: str) -> Room:
        """Return the room of a game, loading the game if necessary.

        Raises:
            ActionRejected: If the game does not exist.
            StorageError: If the store cannot be read.
        """
        if game_id in self.open:
            return self.open[game_id]
        if game_id not in self._opening:
            self._opening[game_id] = self._loop.create_task(self._load(game_id))
        return await asyncio.shield(self._opening[game_id])

    async def find_own(self, game_id: str, account: str) -> Room:
        """Return the room of an account's own game, as `find` does.

        Raises:
            ActionRejected: If the game is another player's (``not_yours`` or ``sealed``).
        """
        if game_id in self.open and self.notices is not None:
            await self._sync(
                self.open[game_id]
            )  # the player may have reconnected after a process died
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
        self._loop.call_later(_UNENTERED_S, self.release, room)
        return room

    def enter(self, client: Client, room: Room) -> None:
        """Move a client to a room."""
        if client.room is not room:
            self.leave(client)
            self.open.setdefault(room.game.id, room)
            room.clients.add(client)
            client.room, client.first_broadcast = room, inf

    def leave(self, client: Client) -> None:
        """Remove a client from its room."""
        room, client.room = client.room, None
        if room is None:
            return
        room.clients.discard(client)
        if not room.clients:
            room.end_autoplay()
        self.release(room)

    def release(self, room: Room) -> None:
        """Close a room that is neither used nor kept, if all its changes are saved."""
        game = room.game
        is_used = room.clients or (room.is_kept and not game.is_over)
        if not is_used and room.is_settled and self.open.get(game.id) is room:
            del self.open[game.id]

    def keep(self, room: Room) -> None:
        """Keep the room of a program's game open between its moves.

        Raises:
            ActionRejected: If too many rooms are kept, in total or for this program (``busy``).
        """
        kept = [] if room.is_kept else [each for each in self.open.values() if each.is_kept]
        if len(kept) >= _MAX_KEPT_ROOMS:
            raise ActionRejected("busy", "too many programs are playing: try again later", LINGER_S)
        if sum(each.game.info.owner == room.game.info.owner for each in kept) >= MAX_GAMES:
            message = f"a program plays at most {MAX_GAMES} games at the same time"
            raise ActionRejected("busy", message, LINGER_S)
        room.keep()

    def disconnect(self, account: str) -> None:
        """Close an account's connections."""
        for client in tuple(self.clients):
            if client.account == account:
                client.close(SIGN_IN)

    def forget(self, accounts: Collection[str]) -> None:
        """Close the rooms of deleted accounts and notify their clients."""
        for room in tuple(self.open.values()):
            if room.game.info.owner in accounts:
                room.reload()

    # Writing

    def _on_written(self, written: Sequence[GameChange]) -> None:
        """Update metrics and notify other processes, after the acknowledgements."""
        self.metrics.commits.inc()
        self.metrics.moves.inc(sum(len(change.turns) for change in written))
        for change in written:
            self._mark_played(change.id)
            if self.notices is not None:
                self.notices.tell(change.id, change.revision)

    def on_settled(self, room: Room) -> None:
        """Finish a game that is over, and close its room if it is unused."""
        if room.game.is_over:
            self._ending[room.game.info.owner] = self.start(self._finish(room.game.id))
        self.release(room)

    async def wait_for_records(self, account: str) -> None:
        """Wait until the account's games that have just ended are counted."""
        if task := self._ending.get(account):  # the latest one: they are finished in order
            await asyncio.wait([task])

    async def _finish(self, game_id: str) -> None:
        try:
            finish = self.games.finish
            board = await self._loop.run_in_executor(self._finishing, finish, game_id)
        except StorageError as error:  # `finalize_orphans` retries
            self.note_fault(error, "a game could not be finished")
            return
        except Py2048Error as error:
            self.metrics.unverified.inc()
            _log.error("a game was not counted", extra={"game": game_id, "fault": str(error)})
            return
        if board:
            self.metrics.finished.inc()

    def abandon(self, room: Room) -> None:
        """Close a room whose game was deleted or cannot be read."""
        self.open.pop(room.game.id, None)
        for client in room.clients:
            client.room = None

    def note_fault(self, error: StorageError, message: str) -> None:
        """Count and log a storage error."""
        self.metrics.storage_faults.inc()
        _log.error(message, extra={"fault": str(error)})

    # Other processes

    async def follow_others(self) -> None:
        """Apply changes by other processes to open games, until cancelled."""
        if self.notices is None:
            return
        listening = self.start(self.notices.run(self._on_notice))
        while not listening.done():
            await asyncio.sleep(_POLL_S)
            # While notices arrive, a room with its player is not polled: if one was lost, the
            # player's next move is rejected.
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
                # A missing game has been finished, and its record counts as the next revision.
                self._sync_soon(game_id, now.get(game_id, self.open[game_id].game.version + 1))

    def _on_notice(self, revisions: Mapping[str, int]) -> None:
        for game_id, revision in revisions.items():
            self._mark_played(game_id)
            self._sync_soon(game_id, revision)

    def _sync_soon(self, game_id: str, revision: int) -> None:
        """Update an open game to a given revision or a later one, in the background."""
        room = self.open.get(game_id)
        if room is not None and revision > room.game.version:
            self.start(self._sync_to(room, revision))

    async def _sync_to(self, room: Room, revision: int) -> None:
        try:
            async with room.sync_lock:
                if revision > room.game.version:
                    await self._sync(room)
        except StorageError as error:
            self.note_fault(error, "another process cannot be followed")

    async def _sync(self, room: Room) -> None:
        """Update an open game to the revision in the store.

        Raises:
            StorageError: If the store cannot be read.
        """
        try:
            await room.ready()
        except ActionRejected:
            return  # it cannot be read, or has been deleted
        game = room.game
        since = self.games.store.games.change_since
        change = await self.in_thread(since, game.id, game.version, len(game.tracked.codes))
        if self.open.get(game.id) is not room or room.game is not game or not room.is_settled:
            return
        if change is not None and change.revision <= game.version:
            return
        room.end_autoplay()  # because the player is active in the other process
        events = game.apply(change) if change is not None else None
        if events is None:  # an undo, or the game was finished or deleted
            room.reload()
        else:
            room.broadcast(events)

    def _mark_played(self, game_id: str) -> None:
        """Move a game to the end of the recently played ones."""
        self._last_played[game_id] = None
        self._last_played.move_to_end(game_id)
        if len(self._last_played) > _MAX_LIVE:
            self._last_played.popitem(last=False)

    async def live_games(self) -> list[OpenGame]:
        """Return recently played games, including those of other processes."""
        since = utc_text(datetime.now(UTC) - LIVE)
        games = await self.in_thread(self.games.store.online.live, tuple(self._last_played))
        return [game for game in games if game.updated >= since]

    async def close(self) -> None:
        """Save all changes, finish games that are over, and close the store."""
        for room in tuple(self.open.values()):
            room.end_autoplay()
        for room in tuple(self.open.values()):
            with suppress(ActionRejected):  # if the store is unavailable, nothing can be saved
                await room.ready()
        await asyncio.wait_for(asyncio.to_thread(self.group_commit.close), 40)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._finishing.shutdown()
        self._pool.shutdown()
        self.games.store.close()
