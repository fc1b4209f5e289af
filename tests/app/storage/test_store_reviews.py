"""Stored reviews: requested once, claimed by one process, limited in number."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from store_games import add_record, append_turn, new_game

from py2048.app.storage import Store
from py2048.app.storage.values import ReviewClaim

VERSION, NEVER, ALWAYS = "1", "", "9"
"""A version, and times before and after every claim."""


@pytest.fixture
def games(store: Store) -> list[str]:
    """Finished games whose reviews were requested in this order."""
    found = [add_record(store, name) for name in ("c", "a", "b")]
    for game in found:
        store.reviews.request(game, VERSION)
    return found


def claimed(store: Store) -> ReviewClaim:
    return store.reviews.claim(NEVER)


def test_the_first_asked_is_the_first_claimed(store, games):
    """Reviews are claimed once each, in the order of the requests."""
    assert [claimed(store).game_id for _ in games] == games
    assert store.reviews.claim(NEVER) is None
    assert store.reviews.pending() == 3
    asked = [review.asked for game in games if (review := store.reviews.find(game))]
    assert [store.reviews.pending(before) for before in asked] == [0, 1, 2]


def test_of_many_who_claim_each_gets_another(store, games):
    """No review is claimed by two processes at a time."""
    with ThreadPoolExecutor(6) as pool:
        claims = list(pool.map(lambda _: store.reviews.claim(NEVER), range(6)))
    taken = [claim.game_id for claim in claims if claim]
    assert len(taken) == len(set(taken)) > 0


def test_a_request_is_one_however_often_it_is_made(store, games):
    """Repeated requests have no effect unless the reviewer's version has changed."""
    claim = claimed(store)
    store.reviews.renew(claim, 7)
    assert not store.reviews.request("c", VERSION)
    review = store.reviews.find("c")
    assert (review.attempts, review.done) == (1, 7)
    assert store.reviews.finish(claim, {"accuracy": 91.5}, [[1, "left"]])
    assert not store.reviews.request("c", VERSION)
    review = store.reviews.find("c")
    assert review.finished
    assert review.summary == {"accuracy": 91.5}
    assert store.reviews.moves("c") == [[1, "left"]]
    assert store.reviews.request("c", "2 deep")
    review = store.reviews.find("c")
    found = (review.version, review.finished, review.summary, review.attempts)
    assert found == ("2 deep", None, None, 0)


def test_accuracies_are_those_of_reviews_by_the_same_reviewer(store, games):
    """Reviews that failed, are pending, lack an accuracy or have another version have none."""
    over, begun = new_game(store), new_game(store)
    append_turn(store, over.id, 0, 0, "a", is_over=True)
    wanted = [store.reviews.request(game.id, "2 x") for game in (over, begun)]
    assert wanted == [True, False]
    for summary, fault in (({"accuracy": 91.5}, None), ({"accuracy": 8}, "broken"), ({}, None)):
        store.reviews.finish(claimed(store), summary, [], fault)
    assert store.reviews.request("c", "2 x")
    for accuracy in (50, 60.5):
        store.reviews.finish(claimed(store), {"accuracy": accuracy}, [])
    assert store.reviews.accuracies([*games, over.id], "2") == {over.id: 50, "c": 60.5}
    assert store.reviews.accuracies(["a", "b", "c"], "1") == {}


def test_a_claim_that_is_not_renewed_ends(store, games):
    """An expired claim is taken over, and its former holder's updates are ignored."""
    lost = claimed(store)
    for _ in games[1:]:
        claimed(store)
    taken = store.reviews.claim(ALWAYS)
    assert taken == ReviewClaim("c", 2, VERSION)
    assert not store.reviews.renew(lost, 5)
    assert not store.reviews.finish(lost, {}, [])
    store.reviews.release(lost)
    assert store.reviews.renew(taken, 5)
    review = store.reviews.find("c")
    assert (review.version, review.done, review.attempts) == (VERSION, 5, 2)


def test_a_claim_given_back_was_no_attempt(store, games):
    """A released claim leaves the queue unchanged."""
    claim = claimed(store)
    store.reviews.renew(claim, 7)
    store.reviews.release(claim)
    review = store.reviews.find("c")
    assert (review.attempts, review.claimed, review.done) == (0, None, 0)
    assert claimed(store) == ReviewClaim("c", 1, VERSION)


def test_a_fault_can_be_tried_again(store, games):
    """A failed review gives its reason until it is requested again."""
    store.reviews.finish(claimed(store), None, None, "it took too long")
    review = store.reviews.find("c")
    assert review.fault == "it took too long"
    store.reviews.request("c", VERSION)
    review = store.reviews.find("c")
    assert (review.fault, review.finished, review.attempts) == (None, None, 0)


def test_the_latest_reviews_are_kept(store, games):
    """Only the latest finished reviews are kept; pending ones are never removed."""
    for _ in range(2):
        store.reviews.finish(claimed(store), {}, [])
    store.reviews.forget(2)
    assert all(store.reviews.find(game) for game in games)
    store.reviews.forget(1)
    assert store.reviews.find("c") is None
    store.reviews.forget(0)
    assert store.reviews.find("a") is None
    assert store.reviews.find("b") is not None


def test_a_game_that_is_gone_is_not_asked_for(store):
    """Requesting the review of a deleted game has no effect."""
    store.reviews.request("nothing", VERSION)
    assert store.reviews.find("nothing") is None
    assert store.reviews.moves("nothing") is None
