"""Server data in the store: accounts, games, batched commits, notifications, leaderboards."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from store_games import load, new_game, new_online_game

from py2048.app.storage import (
    AccountError,
    GameChange,
    NewOnlineGame,
    OnlineGameInfo,
    SavedGame,
    StorageError,
    Store,
    open_store,
    records,
    schema,
)
from py2048.app.storage.database import insert_new
from py2048.app.storage.records import NAMED, enter_records
from py2048.app.storage.schema import games as games_table
from py2048.app.storage.summaries import COUNTED, count_records
from py2048.app.storage.values import Career, PuzzleAnswer, utc_now
from py2048.core.errors import StaleGameError
from py2048.server.play.changes import GroupCommit
from py2048.server.schema import PERIODS


def deal(store: Store, owner: str = "ada", **facts: object) -> SavedGame:
    return new_online_game(store, owner=owner, **facts)


def change(game: SavedGame, *codes: str, seen: int = 0) -> GameChange:
    """Return a change that adds these turns after the first `seen`."""
    turns = tuple((seen + ply, code, 100) for ply, code in enumerate(codes))
    length = seen + len(codes)
    return GameChange(
        game.id, seen, length, length, length, 4 * length, False, 0, 0, {"max_tile": 8}, turns
    )


def finish(
    store: Store, game: SavedGame, score: int, category: str = "ranked", **how: bool
) -> bool:
    return store.records.finish(
        game.id, game.revision, "{}", score=score, max_tile=64, plies=3, outcome="lost",
        category=category, **how,
    )  # fmt: skip


def test_a_stale_change_is_not_written_and_others_are(store):
    """A stale change is reported; the others in the transaction are written."""
    one, two = deal(store, "one"), deal(store, "two")
    store.changes.write([change(one, "a")])
    last = replace(change(two, "b", "c"), turns=((0, "x", 1), (0, "b", 2), (1, "c", 3)))
    stale = store.changes.write([change(one, "x", "y"), last])
    assert stale == {one.id}
    assert load(store, one.id).turns == ("a",)
    found = load(store, two.id)
    assert (found.turns, found.millis) == (("b", "c"), (2, 3))  # the later turn of a ply counts


@pytest.mark.parametrize("bad", ["score", "code", "extra", "stale"])
async def test_one_bad_change_fails_alone(store, bad):
    """An invalid change in a batched commit does not affect other games."""
    games = [deal(store, f"owner {n}") for n in range(5)]
    good = [change(game, "a") for game in games[:4]]
    worst = {
        "score": replace(change(games[4], "x"), score=2**63),
        "code": change(games[4], "\ud800"),
        "extra": replace(change(games[4], "x"), extra={"max_tile": {1}}),
        "stale": replace(change(games[4], "x"), seen=7),
    }[bad]
    first, failed, written = threading.Event(), [], []
    changes = SimpleNamespace(write=lambda batch: first.wait(10) and store.changes.write(batch))
    writer = GroupCommit(SimpleNamespace(changes=changes), written.extend)
    writer.submit(change(deal(store, "ann"), "a"), failed.append)
    while writer.backlog:  # the writer waits, so the others form one batch
        await asyncio.sleep(0.001)
    for each in (*good[:2], worst, *good[2:]):
        writer.submit(each, failed.append)
    first.set()
    await writer.close()
    assert [fault is None for fault in failed] == [True] * 3 + [False] + [True] * 2
    assert written[-4:] == good
    assert all(load(store, each.id).turns == ("a",) for each in good)
    assert load(store, games[4].id) == games[4]


def test_what_is_no_json_is_refused(store):
    """Extra data that is not JSON raises an error, and nothing is written."""
    game = deal(store)
    for extra in ({"max_tile": {1}}, {"share": float("nan")}):
        with pytest.raises(StorageError, match=next(iter(extra))):
            store.changes.write([replace(change(game, "a"), extra=extra)])
    assert load(store, game.id) == game


def test_no_index_is_on_what_a_move_changes():
    """A move changes no indexed column, so PostgreSQL can use HOT updates."""
    changed = {"revision", "length", "position", "score", "undos", "hints", "extra", "updated"}
    for index in games_table.indexes:
        where = str(index.dialect_options["postgresql"]["where"])
        assert not changed & ({column.name for column in index.columns} | {where})


def planned(owner: str, day: str | None = None) -> NewOnlineGame:
    game = SavedGame(rules="classic", seed=3, start="2 .", player="me", owner=owner)
    return NewOnlineGame(
        game, OnlineGameInfo(game.id, owner, "daily" if day else "ranked", day, "aa")
    )


def test_reads_of_a_block_see_one_moment(store):
    """Writes by others are not visible inside a snapshot block, even after an inner block."""
    game = deal(store)
    with store.snapshot():
        with store.snapshot():
            assert load(store, game.id).revision == 0
        writer = threading.Thread(target=store.changes.write, args=([change(game, "a")],))
        writer.start()
        writer.join(60)
        assert load(store, game.id).revision == 0
    assert load(store, game.id).revision == 1


def test_a_career_is_of_one_moment(store):
    """A game that ends while a career is read is in all parts of the career, or in none."""
    game, queries = deal(store), itertools.count()

    def end_meanwhile(*_: object) -> None:
        if next(queries) == 2:
            ending = threading.Thread(target=finish, args=(store, game, 100))
            ending.start()
            ending.join(60)

    sa.event.listen(store.engine, "before_cursor_execute", end_meanwhile)
    assert store.records.career("ada", game.rules) == Career()
    sa.event.remove(store.engine, "before_cursor_execute", end_meanwhile)
    assert store.records.career("ada", game.rules).tiles == {64: 1}


def test_a_deleted_account_leaves_nothing(store):
    """Deleting an account removes all of its data and nothing else."""
    for owner in ("ada", "bob", "cy"):
        store.accounts.claim_name(owner, owner.title(), "hash", ["code"])
        game = deal(store, owner)
        finish(store, game, 100)
        store.reviews.request(game.id, "1")
        store.changes.write([change(deal(store, owner), "a")])
    store.accounts.delete("bob")
    left = store.accounts.export("bob")
    assert not left.pop("account")
    assert not any(left.values())
    for owner in ("ada", "cy"):
        kept = store.accounts.export(owner)
        assert kept["account"]["name"] == owner.title()
        with pytest.raises(AccountError, match="looks like"):
            store.accounts.claim_name("eve", f"{owner}.", "hash")
        assert {name: len(rows) for name, rows in kept.items() if name != "account"} == {
            "games": 1, "records": 1, "rounds": 2, "summaries": 1, "milestones": 0, "leaders": 4,
            "settings": 0, "turns": 1, "battles": 0, "sessions": 0, "bots": 0, "mistakes": 0,
            "puzzle_answers": 0, "reviews": 1, "recovery_codes": 1,
        }  # fmt: skip


def scores(store: Store, *board: str) -> list[tuple[str, int]]:
    return [(row.player, row.score) for row in store.leaderboards.top(*board)]


def test_a_leaderboard_has_the_best_game_of_each_name(store):
    """A board lists each named account once, highest score first, per category and rules.

    A later game with the same score neither overtakes another player nor replaces the earlier game.
    """
    for owner, points in {"ada": (10, 30, 20), "bob": (25,), "guest": (99,)}.items():
        if owner != "guest":
            store.accounts.claim_name(owner, owner.title(), "hash")
        for score in points:
            finish(store, deal(store, owner), score)
    offline = deal(store, "bob")
    finish(store, offline, 999, offline=True)
    assert store.online.info(offline.id).offline
    finish(store, deal(store, "bob"), 500, "assisted")
    finish(store, deal(store, "bob", rules="5x5"), 600)
    assert scores(store, "ranked", "classic") == [("Ada", 30), ("Bob", 25)]
    assert scores(store, "ranked", "5x5") == [("Bob", 600)]
    assert scores(store, "assisted", "classic") == [("Bob", 500)]
    for owner in ("ada", "bob", "ada"):
        finish(store, deal(store, owner, rules="3x3"), 7)
    assert scores(store, "ranked", "3x3") == [("Ada", 7), ("Bob", 7)]


def test_an_undo_takes_back_what_an_end_counted_for(store, monkeypatch):
    """The record goes, and best scores and leaderboards are those of the player's other games.

    A game that is finished twice counts once.
    """
    board = "assisted", "classic"
    store.accounts.claim_name("ada", "Ada", "hash")
    with monkeypatch.context() as past:
        past.setattr(records, "utc_now", lambda: "2020-01-01T00:00:00.000000Z")
        ended = {20: ("ada", "classic"), 15: ("ada", "classic"), 50: ("ada", "3x3")}
        ended |= {60: ("ada", "ist"), 70: ("abe", "classic"), 80: ("bob", "classic")}
        for score, (owner, rules) in ended.items():
            finish(store, deal(store, owner, rules=rules), score, "assisted")
    other = deal(store)
    assert [finish(store, other, 10, "assisted") for _ in range(2)] == [True, False]
    game = deal(store, mode="casual")
    ends = [finish(store, game, 30, "assisted", can_undo=True) for _ in range(2)]
    assert ends == [True, False]
    assert [scores(store, *board, period) for period in PERIODS] == [[("Ada", 30)]] * len(PERIODS)
    assert store.scores.bests("classic", "ada", without=game.id) == {"assisted": 20}
    assert store.changes.write([replace(change(game), revision=1, undos=1)]) == set()
    assert store.records.summary(game.id) is None
    assert store.scores.bests("classic", "ada") == {"assisted": 20}
    found = {period: scores(store, *board, period) for period in PERIODS}
    assert found == {key: [("Ada", 20 if key == "ever" else 10)] for key in PERIODS}
    with pytest.raises(StaleGameError):
        finish(store, game, 30, "assisted", can_undo=True)


def test_a_place_is_that_of_the_list(store):
    """The place matches the list, including ties; guests and absent players have none."""
    for number, score in enumerate((7, 9, 7, 3, 9)):
        store.accounts.claim_name(f"p{number}", f"Player {number}", "hash")
        finish(store, deal(store, f"p{number}"), score)
    finish(store, deal(store, "guest"), 99)
    found = store.leaderboards.top("ranked", "classic")
    for place, row in enumerate(found, 1):
        assert store.leaderboards.standing(row.owner, "ranked", "classic") == (place, row)
    assert store.leaderboards.standing("guest", "ranked", "classic") is None
    assert store.leaderboards.standing("p0", "ranked", "5x5") is None


def test_a_guests_games_count_from_the_name_on(store):
    """Taking a name enters the guest's games; deleting the account removes them."""
    for score in (10, 30, 20):
        finish(store, deal(store, "ada"), score)
    assert scores(store, "ranked", "classic") == []
    store.accounts.claim_name("ada", "Ada", "hash")
    assert scores(store, "ranked", "classic", "day") == [("Ada", 30)]
    store.accounts.delete("ada")
    assert scores(store, "ranked", "classic") == []


