"""Summaries of finished games: concurrent writers, long histories, and streaks."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from store_games import add_record, new_online_game

from py2048.app.storage import GameChange, open_store, schema
from py2048.app.storage.records import RECENT_GAMES
from py2048.app.storage.summaries import COUNTED, recount, rounded
from py2048.app.storage.values import Career


def test_processes_that_end_and_undo_at_once_lose_no_game(url):
    """Concurrent ends and undos of an owner's games leave the summaries of the records."""
    with open_store(url) as first, open_store(url) as second:

        def play(number: int) -> None:
            store, facts = (first, second)[number % 2], {"category": "plain", "outcome": "lost"}
            for score in range(number, 60, 10):
                game = new_online_game(store, mode="casual")
                store.records.finish(
                    game.id, 0, "{}", score=score, max_tile=8, plies=1, can_undo=True, **facts
                )
                if score % 3:
                    undone = GameChange(game.id, 0, 1, 0, 0, 0, False, 1, 0, {}, ())
                    assert store.changes.write([undone]) == set()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(play, range(10)))
        counted = sa.select(*(schema.records.c[name] for name in COUNTED))
        expected = [tuple(row.values()) for row in recount(first.rows(counted))]
        assert sorted(map(tuple, first.rows(sa.select(schema.summaries)))) == expected
        assert sum(games for *_, games, _score, _plies in expected) == 20
        assert first.scores.bests("classic", "ada") == {"plain": 57}


def test_a_long_history_is_rounded_and_its_last_games_are_exact(store):
    """Beyond the last games, scores are rounded down by less than a sixteenth."""
    scores = [score * score + 7 for score in range(RECENT_GAMES + 20)]
    for number, score in enumerate(scores):
        ended = f"2048-01-01T00:00:00.{number:06}Z"
        add_record(store, f"game{number}", score=score, max_tile=8, finished=ended)
    career = store.records.career("local", "classic")
    assert [end.score for end in career.recent] == scores[-RECENT_GAMES:]
    assert career.scores == Counter(map(rounded, scores))
    assert all(score * 15 / 16 < rounded(score) <= score for score in scores)
    assert store.scores.bests("classic") == {"plain": scores[-1]}
    noon = datetime.fromisoformat("2048-01-01T12:00:00Z")
    assert career.scores_today(noon) == []  # more than the last games
    assert len(store.records.career("local", "classic", without="game69").recent) == RECENT_GAMES
    first = store.records.summary("game0")  # ended at midnight
    short = Career(Counter([7]), Counter(), [first])
    found = [short.scores_today(noon + timedelta(days=days)) for days in (-1, 0, 1)]
    assert found == [[7], [7], []]


def test_the_shortest_time_to_a_tile_is_kept_and_people_with_a_name_are_ranked(store):
    """Each player has the fastest game to each tile; guests and programs are not ranked."""
    for owner, name in {"a": "Ann", "b": "Bob"}.items():
        store.accounts.claim_name(owner, name, "hash")
    store.accounts.add_bot("c", "Program", "b", "token", most=1)
    for owner, times in {"a": (900, 700, 800), "b": (650,), "c": (10,), "guest": (20,)}.items():
        for millis in times:
            game = new_online_game(store, owner=owner, id=f"{owner}{millis}")
            reached = ((512, millis, millis // 2), (1024, millis + 5, millis))
            change = GameChange(game.id, 0, 1, 1, 1, 9, False, 0, 0, {}, ((0, "U10", 5),), reached)
            assert store.changes.write([change]) == set()
    assert store.scores.milestones("classic", "a") == {512: (700, 350), 1024: (705, 700)}
    found = [(row["player"], row["game_id"]) for row in store.scores.fastest("classic", 512)]
    assert found == [("Bob", "b650"), ("Ann", "a700")]
    assert store.scores.fastest("classic", 2048) == store.scores.fastest("3x3", 512) == []


@settings(max_examples=25)
@given(st.permutations(range(8)), st.sets(st.integers(0, 7)))
def test_streaks_grow_in_whatever_order_the_games_end(order: list[int], left: set[int]) -> None:
    """Each finished day has the length of the run of days that it ends."""
    with open_store("sqlite://") as store:
        for day in order:
            game = new_online_game(store, mode="daily", day=f"2048-01-{day + 1:02}")
            if day not in left:
                add_record(store, game.id, owner="ada", category="daily")
        found, length = store.online.daily_results("ada", "2048"), 0
        for day, result in enumerate(found):
            length = 0 if day in left else length + 1
            assert result.streak == (length or None)
        longest = max((result.streak or 0 for result in found), default=0)
        assert store.online.longest_streak("ada") == longest
