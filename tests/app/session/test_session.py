"""The session: ordered events, automatic saving, fair best scores and no stale advice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from tests.app.storage.store_games import add_record

from py2048 import Board, Direction, Game, Record, Rules, get_rules, make_player
from py2048.app.session import Hint, Replay, Session, autosave, hint_player, open_session
from py2048.app.session.session import is_by_computer
from py2048.app.session.tracked_game import TrackedGame
from py2048.app.storage import SavedGame, open_store
from py2048.app.storage.schema import games
from py2048.app.storage.values import Career
from py2048.core.errors import GameOverError, PlayerError, RecordError, StorageError
from py2048.presentation.events import (
    Event,
    GameStarted,
    Hinted,
    IllegalMove,
    Moved,
    StorageFailed,
    Won,
)
from py2048.review.levels import PRIOR_GAMES, PRIOR_SLIP, fit_level, level_of, parse_level
from py2048.review.report import CareerTotals

LEFT, RIGHT, UP, DOWN = Direction.LEFT, Direction.RIGHT, Direction.UP, Direction.DOWN
NEARLY = Board.parse("1024 1024 . . / . . . . / . . . . / . . . .")
LAST = Board.parse("4 8 4 8 / 8 4 8 4 / 4 8 4 8 / 16 32 . 2")


def kinds(events: Iterable[Event]) -> list[str]:
    """Return the names of the events."""
    return [type(event).__name__ for event in events]


@pytest.fixture(params=["memory", "store"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    """A session without and with a store."""
    table = Session() if request.param == "memory" else open_session()
    yield table
    table.close()


def play(session: Session, moves: int) -> list[Event]:
    """Play moves by trying the directions in turn; return the events."""
    target, events = session.game.ply + moves, list[Event]()
    while session.game.ply < target and not session.game.is_over:
        legal = session.game.legal_directions()
        events += session.move(next(each for each in (DOWN, LEFT, RIGHT, UP) if each in legal))
    return events


def test_events_carry_all_that_a_screen_draws(session):
    """A move event contains the boards, the slides, the new tile and the points."""
    (started,) = session.start(get_rules("2x4"), seed=1, board=Board.parse("2 2 . 4 / . . . ."))
    (moved,) = session.move(LEFT)
    assert not started.resumed
    assert moved.before == started.board
    assert (moved.points, moved.score) == (4, 4)
    assert moved.turn.slide.board.rows[0] == (4, 4, 0, 0)
    assert moved.board[moved.turn.spawn.cell] == moved.turn.spawn.tile
    (undone,) = session.undo()
    assert (undone.board, undone.score) == (started.board, 0)
    assert {m.source for m in undone.backward_motions} <= {(0, 0), (0, 1)}
    again = Moved(moved.before, moved.turn, moved.board, 4, 4, redone=True)
    assert session.redo() == (again,)
    assert (session.redo(), session.game.ply) == ((), 1)


def test_a_refused_move_says_what_it_costs(session):
    """An illegal move costs nothing under most rules, and a point under cits1401."""
    session.start(board=Board.parse("2 4 . . / . . . . / . . . . / . . . ."), seed=1)
    assert session.move(LEFT) == (IllegalMove(LEFT, 0, 0),)
    assert not session.game.can_undo
    session.start(get_rules("cits1401"), board=Board.empty(5, 5).with_tile((0, 0), 2), seed=1)
    assert session.move(UP) + session.move(UP) == (IllegalMove(UP, -1, -1), IllegalMove(UP, -1, -2))
    assert session.game.can_undo


def test_winning_is_announced_once_and_play_goes_on(session):
    """Undo and redo do not repeat the win. Rules that end at the target announce both events."""
    session.start(board=NEARLY, seed=1)
    assert kinds(session.move(LEFT)) == ["Moved", "Won"]
    assert kinds((*session.undo(), *session.redo())) == ["Undone", "Moved"]
    assert session.in_progress
    session.start(get_rules("comp1127"), board=NEARLY, seed=1)
    assert kinds(session.move(LEFT)) == ["Moved", "Won", "GameOver"]
    assert not session.in_progress
    session.start(Rules.parse("last:size=1x2,start=2x2:1,spawn=2:1,target=4"), seed=1)
    assert session.move(LEFT)[1] == Won(4, plays_on=False)  # no move is left


def test_a_game_saved_by_its_caller_brings_its_best_score():
    """A game that the caller saves has the caller's best score, unless its own is higher."""
    session, game = Session(), TrackedGame(Game(seed=1))
    (started,) = session.play_tracked(game, best=4)
    assert (started.best, started.resumed, session.game) == (4, False, game.game)
    play(session, 20)
    assert session.best == session.game.score > 4
    session.reset_best(10**6)
    assert session.best == 10**6
    session.reset_best(0)
    assert session.best == session.game.score
    version, further = session.version, game.copy()
    further.attempt(further.game.legal_directions()[0])
    session.adopt(further)
    assert session.game is further.game
    assert (session.version > version, session.check_saving()) == (True, ())