def test_periods_are_days_weeks_and_seasons(store, monkeypatch):
    """A game counts for its day, week and season and for all time, a daily game for its challenge.

    Past days and weeks are deleted, past seasons are kept. A new account enters no past challenge.
    """
    store.accounts.claim_name("ada", "Ada", "hash")
    today, week = datetime(2048, 1, 29, 12, tzinfo=UTC), timedelta(days=7)
    for ago, score in ((8, 80), (3, 30), (2, 20), (0, 10)):  # the 29th is a Wednesday
        with monkeypatch.context() as past:
            past.setattr(records, "utc_now", lambda t=today - timedelta(days=ago): f"{t:%FT%TZ}")
            finish(store, deal(store, "ada"), score)
    for day in ("2048-01-27", "2020-01-27"):
        finish(store, deal(store, "ada", mode="daily", day=day), 5, "daily")
    spring = datetime(2048, 4, 1, tzinfo=UTC)
    for now, best in (
        (today, (10, 20, 80, 80)),
        (today + week, (None, None, 80, 80)),
        (spring, (None, None, None, 80)),
    ):
        clock = type("clock", (datetime,), {"now": lambda _zone, now=now: now})
        monkeypatch.setattr(records, "datetime", clock)
        found = [store.leaderboards.top("ranked", "classic", period) for period in PERIODS]
        assert tuple(rows[0].score if rows else None for rows in found) == best
        assert scores(store, "ranked", "classic", "2048-Q1") == [("Ada", 80)]
        assert scores(store, "ranked", "classic", "2047-Q4") == []
        assert scores(store, "daily", "classic", "2048-01-27") == [("Ada", 5)]
        for day in ("2048-01-28", "2020-01-27"):
            assert scores(store, "daily", "classic", day) == []
        store.leaderboards.forget_periods()
    with store.read() as connection:
        kept = set(connection.scalars(sa.select(schema.leaders.c.period)))
    seasons = store.leaderboards.seasons()
    assert seasons[:6] == [f"2048-Q{n}" for n in (2, 1)] + [f"2047-Q{n}" for n in (4, 3, 2, 1)]
    assert seasons == sorted(set(seasons), reverse=True)
    first = min(period for period in kept if period.startswith("season"))
    assert f"season {seasons[-1]}" == first
    earlier = type("clock", (datetime,), {"now": lambda _zone: datetime(2020, 5, 1, tzinfo=UTC)})
    monkeypatch.setattr(records, "datetime", earlier)  # the clock was ahead and is corrected
    assert store.leaderboards.seasons() == ["2020-Q2"]
    assert {"ever", "season 2048-Q1", "2048-01-27"} <= kept
    assert not any(period.startswith(("day 2048", "week 2048")) for period in kept)


