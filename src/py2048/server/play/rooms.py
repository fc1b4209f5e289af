"""Rooms: the games that are open in one process, who plays or watches them, and their saving.

Everything here happens in the event loop, but for what may block: that goes to `GameService` in a
thread. A move is done at once, then written by `GroupCommit` together with others, and only then
sent to anybody. What cannot be written is taken back, and everybody in the room is told so.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from math import inf
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

from py2048.errors import Py2048Error, StorageError
from py2048.server import schema
from py2048.server.http.metrics import Metrics
from py2048.server.play import messages
from py2048.server.play.games import LIVE, GameService, OnlineGame, check_sealed
from py2048.server.play.sharing import Sharing
from py2048.server.play.watching import Step, step_frame
from py2048.server.schema import CASUAL, ActionRejected
from py2048.session import Event
from py2048.storage import GameChange, NewOnlineGame, OpenGame

if TYPE_CHECKING:
    from py2048.storage import Store

_log = logging.getLogger("py2048.web")
_P = ParamSpec("_P")
_T = TypeVar("_T")
_THREADS = 8
_LONGEST_WAIT = 5.0
_MOST_LIVE = 40
_MEMORY = 3.0
"""Seconds for which the server is not ready after something that could not be written."""

_RETRY = 2.0
"""Seconds after which a page may try again what could not be written."""

_MOST_AT_ONCE = 512
"""At most so many changes are written in one transaction."""

_CROWD = 8
"""After so many changes in one transaction the thread rests for as long as that took.