def test_help_for_a_position_counts_once():
    """Any help for a position is one hint; only the first hint of a game is saved at once."""
    with closing(open_session()) as session, open_store() as store:
        session.start(seed=1)
        for hints, saved in ((1, 1), (2, 1), (3, 2)):
            play(session, 1)
            assert [session.count_help() for _ in range(3)] == [hints == 1, False, False]
            assert (session.record().hints, session.category) == (hints, "assisted")
            assert (session.flush(), store.games.current().hints) == ("", saved)


def ask(session: Session, player: str) -> Hint:
    """Ask a player for a hint, as a screen does."""
    hint = session.snapshot().ask(session.get_player(player))
    session.show_hint(hint)
    return hint


def test_a_computers_moves_raise_no_best_score(session):
    """From its first move the game is a computer's, and the best score is another game's."""
    session.start(seed=1)
    play(session, 20)
    assert session.best == session.game.score > 0
    assert session.autoplay_step("corner")
    assert (session.category, session.best) == ("computer", 0)


def test_hints_are_shown_only_for_the_position_they_are_about(session):
    """Hints and moves computed for an earlier position or another game are ignored."""
    session.start(seed=1)
    earlier = session.snapshot().ask(make_player("greedy"))
    session.start(seed=1)
    assert not session.show_hint(earlier)
    snapshot = session.snapshot()
    assert (snapshot.ply, snapshot.score, snapshot.version) == (1, 0, session.version)
    hint = snapshot.ask(make_player("greedy"))
    assert set(hint.values) == set(session.game.legal_directions())
    assert session.show_hint(hint) == (Hinted(hint),)
    play(session, 1)
    assert not session.show_hint(hint)
    assert not session.play_hint(hint)
    assert session.game.ply == 1
    assert (session.snapshot().ply, session.snapshot().score) == (2, session.game.score)
    assert session.play_hint(session.snapshot().ask(make_player("greedy"), only_move=True))
    assert session.game.ply == 2


@pytest.mark.parametrize(
    ("rules", "board", "player"),
    [
        *(("2x4", None, "perfect"), ("mine:size=2x3,target=64", None, "perfect")),
        *(("ist:size=2x3", None, "expectimax"), ("classic", None, "expectimax")),
        ("classic:size=2x2", "16 32 / 8 4", "perfect"),
        ("classic:size=2x2", "32 16 / 8 8", "expectimax"),  # too large a sum
        ("classic:size=2x2", "8 16 / 8 16", "expectimax"),  # no tile can have just spawned
    ],
)
def test_hints_are_perfect_where_the_tables_reach(rules, board, player):
    """Other rules, sizes and boards get the search."""
    assert hint_player(get_rules(rules), board and Board.parse(board)) == player


def test_a_record_of_a_computer_names_its_player():
    """A record is a computer's if its player is a spec, with or without options."""
    record = Session().record()
    for player, is_computer in (("corner", True), ("expectimax:depth=3", True), ("Ada", False)):
        assert is_by_computer(replace(record, player=player)) == is_computer