def test_guests_games_that_are_hardly_begun_or_lost_are_swept(store):
    """Short games are deleted after a while, and guests and their data when cookies expire."""
    store.accounts.claim_name("named", "Ada", "hash")
    short, long, named = deal(store, "guest"), deal(store, "guest"), deal(store, "named")
    turns = "abcdefghij"
    for game in (short, named):
        store.changes.write([change(game, "a")])
    store.changes.write([change(long, *turns)])
    for number, owner in enumerate(("local", "named", "solver")):
        store.puzzle_answers.add(PuzzleAnswer(number, True, 0.0, 0.0), (0.0, 0.0), owner=owner)
    assert not store.accounts.forget_guests("2000")
    store.online.sweep_guests("2000")
    assert store.games.find(short.id)
    store.online.sweep_guests("2999")
    assert [bool(store.games.find(game.id)) for game in (short, long, named)] == [False, True, True]
    assert store.accounts.forget_guests("2999")
    assert [bool(store.games.find(game.id)) for game in (long, named)] == [False, True]
    assert store.accounts.find("guest") is None
    answered = {
        each: store.puzzle_answers.select(owner=each) for each in ("local", "named", "solver")
    }
    assert [each for each, answers in answered.items() if answers] == ["local", "named"]
    assert not store.accounts.forget_guests("2999")


