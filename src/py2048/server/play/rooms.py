"""Rooms: the games that are open in this process, with their players and spectators.

Everything in this module runs in the event loop, except blocking calls to `GameService`, which run
in a thread. A move is played immediately, saved by `GroupCommit` together with other changes, and
only then acknowledged. Changes that cannot be saved are rolled back, and every client in the room
is notified.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from math import inf
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from msgspec import UNSET, UnsetType

from py2048.app.storage import GameChange
from py2048.app.storage.values import OpenGame, utc_text
from py2048.core.errors import Py2048Error, StaleGameError, StorageError
from py2048.core.language import _, language, use_language
from py2048.core.rules import MovePoints
from py2048.presentation.events import Event, IllegalMove
from py2048.server import schema
from py2048.server.bounds import (
    MAX_GAMES,
    MAX_KEPT_ROOMS,
    MAX_LIVE,
    MAX_QUEUED_BYTES,
    MAX_QUEUED_FRAMES,
    MAX_WAITING_FRAMES,
)
from py2048.server.cache import Latest
from py2048.server.play import messages
from py2048.server.play.changes import GameNotices, GroupCommit
from py2048.server.play.games import LIVE, GameService, OnlineGame, check_sealed
from py2048.server.schema import ActionRejected

if TYPE_CHECKING:
    from py2048.app.storage import Store
    from py2048.server.admission import Admission, Caller
    from py2048.server.http.monitoring import Metrics

_log = logging.getLogger("py2048.web")
_THREADS = 12
_FIRST_RETRY_S, _MAX_RETRY_S = 0.1, 5.0  # Delays between attempts to reload a game.
_UNENTERED_S = 1.0  # Time after which a loaded room is closed if no client enters it.

LINGER_S = 60.0
"""How long a program's room stays open after a request."""

_POLL_S = 2.0  # How often to poll for changes, in case notices are lost.

TOO_SLOW, SIGN_IN = 1013, 1008  # close codes