def test_a_quick_hint_and_the_one_it_precedes_count_once(session):
    """A player's own hint is counted with the quick one; asking again counts again."""
    session.start(seed=1)
    hint = session.snapshot().ask(make_player("greedy"))
    quick = replace(hint, player="quick", instead_of="greedy")
    for shown, hints in ((quick, 1), (hint, 1), (hint, 2)):
        assert session.show_hint(shown)
        assert session.record().hints == hints


def test_advisers_do_not_see_what_will_spawn(session):
    """The snapshot has no seed: the player's game uses a different generator."""
    seen: list[Game] = []

    class Spy:
        name = "spy"

        def choose(self, game: Game) -> Direction:
            seen.append(game)
            return game.legal_directions()[0]

        def rate(self, game: Game) -> dict[Direction, float]:
            return dict.fromkeys(game.legal_directions(), 0.0)

    session.start(seed=77)
    session.autoplay_step(Spy())
    assert seen[0] is not session.game
    assert seen[0].seed == 0


def test_a_player_that_cheats_is_caught(session):
    """An illegal answer raises an error that names the player and leaves the game unchanged."""

    class Cheat:
        name = "cheat"

        def choose(self, game: Game) -> Direction:
            return next(d for d in Direction if d not in game.legal_directions())

        def rate(self, game: Game) -> dict[Direction, float]:
            return {}

    session.start(board=Board.parse("2 4 . . / . . . . / . . . . / . . . ."), seed=1)
    with pytest.raises(PlayerError, match="'cheat' chose"):
        session.autoplay_step(Cheat())
    with pytest.raises(PlayerError, match="no player"):
        ask(session, "nobody")
    assert session.game.ply == 0


def test_nothing_is_asked_when_the_game_is_over(session):
    """After the game is over, hints raise an error and autoplay does nothing."""
    session.start(board=Board.parse("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2"), seed=1)
    assert not session.autoplay_step("greedy")
    with pytest.raises(GameOverError):
        ask(session, "greedy")


# With a store


def test_everything_is_there_after_a_restart():
    """Board, score, undone turns, category and best score survive a restart."""
    first = open_session()
    first.start(get_rules("ist"), seed=9)
    play(first, 30)
    first.undo()
    first.undo()
    ask(first, "greedy")
    board, score, undone, best = first.game.board, first.game.score, first.game.undone, first.best
    # Not closed, as if the process had been killed.
    second = open_session()
    assert second.resume() == (GameStarted(board, score, best, resumed=True),)
    assert (second.game.undone, second.category) == (undone, "assisted")
    assert second.record().undos == 2
    assert second.record().hints == 1
    first.close()
    second.close()


def test_each_rule_set_keeps_its_own_game():
    """After a change of rules, both games can be resumed."""
    with closing(open_session()) as with_store:
        with_store.start(get_rules("3x3"), seed=1)
        play(with_store, 5)
        small, score = with_store.game.board, with_store.game.score
        with_store.start(get_rules("classic"), seed=1)
        play(with_store, 5)
        assert with_store.switch_rules(get_rules("3x3"))[0].resumed
        assert with_store.game.board == small
        names = [Rules.parse(saved.rules).name for saved in with_store.saved_games()]
        assert names == ["classic", "3x3"]  # the last one played first
        assert not with_store.resume(get_rules("8x8"))
        assert not with_store.resume_game("gone")
        assert with_store.game.board == small
        assert not with_store.switch_rules(get_rules("8x8"))[0].resumed
        assert (with_store.rules.name, with_store.game.board.sum < 9) == ("8x8", True)
        with_store.start(get_rules("3x3"), seed=2)
        assert with_store.best == score > 0  # of the game in progress


def test_a_game_without_a_move_leaves_nothing_behind():
    """Opening and closing the program adds nothing to the store."""
    session = open_session()
    session.start(seed=1)
    session.start(seed=2)
    session.close()
    session = open_session()
    assert session.saved_games() == []
    assert not session.resume()
    session.close()