def test_guests_games_without_a_move_are_swept(store):
    """Old games without a move are deleted with their guests, unless the guest has other data."""
    store.accounts.claim_name("named", "Ada", "hash")
    swept = [deal(store, "gone"), deal(store, "gone"), deal(store, "busy")]
    kept = [deal(store, "named"), deal(store, "busy"), deal(store, "sitting")]
    store.changes.write([change(kept[1], *"abcdefghij")])
    own = new_game(store)
    store.online.sweep_guests("2000")
    store.online.sweep_guests("2999", limit=2)
    assert [store.games.find(game.id) for game in swept] == [None, None, swept[2]]
    store.online.sweep_guests("2999", spare={kept[2].id})
    assert [store.games.find(game.id) for game in swept] == [None] * 3
    assert [store.online.info(game.id) for game in swept] == [None] * 3
    assert all(store.games.find(game.id) for game in (*kept, own))
    there = {owner for owner in ("gone", "busy", "named", "sitting") if store.accounts.find(owner)}
    assert there == {"busy", "named", "sitting"}
    assert store.changes.write([change(swept[0], "a")]) == {swept[0].id}


def test_a_swept_guest_who_left_stays_away(store):
    """Sweeping a guest's games makes no ended cookie valid again."""
    for owner in ("left", "gone"):
        deal(store, owner)
    store.accounts.end_guest("left")
    store.online.sweep_guests("2999")
    assert store.accounts.find("gone") is None
    assert store.accounts.live_guests({"left", "gone"}) == {"gone"}


