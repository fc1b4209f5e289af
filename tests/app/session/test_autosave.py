"""Background saving: no move waits for a failing store, and nothing acknowledged is lost."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.app.storage.postgresql_server import PostgresqlServer
from tests.processes import until

from py2048 import Board, Game, get_rules, make_player
from py2048.app.session import Session, autosave, open_session
from py2048.app.session.autosave import FORKED, BackgroundWriter, StoreAutosave
from py2048.app.session.tracked_game import TrackedGame
from py2048.app.storage import open_store
from py2048.app.storage.values import Career
from py2048.core.errors import StorageError
from py2048.presentation.events import Event, SavingChanged, StorageFailed

A_MOVE = 10.0
"""Separates moves that wait 30 s for a lock from those that do not, even on a busy machine."""


@pytest.fixture(autouse=True)
def honest_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the program's own waits for the store, but a long one when all must be saved."""
    monkeypatch.setattr(autosave, "WRITE_WAIT_S", 0.15)
    monkeypatch.setattr(autosave, "READ_TIMEOUT_S", 2.0)
    monkeypatch.setattr(autosave, "CLOSE_TIMEOUT_S", 60.0)


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Hold the store's write lock from another process."""
    with closing(sqlite3.connect(home / "py2048.sqlite3", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


def move(session: Session) -> tuple[Event, ...]:
    """Make a legal move and check that it is fast enough."""
    direction = session.game.legal_directions()[0]
    began = time.monotonic()
    events = session.move(direction)
    assert time.monotonic() - began < A_MOVE
    return events


def saved_board(session: Session) -> Board:
    """Return the board of the owner's game as another process sees it."""
    session.check_saving()
    with open_store() as store:
        saved = store.games.current(rules=str(session.rules))
    assert saved is not None
    return TrackedGame.from_saved(saved).game.board


def test_a_locked_store_holds_up_no_move(data_folder):
    """While the store is locked, play continues, reported as unsaved; afterwards all is saved."""
    session = open_session()
    begun = session.play_tracked(TrackedGame(Game(seed=1), id="z"))  # after all other ids
    events = [*begun, *move(session)]
    until(lambda: not session.flush())
    with locked(data_folder):
        for _ in range(5):
            events += move(session)
        events += session.undo()
        session.set_setting("theme", "light")
        first = session.game.board
        began = time.monotonic()
        session.start(get_rules("3x3"), seed=2)
        assert time.monotonic() - began < A_MOVE
        move(session)
        until(lambda: "locked by another program" in session.unsaved)
        events += session.check_saving()
        told = [event.unsaved for event in events if isinstance(event, SavingChanged)]
        assert told[0]
        assert told[-1] == session.unsaved
        names = {game.rules.partition(":")[0]: game for game in session.saved_games()}
        assert set(names) == {"classic", "3x3"}
        assert session.resume_game(names["3x3"].id)
        move(session)
        assert session.resume_game(names["classic"].id)  # the store has an older state
        assert session.game.board == first
        move(session)
        best, turns = session.best, session.game.turns
    until(lambda: not session.flush())
    assert session.check_saving()[-1] == SavingChanged("")
    assert saved_board(session) == session.game.board
    session.close()
    with closing(open_session()) as later:
        assert {game.rules.partition(":")[0] for game in later.saved_games()} == {"classic", "3x3"}
        assert later.get_setting("theme") == "light"
        later.resume(get_rules("classic"))
        assert later.game.turns == turns
        assert later.best == best


def test_turns_adopted_together_are_kept_while_the_store_is_locked(data_folder):
    """A game that took over several turns can be left, resumed and played on before they are saved.

    Afterwards, all turns are saved.
    """
    with closing(open_session()) as session:
        session.play_tracked(game := TrackedGame(Game(seed=1)))
        for _ in range(2):
            move(session)
        with locked(data_folder):
            move(session)  # The writer waits with this move. Later ones must follow it.
            further = game.copy()
            further.undo()
            further.undo()
            for _ in range(3):
                further.attempt(further.game.legal_directions()[-1])
            session.adopt(further)
            session.start(seed=2)
            assert session.resume_game(game.id)
            assert session.game.turns == further.game.turns
            move(session)
        until(lambda: not session.flush())
        session.check_saving()
        with open_store() as store:
            saved = store.games.find(game.id)
        assert saved is not None
        assert TrackedGame.from_saved(saved).game.turns == session.game.turns


def test_closing_says_what_is_lost(data_folder, monkeypatch):
    """Closing waits for a limited time, then names the reason; closing again does nothing."""
    monkeypatch.setattr(autosave, "CLOSE_TIMEOUT_S", 0.5)
    session = open_session()
    session.start(seed=1)
    with locked(data_folder):
        move(session)
        with pytest.raises(StorageError, match="not saved"):
            session.close()
        session.close()
        other = open_session()
        assert not other.resume()
        other.close()


def test_a_session_settles_when_all_is_saved_or_known_not_to_be(data_folder):
    """Flushing waits for a slow store, but not for one that has failed."""
    with closing(open_session()) as session:
        session.start(seed=1)
        with locked(data_folder):
            move(session)
            assert "locked by another program" in session.flush()
            began = time.monotonic()
            assert session.flush()
            assert time.monotonic() - began < A_MOVE
        until(lambda: not session.flush())
        assert saved_board(session) == session.game.board


def test_saving_is_late_only_while_the_store_is_slow():
    """After slow jobs, the next ones are late; even an endless series is not after fast ones."""
    writer = BackgroundWriter("a store")
    numbers, reasons = iter(range(1_000_000)), list[str]()
    is_quick, ended = threading.Event(), threading.Event()

    def put_next() -> None:
        reasons.append(writer.unsaved)
        if not ended.is_set():
            writer.put(next(numbers), put_next)  # never run out of jobs

    writer.put("slow", is_quick.wait)
    writer.wait(0)
    put_next()
    is_quick.set()
    until(lambda: reasons[1:])
    assert reasons[:2] == ["a store does not answer yet"] * 2
    writer.wait(60)  # any job is fast from now on
    until(lambda: not writer.unsaved)
    ended.set()
    writer.close(5)
    with pytest.raises(StorageError, match="closed"):
        writer.put("late", ended.wait)


def test_a_failed_job_is_retried_after_a_pause_or_with_the_next_job(monkeypatch):
    """Later jobs do not wait for it, and a later job with the same key replaces it."""
    monkeypatch.setattr(autosave, "RETRY_S", 1000)
    ran: list[str] = []

    def failing() -> None:
        ran.append("failed")
        raise ValueError

    writer = BackgroundWriter("a store")
    writer.put("one", failing)
    until(lambda: writer.unsaved)
    assert (writer.unsaved, ran) == ("ValueError", ["failed"])
    writer.put("two", lambda: ran.append("two"))
    until(lambda: writer.unfinished() == ["one"])
    assert ran == ["failed", "failed", "two"]
    writer.put("one", lambda: ran.append("one"))
    until(lambda: not writer.unfinished() and not writer.unsaved)
    assert ran == ["failed", "failed", "two", "one"]
    writer.close(5)


def test_a_read_that_hangs_holds_up_neither_the_game_nor_the_end_of_the_program(monkeypatch):
    """Later reads fail until it ends, and no thread outlives the program."""
    monkeypatch.setattr(autosave, "READ_TIMEOUT_S", 0.1)
    is_answered = threading.Event()
    with closing(StoreAutosave(open_store())) as saving:
        saving.set_setting("speed", 1)
        for query in (lambda *_: is_answered.wait(), lambda *_: 1):
            with pytest.raises(StorageError, match="does not answer; try again later"):
                saving.read(query)
        is_daemon = {each.name: each.daemon for each in threading.enumerate()}
        assert (is_daemon["py2048-reader"], is_daemon["py2048-writer"]) == (True, True)
        is_answered.set()
        until(lambda: "py2048-reader" not in {each.name for each in threading.enumerate()})
        monkeypatch.setattr(autosave, "READ_TIMEOUT_S", 30)
        assert saving.read(lambda store, _: store.settings.get("speed")) == 1


def test_closing_saves_what_can_be_saved(data_folder):
    """If the lock is released in time, closing saves the delayed changes."""
    session = open_session()
    session.start(seed=1)
    with locked(data_folder):
        move(session)
        assert session.unsaved
    session.close()
    with closing(open_session()) as other:
        assert other.resume()
        assert other.game.board == session.game.board


def test_a_game_that_ends_while_the_store_is_locked_becomes_a_record(data_folder):
    """The game becomes a record once the store is free, and counts for the best score."""
    with closing(open_session()) as session:
        session.start(get_rules("2x4"), seed=1)
        with locked(data_folder):
            while not session.game.is_over:
                move(session)
            score = session.game.score
            session.start(seed=2)
            assert session.best == score
        until(lambda: not session.flush())
        assert [game.score for game in session.finished()] == [score]
        assert session.scores(str(get_rules("2x4")))[0].best == score


def test_a_game_that_went_on_elsewhere_meanwhile_is_kept_beside_it(data_folder):
    """If two windows change a game, both versions are kept, even after the session leaves it."""
    with closing(open_session()) as one, closing(open_session()) as two:
        one.start(seed=1)
        move(one)
        one.flush()
        assert two.resume()
        two.undo()
        two.flush()
        with locked(data_folder):
            one.move(one.game.legal_directions()[0], 0)
            both = {(each.game.board, each.record().times) for each in (one, two)}
            one.start(get_rules("3x3"), seed=2)
        until(lambda: not one.flush())
        assert one.check_saving().count(StorageFailed(FORKED)) == 1
        ids = [saved.id for saved in one.saved_games()]
        assert {len(id_) for id_ in ids} == {16}
        assert both <= {(one.game.board, one.record().times) for id_ in ids if one.resume_game(id_)}


def test_a_commit_whose_answer_was_lost_is_no_other_window(monkeypatch):
    """A commit without a reply is recognised later instead of being saved as another game."""
    store = open_store()
    session = Session(StoreAutosave(store))
    session.start(seed=1)
    move(session)
    working = store.changes.write

    def lossy(changes: object) -> set[str]:
        working(changes)
        monkeypatch.setattr(store.changes, "write", working)
        raise StorageError("the connection broke")

    monkeypatch.setattr(store.changes, "write", lossy)
    events = [*move(session)]
    until(lambda: not session.flush())
    assert StorageFailed(FORKED) not in (*events, *session.check_saving())
    assert len(session.saved_games()) == 1
    assert saved_board(session) == session.game.board
    session.close()


def test_a_failed_write_takes_over_no_turns_of_another_window(monkeypatch):
    """If another window plays on while a write fails, both versions are kept as two games."""
    store = open_store()
    with closing(Session(StoreAutosave(store))) as session, closing(open_session()) as other:
        session.start(get_rules("2x4"), seed=1)
        move(session)
        assert other.resume()
        first, *_, last = session.game.legal_directions()
        working = store.changes.write

        def failing(_: object) -> set[str]:
            monkeypatch.setattr(store.changes, "write", working)
            other.move(last)
            other.flush()
            raise StorageError("the connection broke")

        monkeypatch.setattr(store.changes, "write", failing)
        events = [*session.move(first)]
        until(lambda: not session.flush())
        assert StorageFailed(FORKED) in (*events, *session.check_saving())
        games = {TrackedGame.from_saved(saved).game.board for saved in store.games.select()}
        assert games == {session.game.board, other.game.board}
        while not session.game.is_over:
            move(session)
        assert session.career() == Career()  # the game that ended is none of the other games


def test_a_game_that_goes_on_elsewhere_while_it_ends_is_kept_beside_its_record(monkeypatch):
    """The ended game becomes a record, and the other window's version stays in progress."""
    store = open_store()
    finish = store.records.finish

    def late(id_: str, *args: object, **facts: object) -> None:
        monkeypatch.setattr(store.records, "finish", finish)
        elsewhere = TrackedGame.from_saved(store.games.find(id_))
        elsewhere.undo()
        assert not store.changes.write([elsewhere.take_change()])
        finish(id_, *args, **facts)

    monkeypatch.setattr(store.records, "finish", late)
    with closing(Session(StoreAutosave(store))) as session:
        session.start(get_rules("2x4"), seed=1)
        while not session.game.is_over:
            move(session)
        until(lambda: not session.flush())
        assert [game.score for game in session.finished()] == [session.game.score]
        count = session.game.turn_count  # the ended game stays until it can no longer be undone
        assert sorted(saved.position for saved in store.games.select()) == [count - 1, count]


def test_a_record_of_thousands_of_turns_is_one_change(monkeypatch):
    """Opening a long record, or continuing from its middle, takes one transaction."""
    game, corner = Game(get_rules("8x8"), seed=3), make_player("corner")
    while game.ply < 1500:
        game.play(corner.choose(game))
    store = open_store()
    with closing(Session(StoreAutosave(store))) as session:
        written: list[int] = []
        working = store.changes.write
        monkeypatch.setattr(
            store.changes, "write", lambda all_: written.append(len(all_[0].turns)) or working(all_)
        )
        session.start_from(game.record())
        until(lambda: not session.flush())
        assert written == [1500]
        session.start_from(game.record(), turns=700)
        until(lambda: not session.flush())
        assert written == [1500, 1500]
        assert (session.game.ply, len(session.game.undone)) == (700, 800)


def test_a_computers_game_stays_one():
    """Saving, resuming or opening a computer's game never makes it a person's best."""
    session = open_session()
    session.start(seed=1)
    for _ in range(30):
        session.autoplay_step("corner")
    session.close()
    session = open_session()
    assert session.resume()
    assert session.category == "computer"
    record = session.record()
    assert record.player == "corner"
    session.start(seed=2)
    session.start_from(record, 20)
    assert session.category == "computer"
    session.redo()
    assert session.best == 0
    assert session.record().player == "corner"
    session.close()


@pytest.mark.parametrize("is_over", [True, False])
def test_a_record_brings_no_best_score(is_over):
    """A continued record never sets a best score, and playing on counts as assisted."""
    other = Session(player="Anna")
    other.start(get_rules("2x4"), seed=1)
    while not other.game.is_over:
        move(other)
    if not is_over:
        other.undo()
    with closing(open_session()) as session:
        session.start_from(other.record())
        assert (session.category, session.best) == ("assisted", 0)
    with closing(open_session()) as session:
        assert session.finished() == []
        if not session.resume(get_rules("2x4")):
            session.start_from(other.record())
        assert (session.category, session.best) == ("assisted", 0)
        session.undo()
        while not session.game.is_over:
            move(session)
        session.start()
        assert session.best == 0
    with closing(open_session()) as session:
        session.start(get_rules("2x4"))
        assert session.best == 0
        (found,), (scores,) = session.finished(), session.scores()
        assert (found.category, scores.category) == ("assisted", "assisted")
        assert (scores.best, scores.games, scores.mean_score) == (0, 1, found.score)


@pytest.mark.postgres
def test_a_server_that_stops_or_hangs_holds_up_no_move(postgresql, postgresql_url):
    """If PostgreSQL stops or hangs, play continues and is saved later."""
    session = open_session(postgresql_url)
    session.start(seed=1)
    move(session)
    until(lambda: not session.flush())
    postgresql.stop()
    move(session)
    until(lambda: "cannot reach" in session.unsaved)
    move(session)
    with pytest.raises(StorageError, match="cannot reach"):
        session.saved_games()
    assert session.get_setting("speed", 3) == 3
    assert [type(each) for each in session.check_saving()][-1] is StorageFailed
    postgresql.start()
    until(lambda: not session.flush())
    with frozen(postgresql):
        move(session)
        move(session)
        assert "does not answer" in session.unsaved
        with pytest.raises(StorageError, match="does not answer"):
            session.saved_games()
    until(lambda: not session.flush())
    with open_store(postgresql_url) as store:
        (saved,) = store.games.select()
    assert len(saved.turns) == session.game.ply == 5
    session.close()


@contextmanager
def frozen(server: PostgresqlServer) -> Iterator[None]:
    """Suspend all processes of the server."""
    postmaster = int((server.data / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    everyone = [postmaster, *map(int, children)]
    for process in everyone:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in everyone:
            os.kill(process, signal.SIGCONT)