def test_a_finished_game_becomes_a_verified_record():
    """A finished game says whether it is the best; only an old one is ended by a later session."""
    session = open_session()
    session.start(get_rules("2x4"), seed=2)
    over = play(session, 10_000)[-1]
    score = session.game.score
    assert (over.is_best, over.best, over.score, session.best) == (True, score, score, score)
    with closing(open_session()) as other, open_store() as store:
        with store.write() as connection:
            connection.execute(sa.update(games).values(updated="2020"))
        other.start(get_rules("2x2"), seed=2)
        play(other, 1000)
        later = open_session()  # the first session was not closed, as if killed
        later.flush()
        assert [each.score for each in store.games.select(finished=True)] == [other.game.score]
    game, _ = later.finished()
    assert (game.score, game.category, game.outcome) == (score, "plain", "lost")
    record = later.finished_record(game.id)
    record.verify()
    assert (record.seed, record.score, len(record.times)) == (2, score, game.plies)
    assert later.scores(str(get_rules("2x4")))[0].best == score
    assert later.scores("classic") == []
    later.close()
    session.close()


def test_a_game_counts_when_it_ends_and_an_undo_takes_it_back():
    """Lists, statistics and the best score change with the last move and with its undo."""
    with closing(open_session()) as session, closing(open_session()) as other:
        session.start(get_rules("2x4"), seed=2)
        play(session, 9)
        session.resume_game(session.saved_games()[0].id)
        assert (session.best, session.best_before) == (session.game.score, 0)
        play(session, 10_000)
        best = session.game.score
        for _ in range(2):
            assert [game.score for game in other.finished()] == [best]
            (summary,), (total,) = other.scores(), other.totals()
            assert (summary.best, summary.games, session.best) == (best, 1, best)
            assert (total.games, total.best_score, total.moves) == (1, best, session.game.ply)
            assert session.career() == Career()  # the player's other games
            session.undo()
            assert (other.finished(), other.scores()) == ([], [])
            assert session.best == session.game.score
            session.redo()
        (game,) = other.finished()
        assert game.category == "assisted"
        session.start(get_rules("2x4"), seed=2)
        assert not play(session, 10_000)[-1].is_best  # it equals the best
        session.start(get_rules("2x4"), seed=3)
        assert (session.best, session.career().scores) == (best, {best: 2})


def test_totals_are_of_a_persons_games_under_each_rules():
    """A game that reaches the target is won, and a computer's game does not count."""
    rules, endless = (str(Rules.parse(f"classic:target={target}")) for target in ("64", "none"))
    with closing(open_session()) as session, open_store() as store:
        for category, score, tile in [
            ("plain", 100, 64), ("assisted", 300, 32), ("assisted", 120, 128), ("computer", 900, 8)
        ]:  # fmt: skip
            facts = {"category": category, "score": score, "max_tile": tile, "plies": score}
            add_record(store, str(tile), rules=rules, **facts)
        add_record(store, "endless", rules=endless)
        assert session.totals() == [
            CareerTotals(rules, 3, 2, 300, 520 / 3, 120, 128, 520, {32: 1, 64: 1, 128: 1}),
            CareerTotals(endless, 1, 0, 0, 0.0, 0, 64, 9, {64: 1}),
        ]


def test_milestones_stand_beside_the_best_of_games_without_help():
    """The shortest time to a tile is kept as soon as it is made, unless the player had help."""
    rules, best = Rules.parse("2x4:target=32"), None
    with closing(open_session()) as session:
        for millis, is_helped, counted in ((100, 0, 100), (50, 1, 100), (70, 0, 70), (90, 0, 70)):
            session.start(rules, seed=4)
            assert session.race()[0].best == best
            if is_helped:
                session.count_help()
            while session.game.board.max_tile < 8:
                session.move(session.game.legal_directions()[0], millis)
            moves = session.game.ply
            assert session.race()[0] == (8, (millis * (moves - 1), moves), best)
            best = counted * (moves - 1), moves