def fill(store: Store, first: int, count: int) -> None:
    """Add finished games of 30 named players, half of them of the first, and as many begun ones."""
    people = [f"p{number}" for number in range(30)]
    columns = {"rules": "classic", "player": "me", "started": "2048"}
    with store.write() as connection:
        for name in people:
            row = {"id": name, "name": name, "name_key": name, "generation": 0, "created": "2048"}
            connection.execute(insert_new(connection.dialect, schema.accounts), row)
        finished = [
            {**columns, "id": f"r{number}", "owner": people[number % 2 * (number // 2 % 30)],
             "category": ("ranked", "computer")[number % 6 == 4],
             "finished": utc_now(), "score": number % 600, "max_tile": 64, "plies": 9,
             "outcome": "lost", "record": "x" * 2000}
            for number in range(first, first + count)
        ]  # fmt: skip
        connection.execute(sa.insert(schema.records), finished)
        count_records(connection, [[row[name] for name in COUNTED] for row in finished])
        reviewed = {"version": "1 ", "asked": "", "attempts": 1, "done": 1, "finished": "2048",
                    "summary": {"accuracy": 50.0}, "moves": []}  # fmt: skip
        kept = [{"game_id": row["id"], "owner": row["owner"], **reviewed} for row in finished]
        connection.execute(sa.insert(schema.reviews), kept)
        for name in people:
            enter_records(connection, NAMED.where(schema.records.c.owner == name))
        going_on = [
            {**columns, "id": f"g{number}", "owner": f"guest {number}", "start": "", "length": 1,
             "updated": "2048", "position": 1, "score": 0, "is_over": False, "revision": 1,
             "undos": 0, "hints": 0, "extra": {}}
            for number in range(first, first + count)
        ]  # fmt: skip
        connection.execute(sa.insert(schema.games), going_on)
        guests = [{"id": row["owner"], "generation": 0, "created": "2048"} for row in going_on]
        connection.execute(sa.insert(schema.accounts), guests)
        connection.execute(
            sa.insert(schema.rounds),
            [{"game_id": row["id"], "owner": row["owner"], "mode": "ranked", "secret": "",
              "day": str(date(1990, 1, 1) + timedelta(days=first + days)), "streak": days}
             for days, row in enumerate((*finished, *going_on))],
        )  # fmt: skip


def reads_of_pages(store: Store) -> dict[str, Callable[[], object]]:
    """Return the queries of shared pages, of a player's pages and of maintenance."""
    own = {"owner": "p0", "rules": "classic"}
    return {
        "best": lambda: store.scores.bests(**own),
        "best of others": lambda: store.scores.bests(**own, without="r2"),
        "career": lambda: store.records.career(**own, without="r2"),
        "statistics": lambda: store.scores.summaries("p0"),
        "best games": lambda: store.records.select(**own, limit=3),
        "last games": lambda: store.records.select(owner="p0", order="finished"),
        "week": lambda: store.online.daily_results("p0", "2040-01-01"),
        "longest streak": lambda: store.online.longest_streak("p0"),
        "accuracy": lambda: store.reviews.accuracies(["r2", "r4"], "1"),
        "ever": lambda: store.leaderboards.top("ranked", "classic"),
        "day": lambda: store.leaderboards.top("ranked", "classic", "day"),
        "daily": lambda: store.leaderboards.top("daily", "classic", "2048-01-31"),
        "place": lambda: store.leaderboards.standing("p1", "ranked", "classic"),
        "scores of a day": lambda: store.online.day_scores("2048-01-31"),
        "live": lambda: store.online.live(["g1", "g2", "g3"]),
        "daily game": lambda: store.online.daily("p1", "2048-01-31"),
        "name": lambda: store.accounts.find_name("p1"),
        "left behind": store.online.orphans,
        "sweep": lambda: store.online.sweep_guests("2999", limit=20),
        "forget": store.leaderboards.forget_periods,
        "close": lambda: store.online.close_ended("2999"),
        "mine": lambda: store.online.open_games("guest 1"),
        "statistics of a guest": lambda: store.scores.summaries("guest 1"),
    }


def test_a_page_costs_the_same_whatever_the_number_of_games(sqlite_url):
    """With ten times as many games, each page query takes about as many SQLite steps."""
    with open_store(sqlite_url) as store:
        steps: Counter[str] = Counter()

        def count(read: str) -> int:
            steps[read] += 1
            return 0

        def measure() -> dict[str, int]:
            steps.clear()
            for name, read in reads_of_pages(store).items():
                with store.engine.connect() as connection:
                    raw = connection.connection.driver_connection
                    raw.set_progress_handler(functools.partial(count, name), 50)
                read()
                raw.set_progress_handler(None, 0)
            return dict(steps)

        fill(store, 0, 600)
        few = measure()
        fill(store, 600, 6000)
        many = measure()
    assert few["ever"] > 10
    assert {name for name, taken in many.items() if taken > 1.5 * few.get(name, 0) + 5} == set()


def test_a_player_has_one_daily_game_a_day(store):
    """A second daily game is rejected; another day's or another player's is not."""
    first, second = planned("ada", "2048-01-31"), planned("ada", "2048-01-31")
    others = [planned("ada", "2048-02-01"), planned("bob", "2048-01-31")]
    began = [store.online.begin(each) for each in (first, second, *others)]
    assert began == [True, False, True, True]
    assert store.games.find(second.id) is store.online.info(second.id) is None
    assert [load(store, each.id) for each in others] == [each.game for each in others]
    assert store.online.daily("ada", "2048-01-31") == replace(first.info, mode="daily")
    found = store.online.open_games("ada")
    assert {each.id for each in found} == {first.id, others[0].id}
    assert {(each.max_tile, each.computer, each.from_position) for each in found} == {(0, 0, 0)}
    assert {(each.length, each.position, each.revision) for each in found} == {(0, 0, 0)}


def test_a_servers_games_are_listed_by_their_state(store):
    """Games in progress, games to watch, games without a record, and scores of a day."""
    begun, _, daily, over, ended = games = [
        deal(store, id=id_, day=day, mode="daily" if day else "ranked")
        for id_, day in zip("abcde", (None, None, "2048-01-31", None, "2048-02-01"), strict=True)
    ]
    for game in (daily, over, ended, begun):
        store.changes.write([replace(change(game, "a"), is_over=game in (over, ended))])
    finish(store, load(store, ended.id), 70, "daily", can_undo=True)
    assert [each.id for each in store.online.open_games("ada")] == ["a", "c", "b"]
    assert len(store.online.open_games("ada", limit=1)) == 1
    assert [each.id for each in store.online.live([game.id for game in games])] == ["a"]
    assert store.online.open_game("e").is_over
    assert store.online.open_game("f") is None
    assert (store.online.orphans(), store.online.orphans(spare=["d"])) == (["d"], [])
    days = "2048-01-30", "2048-01-31", "2048-02-01", "2048-02-02"
    assert [store.online.day_scores(day) for day in days] == [[], [], [(70, 64)], []]
    store.online.close_ended("2000")
    assert store.games.find("e")
    store.online.close_ended("2999")
    assert [store.games.find(each) is None for each in "abcde"] == [False] * 4 + [True]
    for revision in (1, 0):
        store.online.discard("b", revision)
        there = [store.online.info(each) is not None for each in "abc"]
        assert there == [True, revision == 1, True]


def test_guests_who_played_since_are_not_forgotten(store):
    """A move, a finished game or an answer since the given time keeps a guest."""
    mover, _, ender, _ = (deal(store, owner) for owner in "abcd")
    now = utc_now()
    assert not store.accounts.forget_guests(store.accounts.find("a").created)
    store.changes.write([change(mover, "a")])
    finish(store, ender, 5)
    store.puzzle_answers.add(PuzzleAnswer(1, True, 0.0, 0.0), (0.0, 0.0), owner="d")
    assert store.accounts.forget_guests(now)
    assert [store.accounts.find(each) is None for each in "abcd"] == [False, True, False, False]


def test_a_battle_starts_once_and_its_first_results_stay(store):
    """A change in the meantime stops the start; other battles lose only deleted accounts."""
    for battle in ("one", "three", "two"):
        store.battles.create(battle, "bob", "classic", 5, "aa")
        for account in ("ada", "cy"):
            store.battles.join(battle, account, most=3)
    with pytest.raises(AccountError, match="full"):
        store.battles.join("one", "dee", most=3)
    before, games = store.battles.find("three"), {1: planned("bob"), 3: planned("cy")}
    store.battles.leave("three", "ada")
    for battle in (before, store.battles.find("three")):
        with contextlib.suppress(StaleGameError):
            store.battles.start(battle, games, f"start {len(battle.players)}", "the end")
    with pytest.raises(AccountError, match="started"):
        store.battles.join("three", "ada", most=3)
    for score in (7, 9):
        store.battles.note("three", 3, has_left=True, score=score, max_tile=4, plies=2)
    windows = [store.battles.window(game.id) for game in games.values()]
    assert windows == [("start 2", "the end"), ("start 2", "start 2")]
    assert store.battles.window("none") is store.battles.of_game("none") is None
    assert [store.battles.of_game(game.id) for game in games.values()] == ["three", "three"]
    assert [store.battles.overdue(now) for now in ("the end", "the ends")] == [[], ["three"]]
    store.battles.settle("three")
    assert store.battles.overdue("the ends") == []
    store.battles.leave("three", "bob")  # too late
    fought = [*store.accounts.export("bob")["battles"], *store.accounts.export("cy")["battles"]]
    assert [row["account"] for row in fought] == ["bob"] * 3 + ["cy"] * 3
    store.accounts.delete("cy")
    found = [store.battles.find(battle) for battle in ("one", "three", "two")]
    seats = [[(each.seat, each.account, each.score) for each in one.players] for one in found]
    assert seats[1] == [(1, "bob", None), (3, None, 7)]
    assert seats[0] == seats[2] == [(1, "bob", None), (2, "ada", None)]
    assert [battle.is_settled for battle in found] == [False, True, False]


def test_a_battle_has_one_rematch_and_is_forgotten_if_it_never_starts(store):
    """The first rematch is kept; a battle goes with its last player."""
    store.battles.create("b", "bob", "classic", 5, "aa")
    battle = store.battles.find("b")
    assert [store.battles.rematch(battle, each, "bb") for each in ("c", "d")] == ["c", "c"]
    found = store.battles.find("c")
    assert (found.rules, found.minutes, found.secret, found.players) == ("classic", 5, "bb", ())
    assert (store.battles.find("b").rematch, store.battles.find("d")) == ("c", None)
    store.battles.start(battle := store.battles.find("b"), {1: planned("bob")}, "1", "2")
    store.battles.create("a", "bob", "classic", 5, "aa")
    store.battles.leave("a", "eve")
    store.battles.forget(battle.created)
    assert all(map(store.battles.find, "abc"))
    store.battles.leave("a", "bob")
    store.battles.forget("2999")
    assert [bool(store.battles.find(each)) for each in "abc"] == [False, True, False]


@pytest.mark.postgres
def test_processes_hear_each_other(postgresql_url):
    """A listener receives all later messages in order."""
    with open_store(postgresql_url) as writer, open_store(postgresql_url) as listener:
        writer.notices.send(["unheard"])
        listening = listener.notices.listen(0.05)
        assert next(listening) is None
        writer.notices.send(["first", "'second'"])
        assert [next(filter(None, listening)) for _ in range(2)] == ["first", "'second'"]


@pytest.mark.postgres
def test_a_listener_whose_connection_is_lost_says_so(postgresql_url):
    """A lost connection raises `StorageError`, and listening again works."""
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lost'"
    with open_store(f"{postgresql_url}&application_name=lost") as store:
        listening = store.notices.listen(0.2)
        assert next(listening) is None
        with open_store(postgresql_url) as other, other.write() as connection:
            connection.exec_driver_sql(end)
        with pytest.raises(StorageError, match="cannot reach"):
            list(listening)
        assert next(store.notices.listen(0.2)) is None