More of them gather meanwhile: with half the transactions the server has time for more moves.
"""

_LONGEST_REST = 0.02
_HEARD = 0.3
"""Seconds after which a game that was opened here is known to be open elsewhere, if it is."""

MOST_FRAMES = 256
MOST_CHARACTERS = 1_000_000
TOO_SLOW, SIGN_IN = 1013, 1008


class Client:
    """Somebody in a room, and the frames that are still to be sent.

    Nobody waits for a slow reader: `send` returns at once, and whoever reads too slowly loses the
    connection. A frame goes out at once where that is possible, and else by `run`, which keeps
    the order.

    Args:
        account: who it is.
        session: the session that opened the connection, None for a guest.
        generation: a guest's generation.

    Attributes:
        room: the room, None outside of rooms.
        closed: the code to close the connection with, once there is one.
        takes_steps: whether moves come as frames of `py2048.server.play.watching` where they can.
        hears_from: the number of the room's first frame for everybody that is sent here too;
            none is until the client has been told something itself, such as the state.
        overflowed: set when the reader is too slow; sending the current frame may never end.
        write_now: sends a text frame at once if it can, and returns whether it did.
    """

    write_now: Callable[[bytes], bool] | None = None

    def __init__(self, account: str, session: str | None = None, generation: int = 0) -> None:
        self.account = account
        self.session = session
        self.generation = generation
        self.room: Room | None = None
        self.closed: int | None = None
        self.takes_steps = False
        self.hears_from = inf
        self.overflowed = asyncio.Event()
        self._frames: deque[bytes] = deque()
        self._size = 0
        self._is_sending = False
        self._awake = asyncio.Event()

    def send(self, frame: bytes) -> None:
        """Send a text frame, in UTF-8, or a `Step` soon, after those before it."""
        if self.closed is not None:
            return
        is_next = not (self._frames or self._is_sending or isinstance(frame, Step))
        if is_next and self.write_now is not None and self.write_now(frame):
            return
        self._frames.append(frame)
        self._size += len(frame)
        if len(self._frames) > MOST_FRAMES or self._size > MOST_CHARACTERS:
            self.close(TOO_SLOW)
        self._awake.set()

    def close(self, code: int) -> None:
        """Send the frames left (none to a slow reader), then close with `code`."""
        if self.closed is None:
            self.closed = code
        if code == TOO_SLOW:
            self._frames.clear()
            self.overflowed.set()
        self._awake.set()

    async def run(self, send: Callable[[bytes], Awaitable[None]]) -> int:
        """Send frames until the client is closed; return the code to close with."""
        while True:
            while self._frames:
                frame = self._frames.popleft()
                self._size -= len(frame)
                self._is_sending = True
                await send(frame)
                self._is_sending = False
            if self.closed is not None:
                return self.closed
            self._awake.clear()
            await self._awake.wait()

    async def first(self) -> bytes:
        """Return the first frame, when there is one: for an answer to a single request."""
        while not self._frames:
            self._awake.clear()
            await self._awake.wait()
        return self._frames[0]


Change = GameChange | NewOnlineGame
"""What happened in a game, or the game itself when it begins."""


@dataclass(frozen=True, slots=True)
class CommitResult:
    """Whether a change was written.

    Attributes:
        change: the change.
        is_stale: another process was faster: nothing of it was written.
        error: why it could not be written, None if it could.
    """

    change: Change
    is_stale: bool = False
    error: StorageError | None = None


class GroupCommit:
    """Writes changes in the order in which they come, all that wait in one transaction.

    A change that the store cannot keep fails alone. When the store as a whole cannot be written,
    all that wait fail at once.

    Args:
        store: where to.
        done: is called in the thread after each transaction.
    """

    def __init__(self, store: Store, done: Callable[[Sequence[CommitResult]], None]) -> None:
        self._store = store
        self._done = done
        self._waiting: SimpleQueue[Change | None] = SimpleQueue()  # None ends the thread
        self._is_closing = False
        self._lock = threading.Lock()  # nothing comes after the end
        self._thread = threading.Thread(target=self._run, name="py2048-commit", daemon=True)
        self._thread.start()

    @property
    def backlog(self) -> int:
        """How many changes wait."""
        return self._waiting.qsize()

    def submit(self, change: Change) -> None:
        """Write `change` soon. A game may have one change at a time in the queue."""
        with self._lock:
            if self._is_closing:
                raise StorageError("the server is going down: the move was not made")
            self._waiting.put(change)

    def close(self, patience: float = 30.0) -> None:
        """Write what waits, then end."""
        with self._lock:
            self._is_closing = True
            self._waiting.put(None)
        self._thread.join(patience)

    def _run(self) -> None:
        while batch := self._next_batch():
            began = time.perf_counter()
            self._done(self._write(batch))
            if len(batch) >= _CROWD:
                time.sleep(min(time.perf_counter() - began, _LONGEST_REST))

    def _next_batch(self) -> list[Change]:
        """Wait for a change, and return it with those that wait too; without one at the end."""
        batch = []
        change = self._waiting.get()
        with suppress(Empty):
            while change is not None:
                batch.append(change)
                if len(batch) == _MOST_AT_ONCE:
                    return batch
                change = self._waiting.get_nowait()
            self._waiting.put(None)  # the end comes after this batch
        return batch

    def _write(self, batch: Sequence[Change]) -> list[CommitResult]:
        """Write changes together, or in halves if one of them cannot be kept: it fails alone."""
        try:
            stale = self._store.changes.write(batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, the thread must continue
            fault = error if isinstance(error, StorageError) else StorageError(repr(error))
            if len(batch) > 1 and not fault.kind:
                middle = len(batch) // 2
                return self._write(batch[:middle]) + self._write(batch[middle:])
            return [CommitResult(change, error=fault) for change in batch]
        return [CommitResult(change, change.id in stale) for change in batch]


class _Frame(NamedTuple):
    """A frame that is sent when all that happened before it is written.

    Attributes:
        number: its place among the frames of the room.
        data: the frame.
        step: what those get instead who take steps.
        client: its receiver, None for everybody in the room.
        since: when it was queued.
    """

    number: int
    data: bytes
    step: Step | None
    client: Client | None
    since: float


class Room:
    """An open game, with its clients and the frames that wait until the game is written.

    Attributes:
        game: the game.
        clients: who plays or watches it.
        autoplay: the computer player that makes the moves, here or in another process.
        autoplay_task: makes the moves here, None where nobody does.
        opened: when, as of the event loop.
        leavers: how many have left of whom it is not decided yet what becomes of the game.
    """

    def __init__(self, rooms: Rooms, game: OnlineGame) -> None:
        self._rooms = rooms
        self.game = game
        self.clients: set[Client] = set()
        self.autoplay: str | None = None
        self.autoplay_task: asyncio.Task[None] | None = None
        self.autoplay_address = ""
        self.settled = asyncio.Event()
        self.settled.set()
        self.opened = asyncio.get_running_loop().time()
        self.leavers = 0
        self.is_reloading = self.is_gone = False
        self.fault: StorageError | None = None
        self._is_told = False
        self._waiting: list[_Frame] = []
        self._writing: list[_Frame] | None = None
        self._frames = 0  # so many were sent or queued

    @property
    def is_played(self) -> bool:
        """Whether the player of the game is here."""
        return any(client.account == self.game.info.owner for client in self.clients)

    # Sending

    def send(
        self, message: schema.Answer, client: Client | None = None, step: Step | None = None
    ) -> None:
        """Send a message, or a step instead, when all that happened before it is written."""
        self._let_hear(client)
        data, since = schema.encode_frame(message), time.perf_counter()
        frame = _Frame(self._frames, data, step, client, since)
        self._frames += 1
        is_clean = self._writing is None and not self.game.changes.is_dirty
        if is_clean or self.is_reloading:
            self._deliver([frame])
        else:
            self._waiting.append(frame)
            self._write()

    def broadcast(self, events: Sequence[Event], client: Client | None = None) -> None:
        """Tell everybody what happened; without events send `client` the state.

        An attempt that changed nothing is told to `client` alone.
        """
        if events:
            self._let_hear(client)
            message = messages.events_of(self.game, events, self.autoplay)
            step = step_frame(self.game, events) if len(self.clients) > 1 else None
            is_news = self.game.changes.is_dirty or any(
                not isinstance(event, schema.NothingMovedEvent) for event in message.events
            )
            self.send(message, None if is_news else client, step)
        elif client is not None:
            self.send_state(client)

    def send_state(self, client: Client) -> None:
        """Send a client the state of the game."""
        self.send(self.state_for(client.account), client)

    def state_for(self, account: str) -> schema.StateMessage:
        """Return the state of the game for an account."""
        mine = account == self.game.info.owner
        return messages.state_of(self.game, mine=mine, autoplay=self.autoplay)

    def _let_hear(self, client: Client | None) -> None:
        """Let a client hear, from now on, what everybody is told."""
        if client is not None:
            client.hears_from = min(client.hears_from, self._frames)

    def _deliver(self, frames: Sequence[_Frame]) -> None:
        for number, data, step, client, _ in frames:
            for each in self.clients if client is None else (client,):
                if number >= each.hears_from:
                    each.send(step if step and each.takes_steps else data)

    # Writing

    def _write(self) -> None:
        """Have what happened written, unless something is being written already."""
        is_free = self._writing is None and not self.is_reloading
        if is_free and self.game.changes.is_dirty:
            self._writing, self._waiting = self._waiting, []
            self.settled.clear()
            self._rooms.group_commit.submit(self.game.changes.take())

    def on_commit(self, result: CommitResult) -> None:
        """Continue after a change was written, or could not be."""
        frames, self._writing = self._writing or [], None
        if result.error is not None or result.is_stale:
            self._waiting[:0] = frames
            self._rooms.reload(self, result.error)
            return
        now = time.perf_counter()
        for frame in frames:
            self._rooms.metrics.move_seconds.observe(now - frame.since)
        self._deliver(frames)
        self._write()
        if self._writing is None:
            frames, self._waiting = self._waiting, []
            self._deliver(frames)
            self.settled.set()
            self._rooms.on_settled(self)

    async def ready(self) -> None:
        """Wait until all that was done is written.

        Raises:
            ActionRejected: while the store cannot be written or read (``storage``), or once the
                game is gone (``unknown_game``).
        """
        while not self.settled.is_set():
            if self.is_gone:
                raise _gone()
            if self.fault is not None:
                raise messages.unsaved(self.fault)
            await self.settled.wait()

    # Autoplay

    def stop_autoplay(self) -> None:
        """Stop the computer player that makes the moves, here or elsewhere, if any."""
        if self.autoplay is not None:
            self.set_autoplay(None, None)

    def end_autoplay(self) -> None:
        """Stop the computer player that makes the moves here, if any."""
        if self.autoplay_task is not None:
            self.set_autoplay(None, None)

    def set_autoplay(self, player: str | None, task: asyncio.Task[None] | None) -> None:
        """Note, and tell everybody, that a task lets a computer player move, or none does."""
        self.show_autoplay(player, task)
        self._rooms.sharing.autoplayed(self.game.id, player)

    def show_autoplay(self, player: str | None, task: asyncio.Task[None] | None = None) -> None:
        """Note, and tell all who are here, which player moves: by a task, or in another process."""
        if self.autoplay_task is not None:
            self.autoplay_task.cancel()
        self.autoplay, self.autoplay_task = player, task
        self.send(schema.AutoplayMessage(self.game.id, player))

    # When the store fails

    def begin_reload(self, error: StorageError | None) -> None:
        """Forget what is not written; `error` says why it could not be.

        The answers to it are kept until the store is read: a change may be in it although its
        acknowledgement was lost.
        """
        if error is None:
            self._waiting.clear()
        self.is_reloading = True
        self.settled.clear()
        self.end_autoplay()
        if error is not None:
            self._fail(error)

    def announce_fault(self, error: StorageError) -> None:
        """Tell everybody, once, that the store can be neither written nor read."""
        if not self._is_told:
            self._fail(self.fault or error)
            self._is_told = True
            for client in self.clients:
                self._send_fault(client, error, None)

    def announce_end(self) -> None:
        """Tell everybody that the game is gone."""
        self.is_gone = True
        self._release()
        for client in self.clients:
            self.send(messages.rejection(_gone(), "", None), client)

    def _fail(self, error: StorageError) -> None:
        self.fault = error
        self._release()

    def _release(self) -> None:
        """Release whoever waits for the store."""
        self.settled.set()
        self.settled.clear()

    def _send_fault(
        self, client: Client, error: StorageError, state: schema.StateMessage | None
    ) -> None:
        rejected = messages.unsaved(error)
        rejected.wait = _RETRY
        self.send(messages.rejection(rejected, "", state), client)

    def replace_game(self, game: OnlineGame) -> None:
        """Replace the game by what the store has, and tell everybody."""
        # A record has the version that its player knows: a mere state would answer no action.
        is_undone = game.is_finished and game.version < self.game.version
        if self.fault is not None and game.changes.leads_where(self.game.changes):
            self._deliver(self._waiting)
            self.fault = None  # all is written
        self.game = game
        self._waiting, self._writing = [], None
        for client in self.clients:
            if self.fault is not None and not self._is_told:
                self._send_fault(client, self.fault, self.state_for(client.account))
            elif is_undone and client.account == game.info.owner:
                state = self.state_for(client.account)
                self.send(messages.rejection(game.over(), "", state), client)
            else:
                self.send_state(client)
        self.fault, self._is_told = None, False
        self.is_reloading = False
        self.settled.set()


def _gone() -> ActionRejected:
    return ActionRejected("unknown_game", "this game is gone")


class Rooms:
    """The rooms of one process.

    Args:
        games: the games.
        metrics: counts what happens.
        sharing: tells other processes what happens here; by default there are none.

    Attributes:
        open: the rooms by their games.
        clients: everybody who is connected.
    """

    def __init__(
        self, games: GameService, metrics: Metrics, sharing: Sharing | None = None
    ) -> None:
        self.games = games
        games.is_open = self.is_open
        self.metrics = metrics
        self.sharing = sharing or Sharing()
        self.open: dict[str, Room] = {}
        self.clients: set[Client] = set()
        self._opening: dict[str, asyncio.Future[Room]] = {}
        self._beginning: dict[str, asyncio.Future[CommitResult]] = {}
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="py2048-games")
        # Games are replayed one at a time, so that those who play feel little of it.
        self._finishing = ThreadPoolExecutor(1, thread_name_prefix="py2048-finish")
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed: dict[str, float] = {}  # games by the time of their last change, in order
        self._wanted: dict[str, int] = {}  # revisions that are to be read from the store
        self._fault: tuple[float, StorageError] | None = None
        self.group_commit = GroupCommit(games.store, self._written)

    async def in_thread(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Do something that blocks."""
        return await self._loop.run_in_executor(self._pool, lambda: call(*args, **kwargs))

    def start(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Do something in the background, and end it with the server."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # Entering and leaving

    async def create(
        self, client: Client, rules: str, mode: str, control: str | None = None
    ) -> Room:
        """Begin a new game and enter its room.

        Raises:
            ActionRejected, StorageError: see `GameService.plan_game`.
        """
        game = await self.create_game(client.account, rules, mode, control)
        room = self.open.setdefault(game.id, Room(self, game))
        self.enter(client, room)
        return room

    async def create_game(
        self, account: str, rules: str, mode: str, control: str | None = None
    ) -> OnlineGame:
        """Return a new game, which is written together with the moves of others.

        Raises:
            ActionRejected, StorageError: see `GameService.plan_game`.
        """
        return await self.begin(self.games.plan_game, account, rules, mode, control)

    async def begin(
        self,
        plan: Callable[_P, tuple[OnlineGame, NewOnlineGame | None]],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> OnlineGame:
        """Return a game that `plan` plans in a thread, when it is written.

        Raises:
            ActionRejected, StorageError: as `plan`.
        """
        game, new = await self.in_thread(plan, *args, **kwargs)
        if new is None:
            return game
        self.group_commit.submit(new)
        self._beginning[new.id] = self._loop.create_future()  # done in a later turn of the loop
        result = await self._beginning[new.id]
        if result.error is not None:
            raise result.error
        if result.is_stale:
            return await self.in_thread(self.games.load_rival, new)
        return game

    async def find(self, game_id: str) -> Room:
        """Return the room of a game, loading it if it is not open.

        Raises:
            ActionRejected: if there is no such game.
            StorageError: if the store cannot be read.
        """
        if game_id in self.open:
            return self.open[game_id]
        if game_id not in self._opening:
            self._opening[game_id] = asyncio.ensure_future(self._load(game_id))
        opening = self._opening[game_id]
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(self._release_opened)
            raise

    def _release_opened(self, opening: asyncio.Future[Room]) -> None:
        """Close the room whose opener has gone; whoever else waits for it opens it again."""
        if not (opening.cancelled() or opening.exception()):
            self.release(opening.result())

    async def find_own(self, game_id: str, account: str) -> Room:
        """Return the room of an account's own game, as `find`.

        Raises:
            ActionRejected: if the game is somebody else's (``not_yours``, or ``sealed``).
        """
        if game_id in self.open and self.sharing.bus is not None:
            await self._catch_up(game_id)
        room = await self.find(game_id)
        if room.game.info.owner != account:
            self.release(room)
            check_sealed(room.game.info, account)
            raise ActionRejected("not_yours", "this is somebody else's game: you may watch it")
        return room

    async def _load(self, game_id: str) -> Room:
        try:
            game = await self.in_thread(self.games.load, game_id)
            self.sharing.opened(game_id)
            return self.open.setdefault(game_id, Room(self, game))
        finally:
            del self._opening[game_id]

    def enter(self, client: Client, room: Room) -> None:
        """Move a client to a room."""
        if client.room is not room:
            self.leave(client, by_choice=True)
            self.open.setdefault(room.game.id, room)
            room.clients.add(client)
            self.sharing.seated(room.game.id, is_played=room.is_played)
            client.room, client.hears_from = room, inf

    def leave(self, client: Client, *, by_choice: bool = False) -> None:
        """Let a client leave the room; the game stays in the store.

        Args:
            client: who leaves.
            by_choice: whether it meant to; a lost connection may come back. Its player's choice
                makes a casual game that is over a record, unless the player has it open in
                another tab: nobody is there to undo the end.
        """
        room, client.room = client.room, None
        if room is None:
            return
        room.clients.discard(client)
        game = room.game
        is_left = by_choice and client.account == game.info.owner
        if is_left and game.is_over and game.info.mode == CASUAL:
            room.leavers += 1
            self.start(self._finish_if_left(room))
        self.sharing.seated(game.id, is_played=room.is_played)
        if not room.clients:
            room.end_autoplay()
        self.release(room)

    def release(self, room: Room) -> None:
        """Close a room that is empty, when all of it is written."""
        if room.clients or room.leavers or not room.settled.is_set():
            return
        if self.open.get(room.game.id) is not room:
            return
        del self.open[room.game.id]
        self.sharing.closed(room.game.id)
        if room.game.is_over and room.game.info.mode != CASUAL:
            self.start(self._finish(room.game.id))

    def disconnect(self, account: str) -> None:
        """End the connections of an account, which has to sign in again or is deleted."""
        for client in tuple(self.clients):
            if client.account == account:
                client.close(SIGN_IN)

    def forget(self, accounts: Collection[str]) -> None:
        """Close the rooms of accounts that were deleted, and tell everybody in them."""
        for room in tuple(self.open.values()):
            if room.game.info.owner in accounts:
                self.reload(room, None)

    # Writing

    def _written(self, results: Sequence[CommitResult]) -> None:
        """Take results from the thread that writes."""
        self._loop.call_soon_threadsafe(self._on_commit, results)

    def _on_commit(self, results: Sequence[CommitResult]) -> None:
        self.metrics.commits.inc()
        moves = 0
        for result in results:
            change = result.change
            if isinstance(change, GameChange):
                if not (result.error or result.is_stale):
                    moves += len(change.turns)
                    self.note_live(change.id)
                    self.sharing.changed(change)
                if room := self.open.get(change.id):
                    room.on_commit(result)
                continue
            beginning = self._beginning.pop(change.id)
            if not beginning.done():  # whoever asked for the game may be gone
                beginning.set_result(result)
        self.metrics.moves.inc(moves)

    def on_settled(self, room: Room) -> None:
        """Finish a game that is over, and close its room when it is empty."""
        game = room.game
        if game.is_over and game.info.mode != CASUAL:
            self.start(self._finish(game.id))
        self.release(room)

    async def _finish_if_left(self, room: Room) -> None:
        """Make a record of a game that its player has left, unless it sits there in another tab."""
        await room.settled.wait()
        if self.sharing.bus is not None:
            await asyncio.sleep(room.opened + _HEARD - self._loop.time())
        room.leavers -= 1
        is_left = not (room.is_played or self.sharing.is_played_elsewhere(room.game.id))
        self.release(room)
        if is_left:
            await self._finish(room.game.id)

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
            room = self.open.get(game_id)
            if room is not None and room.game.info.mode == CASUAL:
                room.game.is_finished = True  # whoever comes back cannot undo

    def reload(self, room: Room, error: StorageError | None) -> None:
        """Load a game again that another process has changed, or that could not be written."""
        if error is not None:
            self.note_fault(error, "a move could not be written")
        if not room.is_reloading:
            room.begin_reload(error)
            self.start(self._reload(room))

    async def _reload(self, room: Room) -> None:
        """Load a game again, for as long as somebody waits for it."""
        wait = 0.1
        while True:
            try:
                game = await self.in_thread(self.games.load, room.game.id)
                break
            except ActionRejected:  # its player has deleted it, or it gave way to a new one
                room.announce_end()
                self._abandon(room)
                return
            except Py2048Error as error:
                fault = error if isinstance(error, StorageError) else StorageError(str(error))
                self.note_fault(fault, "a game cannot be read again")
                room.announce_fault(fault)
                if not (room.clients and fault.kind):
                    self._abandon(room)
                    return
                await asyncio.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
        room.replace_game(game)
        self.release(room)

    def _abandon(self, room: Room) -> None:
        """Close a room that is empty, or whose game is gone or cannot be read any more."""
        self.open.pop(room.game.id, None)
        self.sharing.closed(room.game.id)
        for client in room.clients:
            client.room = None

    def note_fault(self, error: StorageError, what: str) -> None:
        """Count and log that the store failed; until it works again the server is not ready."""
        self.metrics.storage_faults.inc()
        _log.error(what, extra={"fault": str(error)})
        if error.kind:
            self._fault = time.monotonic(), error

    def check_faults(self) -> None:
        """Raise the fault of the store, if there was one a moment ago.

        Raises:
            StorageError: the fault.
        """
        if self._fault is not None and time.monotonic() - self._fault[0] < _MEMORY:
            raise self._fault[1]

    # Other processes, and what is live

    def is_open(self, game_id: str) -> bool:
        """Say whether a game is open here."""
        return game_id in self.open

    def open_games(self) -> Collection[str]:
        """Return the games that are open here."""
        return self.open.keys()

    def unheard(self) -> Collection[str]:
        """Return the games that are watched here, and that nobody here plays."""
        return [
            game_id
            for game_id, room in self.open.items()
            if not (room.game.is_over or room.is_played)
        ]

    def on_change(self, change: GameChange) -> None:
        """Follow a change that another process has written."""
        self.note_live(change.id)
        room = self.open.get(change.id)
        if room is None or room.is_reloading or change.revision <= room.game.version:
            return
        room.end_autoplay()  # somebody acts there
        events = room.game.follow_change(change) if room.settled.is_set() else ()
        if events is None:
            self.reload(room, None)
        elif events:
            room.broadcast(events)
        else:
            self._follow_soon(change.id, change.revision)

    async def resync(self, *, every: bool) -> None:
        """Look into the store for changes that were not heard.

        Args:
            every: whether nothing is heard now; otherwise only games that others may play.
        """
        shared = filter(self.sharing.is_shared, self.open)
        games = tuple(self.open) if every else tuple({*shared, *self.unheard()})
        games = tuple(game for game in games if not self.open[game].game.is_over)
        try:
            for first in range(0, len(games), _MOST_AT_ONCE):
                some = games[first : first + _MOST_AT_ONCE]
                now = await self.in_thread(self.games.store.games.revisions, some)
                for game_id in some:
                    # A game that is gone is finished: its record is its last revision.
                    version = self.open[game_id].game.version if game_id in self.open else 0
                    self._follow_soon(game_id, now.get(game_id, version + 1))
        except StorageError as error:
            self.note_fault(error, "other processes cannot be followed")

    async def _catch_up(self, game_id: str) -> None:
        """Bring a game up to date that its player may have left in a process that died.

        Raises:
            StorageError: if the store cannot be read.
        """
        now = await self.in_thread(self.games.store.games.revisions, [game_id])
        await self._follow_store(game_id, now.get(game_id, 0))

    def on_autoplay(self, game_id: str, player: str | None) -> None:
        """Stop autoplay here: it was begun, or stopped, in another process."""
        if room := self.open.get(game_id):
            room.show_autoplay(player)

    def autoplay_of(self, game_id: str) -> str | None:
        """Return the computer player that moves here in a game, if any."""
        room = self.open.get(game_id)
        return room.autoplay if room is not None and room.autoplay_task is not None else None

    def _follow_soon(self, game_id: str, revision: int) -> None:
        """Have a game brought to at least a revision, from the store."""
        room = self.open.get(game_id)
        if room is None or revision <= room.game.version:
            return
        is_running = game_id in self._wanted
        self._wanted[game_id] = max(revision, self._wanted.get(game_id, 0))
        if not is_running:
            self.start(self._follow(game_id))

    async def _follow(self, game_id: str) -> None:
        try:
            wanted = 0
            while self._wanted[game_id] > wanted:  # more may come meanwhile
                wanted = self._wanted[game_id]
                await self._follow_store(game_id, wanted)
        except StorageError as error:
            self.note_fault(error, "another process cannot be followed")
        finally:
            del self._wanted[game_id]

    async def _follow_store(self, game_id: str, revision: int) -> None:
        room = self.open.get(game_id)
        if room is None or room.is_reloading or revision <= room.game.version:
            return
        await room.settled.wait()
        saved = await self.in_thread(self.games.store.games.find, game_id)
        room.end_autoplay()
        await room.settled.wait()
        if self.open.get(game_id) is not room or room.is_reloading:
            return
        # It may be finished already. What is more than new turns is replayed, in a thread.
        if saved is None or (
            saved.revision > room.game.version and not room.game.changes.added_turns(saved)
        ):
            room.begin_reload(None)
            await self._reload(room)
            return
        events = room.game.follow(saved)
        if events is None:
            room.replace_game(room.game)
        else:
            room.broadcast(events)

    def note_live(self, game_id: str) -> None:
        """Note that a game was played just now, here or elsewhere."""
        self._changed.pop(game_id, None)
        now = self._changed[game_id] = time.monotonic()
        while self._changed[oldest := next(iter(self._changed))] < now - LIVE.total_seconds():
            del self._changed[oldest]

    async def live_games(self) -> list[OpenGame]:
        """Return the games that changed last, here or in another process that can be heard."""
        since = time.monotonic() - LIVE.total_seconds()
        changed = (game for game, when in reversed(self._changed.items()) if when >= since)
        latest = list(islice(changed, _MOST_LIVE))
        return await self.in_thread(self.games.store.online.live, latest)

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