def test_the_level_is_fitted_to_recent_games_without_help():
    """Rules with too few games have the level of classic games; new players have a fixed one."""
    small, classic = get_rules("3x3"), get_rules("classic")
    with closing(open_session()) as session, open_store() as store:
        session.start(small, seed=1)
        assert session.level() == level_of(PRIOR_SLIP)
        for number in range(PRIOR_GAMES + 1):
            category = "plain" if number > 1 else "assisted"
            add_record(store, f"small {number}", rules=str(small), category=category, max_tile=32)
            add_record(store, f"large {number}", rules=str(classic), max_tile=128)
        play(session, 3)
        session.count_help()
        assert session.level() == fit_level(classic, [(128, True)] * (PRIOR_GAMES + 1))
        session.start(small, seed=2)
        play(session, 3)
        games = [(session.game.board.max_tile, False), *[(32, True)] * (PRIOR_GAMES - 1)]
        assert session.level() == fit_level(small, games)
        assert session.level(text="expert") == parse_level("expert")


@pytest.mark.parametrize("finalize", [True, False])
def test_a_game_over_on_a_screen_is_left_to_it(finalize, monkeypatch):
    """A recent game, or any game for a read-only session, stays undoable in its window."""
    if not finalize:
        monkeypatch.setattr(autosave, "ORPHAN_MIN_AGE", timedelta(0))
    with closing(open_session()) as session:
        session.play_tracked(TrackedGame(Game(get_rules("2x2"), seed=2), id="z"))
        play(session, 1000)
        with closing(open_session(finalize=finalize)) as other:
            assert other.resume_game("z") == ()
        assert kinds(session.undo()) == ["Undone"]
        session.flush()
        assert session.check_saving() == ()
        assert [game.id for game in session.saved_games()] == ["z"]
        assert session.finished() == []


def damage(session: Session, game_id: str) -> None:
    """Store unknown rules for a game."""
    session.flush()
    with open_store() as store, store.write() as connection:
        connection.execute(sa.update(games).where(games.c.id == game_id).values(rules="nosuch"))


def test_a_saved_game_that_cannot_be_read_back_replaces_nothing():
    """The current game continues and is still saved."""
    with closing(open_session()) as session:
        session.start(seed=1)
        play(session, 3)
        (damaged,) = session.saved_games()
        session.start(get_rules("3x3"), seed=7)
        play(session, 3)
        damage(session, damaged.id)
        board = session.game.board
        with pytest.raises(StorageError, match="cannot be read"):
            session.resume_game(damaged.id)
        assert session.game.board == board
        play(session, 3)
    with closing(open_session()) as again:
        assert again.resume()
        assert again.game.ply == 6


@pytest.mark.parametrize("is_over", [True, False])
def test_a_game_that_cannot_be_read_back_is_skipped(is_over, monkeypatch):
    """The session opens without the game and reports the error once."""
    monkeypatch.setattr(autosave, "ORPHAN_MIN_AGE", timedelta(0))
    killed = open_session()
    killed.start(get_rules("2x2"), seed=1)
    play(killed, 1000 if is_over else 1)
    with open_store() as store:
        (saved,) = store.games.select()
    damaged = saved.id
    damage(killed, damaged)
    with closing(open_session()) as session:
        assert not session.resume()
        events = session.start(seed=2)
        told = next(each for each in events if isinstance(each, StorageFailed))
        assert f"the saved game {damaged} cannot be read" in told.message
        play(session, 1)
    with closing(open_session()) as again:
        assert again.resume()
        assert again.game.seed == 2
    killed.close()


def test_a_session_without_a_store_keeps_nothing():
    """Without a store, play works but nothing is saved."""
    session = Session()
    bests = session.best, session.best_before
    session.start(seed=1)
    assert (*bests, session.best, session.best_before) == (0, 0, 0, 0)
    play(session, 2)
    assert (session.resume(), session.resume_game("x"), session.flush()) == ((), (), "")
    kept = session.saved_games(), session.scores(), session.finished(), session.totals()
    assert kept == ([], [], [], [])
    with pytest.raises(StorageError, match="without a store"):
        session.finished_record("x")
    session.set_setting("theme", "dark")
    assert session.get_setting("theme") == "dark"
    assert session.get_setting("speed", 3) == 3
    assert (session.keeps_games, session.unsaved, session.career()) == (False, "", Career())
    for opened in (session.notebook, session.puzzle_book):
        with pytest.raises(StorageError, match="without a store"):
            opened()