@dataclass(eq=False)
class Client:
    """A connection in a room, with a queue of outgoing frames.

    `send` never blocks. The frame is written immediately if the socket is ready and nothing is
    queued. A frame that cannot be written immediately is written later by `run`, in the order of
    the queue. A client whose queue exceeds `MAX_QUEUED_FRAMES` or `MAX_QUEUED_BYTES` is
    disconnected.

    Attributes:
        account: Id of the account. Guests also have an account id.
        session: The login session that opened the connection, or None for a guest.
        write_now: Function that writes a text frame if the socket is ready, and returns whether the
            frame was written.
        room: The room that the client is in, or None.
        close_code: WebSocket close code, set to close the connection.
        language: Language of the messages to this client.
        first_broadcast: Index of the first broadcast frame that this client receives; infinite
            until the client has received the game's state.
    """

    account: str
    session: str | None = None
    write_now: Callable[[bytes], bool] = field(default=lambda _frame: False, repr=False)
    room: Room | None = field(default=None, init=False)
    close_code: int | None = field(default=None, init=False)
    language: str = field(default_factory=language, init=False)
    first_broadcast: float = field(default=inf, init=False)
    _frames: list[bytes] = field(default_factory=list, init=False)  # smaller than a deque
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
        """Close the connection after sending the queued frames.

        If `code` is `TOO_SLOW`, the queued frames are dropped.
        """
        if self.close_code is None:
            self.close_code = code
        if code == TOO_SLOW:
            self._frames.clear()
            if self._sender is not None:
                self._sender.cancel()
        self._awake.set()

    async def run(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        """Send queued frames until the client is closed.

        `close` cancels the task that runs this method if the client is too slow, because sending
        the current frame may never finish.
        """
        self._sender = asyncio.current_task()
        while (frame := await self.next()) is not None:
            self._is_sending = True
            await send(frame)
            self._is_sending = False

    async def next(self) -> bytes | None:
        """Wait for the next frame. Return None if the client is closed and has no more frames."""
        while not self._frames:
            if self.close_code is not None:
                return None
            self._awake.clear()
            await self._awake.wait()
        frame = self._frames.pop(0)
        self._size -= len(frame)
        return frame


class RoomState(Enum):
    """Whether the game of a room is in sync with the store."""

    OPEN = "open"
    """All changes are saved."""
    WRITING = "writing"
    """A change is being saved."""
    LOADING = "loading"
    """The game is being reloaded, after a failed write or a change by another process."""
    GONE = "gone"
    """The game has been deleted."""


class _Frame(NamedTuple):
    """A frame that is sent when all preceding changes have been saved.

    Attributes:
        number: Position among the room's frames.
        data: The encoded frame in the receivers' languages, keyed by language.
        client: The receiver, or None for a broadcast.
        since: When the frame was queued, from `time.perf_counter`.
    """

    number: int
    data: Mapping[str, bytes]
    client: Client | None
    since: float


class Room:
    """An open game, its clients, and the frames to send when changes are saved.

    Args:
        rooms: The rooms of this process.
        game: The game.

    Attributes:
        game: The game; reloading replaces it.
        state: Whether the game is in sync with the store.
        fault: Why the game cannot be reloaded at the moment, or None.
        clients: Players and watchers.
        autoplay: Task that makes a computer player's moves, if any. Its name is the player's spec.
        sync_lock: Lock that is held while changes by other processes are applied.
    """

    def __init__(self, rooms: Rooms, game: OnlineGame) -> None:
        self.game = game
        self.state = RoomState.OPEN
        self.fault: StorageError | None = None
        self.clients: set[Client] = set()
        self.autoplay: asyncio.Task[None] | None = None
        self.sync_lock = asyncio.Lock()
        self._rooms = rooms
        self._group_commit = rooms.group_commit
        self._state_changed = asyncio.Event()
        self._writing: list[_Frame] = []  # Delivered after the current write.
        self._waiting: list[_Frame] = []  # Delivered after the next write.
        self._frame_count = 0

    @property
    def is_settled(self) -> bool:
        """Whether all changes are saved."""
        return self.state is RoomState.OPEN

    @property
    def is_played(self) -> bool:
        """Whether the player of the game is connected to this process."""
        return any(client.account == self.game.info.owner for client in self.clients)

    def _set_state(self, state: RoomState) -> None:
        self.state = state
        self._state_changed.set()  # wakes everybody who waits
        self._state_changed.clear()

    # Sending

    def send(self, message: Callable[[], schema.Reply], client: Client | None = None) -> None:
        """Send a message to one or all clients once all earlier changes are saved.

        Args:
            message: Function that returns the message in the current language.
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
            if len(self._waiting) < MAX_WAITING_FRAMES:
                self._waiting.append(frame)
            else:
                for each in self.clients:
                    each.close(TOO_SLOW)
            self._write()
        else:
            self._deliver([frame])

    def broadcast(self, events: Sequence[Event], client: Client | None = None) -> None:
        """Send events to all clients, or the game's state to `client` if there are no events.

        Illegal moves that changed nothing are reported only to `client`.
        """
        if events:
            message = partial(messages.events_of, self.game, events, self.autoplayer)
            is_turn = isinstance(self.game.session.rules.scoring, MovePoints)
            is_private = isinstance(events[0], IllegalMove) and not is_turn
            if not is_private:
                self._subscribe(client)
            self.send(message, client if is_private else None)
        elif client is not None:
            self.send_state(client)

    def send_state(self, client: Client) -> None:
        """Send a client the state of the game."""
        self.send(partial(self.state_for, client.account), client)

    def reject(
        self,
        why: Callable[[], ActionRejected],
        *clients: Client,
        of: str = "",
        chain: int | UnsetType = UNSET,
    ) -> None:
        """Reject the last action of the given clients, or of all clients by default.

        Args:
            why: Function that returns the reason for the rejection in the current language.
            clients: The receivers.
            of: Type of the rejected message.
            chain: Id of the chain of actions that contained the rejected action, if any.
        """
        for client in clients or tuple(self.clients):
            self.send(partial(self._rejection, why, client.account, of, chain), client)

    def _rejection(
        self, why: Callable[[], ActionRejected], account: str, of: str, chain: int | UnsetType
    ) -> schema.RejectedMessage:
        # While the game is being reloaded, its state in memory may differ from the store.
        is_current = self.state in (RoomState.OPEN, RoomState.WRITING)
        state = self.state_for(account) if is_current else None
        return messages.rejection(why(), of, state, chain)

    def state_for(self, account: str) -> schema.StateMessage:
        """Return the message that tells an account the state of the game."""
        mine = account == self.game.info.owner
        return messages.state_of(self.game, mine=mine, autoplay=self.autoplayer)

    def _subscribe(self, client: Client | None) -> None:
        """Send all further broadcasts to a client."""
        if client is not None and client.first_broadcast > self._frame_count:
            client.first_broadcast = self._frame_count

    def _deliver(self, frames: Sequence[_Frame]) -> None:
        for frame in frames:
            if frame.client is None:  # A program's thinking time starts when the position is sent.
                self.game.clock.since = time.monotonic()
            for each in self.clients if frame.client is None else (frame.client,):
                if frame.number >= each.first_broadcast:
                    each.send(frame.data[each.language])

    # Writing

    def _write(self) -> None:
        """Submit pending changes, unless a write or a reload is in progress."""
        if self.state is RoomState.OPEN and (change := self.game.tracked.take_change()):
            self._writing, self._waiting = self._waiting, []
            self.state = RoomState.WRITING
            self._group_commit.submit(change, self._on_commit)

    def _on_commit(self, error: StorageError | None) -> None:
        if self.state is not RoomState.WRITING:
            return  # The reloaded game will show which changes were saved.
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
        """Wait while the game is being reloaded. Raises the same errors as `ready`."""
        if self.state is RoomState.LOADING:
            await self.ready()

    # Autoplay

    @property
    def autoplayer(self) -> str | None:
        """Spec of the computer player that makes the moves, or None."""
        return self.autoplay.get_name() if self.autoplay else None

    def set_autoplay(self, autoplay: asyncio.Task[None] | None) -> None:
        """Replace the computer player that makes the moves, and notify all clients."""
        if self.autoplay is not None:
            self.autoplay.cancel()
        self.autoplay = autoplay
        self.send(partial(schema.AutoplayMessage, self.game.id, self.autoplayer))

    def end_autoplay(self) -> None:
        """Stop the computer player if there is one."""
        if self.autoplay is not None:
            self.set_autoplay(None)

    # Reloading

    def reload(self, error: StorageError | None = None) -> None:
        """Reload the game from the store, and discard unsaved changes.

        Args:
            error: Error of the last write, or None if another process has changed the game. A
                failed write may still have reached the store, so unsent frames are kept until the
                game is reloaded.
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
        """Load the game, and retry while clients are waiting."""
        wait_s = _FIRST_RETRY_S
        while True:
            try:
                game = await asyncio.to_thread(self._rooms.games.load, self.game.id)
            except ActionRejected:  # the player deleted the game, or discarded it for a new game
                self._set_state(RoomState.GONE)
                self.reject(_deleted)
                self._rooms.abandon(self)
                return
            except Py2048Error as failure:
                fault = failure if isinstance(failure, StorageError) else StorageError(str(failure))
                self._rooms.note_fault(fault, "a game cannot be read again")
                if self.fault is None:
                    self.fault = error or fault
                    self._set_state(RoomState.LOADING)  # wakes `ready`, which raises the fault
                    self.reject(partial(messages.unsaved, fault))
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
        """Replace the game with the reloaded game, and notify all clients."""
        # If the player's last action is missing from the record, reject it, because clients cannot
        # see from the new state alone that an action was lost.
        is_undone = game.is_finished and game.version < self.game.version
        if error is not None and game.has_same_turns(self.game):
            self._deliver(unconfirmed)  # the write succeeded after all
            error = None
        was_reported, self.fault, self.game = self.fault is not None, None, game
        self._set_state(RoomState.OPEN)
        if error is not None and not was_reported:
            self.reject(partial(messages.unsaved, error))
        else:
            for client in self.clients:
                if is_undone and client.account == game.info.owner:
                    self.reject(game.over, client)
                else:
                    self.send_state(client)
        self._rooms.release(self)


def _deleted() -> ActionRejected:
    return ActionRejected("unknown_game", _("this game has been deleted"))


class Rooms:
    """The rooms of one process.

    Args:
        store: The store.
        metrics: Counts events.
        admission: Charges for opening games.
        notices: Notices to and from other processes, or None if no other process can use the store.

    Attributes:
        games: The game service.
        open: Rooms by game id.
        clients: All connected clients.
        group_commit: Saves changes.
    """

    def __init__(
        self, store: Store, metrics: Metrics, admission: Admission,
        notices: GameNotices | None = None,
    ) -> None:  # fmt: skip
        self._admission = admission
        self.open: dict[str, Room] = {}
        self.games = GameService(store)
        self.metrics = metrics
        self.notices = notices
        self.clients: set[Client] = set()
        self._kept: dict[Room, asyncio.TimerHandle] = {}
        self._opening: dict[str, asyncio.Task[Room]] = {}
        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(_THREADS, "py2048-games"))
        # Finished games are replayed by a single thread, to keep the latency of moves low.
        self._finishing = ThreadPoolExecutor(1, thread_name_prefix="py2048-finish")
        self._ending = WeakValueDictionary[str, asyncio.Task[None]]()  # by account, until done
        self._tasks: set[asyncio.Task[None]] = set()
        self._last_played = Latest[str, None](MAX_LIVE)  # game ids
        self.group_commit = GroupCommit(store, self._on_written)

    def start(
        self, work: Coroutine[object, object, None], name: str | None = None
    ) -> asyncio.Task[None]:
        """Run a coroutine in the background, until `close` cancels it."""
        task = self._loop.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # Entering and leaving

    def room_of(self, game: OnlineGame) -> Room:
        """Return the game's room, which is opened if necessary."""
        return self.open.setdefault(game.id, Room(self, game))

    async def find(self, game_id: str, caller: Caller) -> Room:
        """Return a game's room, loading the game if necessary.

        Args:
            game_id: The game.
            caller: The caller, who is charged if the game must be loaded.

        Raises:
            ActionRejected: If the game does not exist, or the address has used up its processor
                time (``busy``).
            StorageError: If the store cannot be read.
        """
        if game_id in self.open:
            return self.open[game_id]
        if game_id not in self._opening:
            self._opening[game_id] = self._loop.create_task(self._load(game_id, caller))
        return await asyncio.shield(self._opening[game_id])

    async def find_own(self, game_id: str, caller: Caller) -> Room:
        """Return the room of one of the caller's own games, loading the game if necessary.

        Raises:
            ActionRejected: If the game is another player's (``not_yours`` or ``sealed``).
        """
        if game_id in self.open and self.notices is not None:
            # The player may have made moves through another process, so load them first.
            await self._sync(self.open[game_id])
        room = await self.find(game_id, caller)
        if room.game.info.owner != caller.account:
            self.release(room)
            check_sealed(room.game.info, caller.account)
            raise ActionRejected("not_yours", _("this is someone else's game: you can watch it"))
        return room

    async def _load(self, game_id: str, caller: Caller) -> Room:
        try:
            game = await self._admission.do_here("open", caller, self.games.load, game_id)
        finally:
            del self._opening[game_id]
        room = self.room_of(game)
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
        """Close a room if it is not in use or kept open, and all its changes are saved."""
        game = room.game
        is_used = room.clients or (room in self._kept and not game.is_over)
        if not is_used and room.is_settled and self.open.get(game.id) is room:
            del self.open[game.id]

    def keep(self, room: Room) -> None:
        """Keep the room of a program's game open without clients for `LINGER_S` seconds.

        Raises:
            ActionRejected: If too many rooms are kept, in total or for this program (``busy``).
        """
        if timer := self._kept.pop(room, None):
            timer.cancel()
        kept = [] if timer else [each for each in self.open.values() if each in self._kept]
        if len(kept) >= MAX_KEPT_ROOMS:
            raise ActionRejected("busy", "too many programs are playing: try again later", LINGER_S)
        if sum(each.game.info.owner == room.game.info.owner for each in kept) >= MAX_GAMES:
            message = f"a program plays at most {MAX_GAMES} games at the same time"
            raise ActionRejected("busy", message, LINGER_S)
        self._kept[room] = self._loop.call_later(LINGER_S, self._stop_keeping, room)

    def _stop_keeping(self, room: Room) -> None:
        del self._kept[room]
        self.release(room)

    def disconnect(self, account: str) -> None:
        """Close an account's connections."""
        for client in tuple(self.clients):
            if client.account == account:
                client.close(SIGN_IN)

    def forget(self, accounts: Collection[str]) -> None:
        """Close the rooms of deleted accounts, and notify the clients in them."""
        for room in tuple(self.open.values()):
            if room.game.info.owner in accounts:
                room.reload()

    # Writing

    def _on_written(self, written: Sequence[GameChange]) -> None:
        """Update the metrics and notify other processes, after moves have been acknowledged."""
        self.metrics.commits.inc()
        self.metrics.moves.inc(sum(len(change.turns) for change in written))
        for change in written:
            self._last_played[change.id] = None
            if self.notices is not None:
                self.notices.tell(change.id, change.revision)

    def on_settled(self, room: Room) -> None:
        """Finish a game that is over, and close its room if the room is unused."""
        if room.game.is_over:
            self._ending[room.game.info.owner] = self.start(self._finish(room.game))
        self.release(room)

    async def wait_for_records(self, account: str) -> None:
        """Wait until the records of the account's games that have just ended are saved."""
        # Records are saved one after another, so waiting for the last one is enough.
        if task := self._ending.get(account):
            await asyncio.wait([task])

    async def _finish(self, game: OnlineGame) -> None:
        finish = partial(self.games.finish, game.id, game.drawn())
        try:
            board = await self._loop.run_in_executor(self._finishing, finish)
        except StorageError as error:  # `finalize_orphans` retries
            self.note_fault(error, "a game could not be finished")
            return
        except Py2048Error as error:
            self.metrics.unverified.inc()
            _log.error("a game was not counted", extra={"game": game.id, "fault": str(error)})
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
            # While notices work, poll only rooms whose player is connected to another process. If
            # the player is connected to this process, a lost notice shows when the next move is
            # rejected.
            wanted = [
                game_id
                for game_id, room in self.open.items()
                if (self.notices.fault or not room.is_played) and not room.game.is_over
            ]
            try:
                now = await asyncio.to_thread(self.games.store.games.revisions, wanted)
            except StorageError as error:
                self.note_fault(error, "other processes cannot be followed")
                continue
            for game_id in filter(self.open.__contains__, wanted):
                # A finished game has no revision in the store. Requesting the revision after the
                # current one loads the game's record.
                self._sync_soon(game_id, now.get(game_id, self.open[game_id].game.version + 1))

    def _on_notice(self, revisions: Mapping[str, int]) -> None:
        for game_id, revision in revisions.items():
            self._last_played[game_id] = None
            self._sync_soon(game_id, revision)

    def _sync_soon(self, game_id: str, revision: int) -> None:
        """Update an open game in the background, at least to a given revision."""
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
        """Update an open game to the revision that is in the store.

        Raises:
            StorageError: If the store cannot be read.
        """
        try:
            await room.ready()
        except ActionRejected:
            return  # The game cannot be read, or has been deleted.
        game = room.game
        since = self.games.store.games.change_since
        change = await asyncio.to_thread(since, game.id, game.version, len(game.tracked.codes))
        if self.open.get(game.id) is not room or room.game is not game or not room.is_settled:
            return
        if change is not None and change.revision <= game.version:
            return
        room.end_autoplay()  # the player is active in the other process
        events = game.apply(change) if change is not None else None
        if events is None:  # A turn was undone, or the game was finished or deleted.
            room.reload()
        else:
            room.broadcast(events)

    async def live_games(self) -> list[OpenGame]:
        """Return recently played games, including games in other processes."""
        since = utc_text(datetime.now(UTC) - LIVE)
        games = await asyncio.to_thread(self.games.store.online.live, tuple(self._last_played))
        return [game for game in games if game.updated >= since]

    async def close(self) -> None:
        """Save all changes, finish the games that are over, and close the store."""
        for room in tuple(self.open.values()):
            room.end_autoplay()
        for room in tuple(self.open.values()):
            with suppress(ActionRejected):  # Nothing can be saved while the store is unavailable.
                await room.ready()
        await self.group_commit.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._finishing.shutdown()
        self.games.store.close()