@pytest.mark.parametrize(
    "started",
    [
        *("2014-03-09T12:00:00Z", "2014-03-09T13:00:00+01:00", "2014-03-09T12:00:00", "in March"),
        *("", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59.999999-01:00", "2999-01-01"),
        *("0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z"),
    ],
)
def test_a_game_began_when_it_began(started):
    """A resumed game keeps its start time; an invalid one is replaced by the time of opening."""
    record = replace(Session().record(), started=started)
    with closing(open_session()) as session:
        session.start_from(record)
        play(session, 1)
        opened = session.record().started
    kept = {"2014": "2014-03-09T12:00:00Z", "1970": "1970-01-01T00:00:00Z"}.get(started[:4])
    assert opened == kept if kept else opened[:2] == "20"
    with closing(open_session()) as session:
        (saved,) = session.saved_games()
        assert saved.started[:19] == opened[:19]
        assert session.resume()
        assert session.record().started == opened


def test_a_game_that_is_continued_has_a_record_that_verifies():
    """A continued game's record verifies, whatever the original record or an old store claimed."""
    session = Session()
    session.start(seed=1)
    play(session, 3)
    said = {"player": "\x1b[2JAda\x9b", "started": "in March", "times": (1,) * 9}
    session.start_from(replace(session.record(), **said))
    saved = SavedGame(
        owner="local", rules=str(get_rules("classic")), seed=None, player="",
        start="2 2 . . / . . . . / . . . . / . . . .", extra={"player": said["player"]},
    )  # fmt: skip
    for record in (session.record(), TrackedGame.from_saved(saved).record()):
        record.verify()
        assert record.player == "[2JAda"


def test_the_last_turn_was_played_when_it_was_played():
    """Opening or resuming a game does not change the time of its last turn."""
    session = Session()
    session.start(seed=1)
    play(session, 3)
    then = {"started": "2014-03-09T12:00:00Z", "finished": "2014-03-09T12:30:00Z"}
    session.start_from(replace(session.record(), **then))
    assert session.record().finished == then["finished"]
    session.undo()
    session.redo()
    assert session.record().finished > then["finished"]
    saved = SavedGame(
        owner="local", rules=str(get_rules("classic")), seed=None, player="",
        start="2 2 . . / . . . . / . . . . / . . . .", turns=("L1F", "U15"), millis=(1, 1),
        started=then["started"], updated=then["finished"],
    )  # fmt: skip
    for plies, updated, is_kept in (
        (1, then["finished"], True), (1, then["started"], True),
        (1, "2014-03-09T11:59:59Z", False), (1, "?", False), (0, then["finished"], False),
    ):  # fmt: skip
        record = TrackedGame.from_saved(replace(saved, position=plies, updated=updated)).record()
        assert (record.plies, record.finished == updated) == (plies, is_kept)
        assert (not record.finished) == (plies == 0)


def test_a_replay_walks_both_ways():
    """Forward and back return events to animate, and seek jumps."""
    game = Game(seed=3)
    while game.ply < 20:
        next(filter(game.attempt, (DOWN, LEFT, RIGHT, UP)))
    replay = Replay(game.record())
    assert (len(replay), replay.index, replay.position.board) == (20, 0, game.start)
    boards, score = [game.start], 0
    while event := replay.forward():
        assert (event.before, event.score - event.points) == (boards[-1], score)
        boards.append(event.board)
        score = event.score
    assert boards[-1] == game.board
    for board in reversed(boards[:-1]):
        undone = replay.back()
        assert (undone.board, undone.score) == (board, replay.position.score)
    assert replay.back() is None
    assert replay.seek(7).board == boards[7]
    assert replay.seek(99).ply == 20
    assert replay.seek(-5).ply == 0
    assert replay.position.score == 0
    with pytest.raises(RecordError):  # records are verified first
        Replay(Record(get_rules("classic"), LAST, "U10", 0))
