"""Names, sessions and program accounts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest
from store_games import new_online_game

from py2048.app.storage import AccountError, Store
from py2048.app.storage.values import lookalike_key

PEOPLE = "abe", "ada", "bob"


def signed_in(store: Store, owner: str, *sessions: str) -> Store:
    for session in sessions:
        store.sessions.begin(session, owner, "Firefox on Linux")
    return store


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(("Paul", "PauI"), ("Paul", "pau1"), ("Bob", "B0b"), ("modern", "rnodern")),
        *(("Modern", "Modern."), ("Ada L", "A_d-a.l"), ("wow", "vvovv")),
        ("Bob", "\uff22ob"),  # as wide as Chinese characters
    ],
)
def test_names_that_look_alike_have_the_same_looks(name, other):
    """Names that differ in case, separators or similar characters share a key."""
    assert lookalike_key(name) == lookalike_key(other)


def test_names_that_look_alike_are_one(store):
    """A name that looks like a taken one is rejected, and each account is found by its own name.

    Case, width and spaces do not matter, and an account takes one name only.
    """
    store.accounts.claim_name("ada", "ad min", "hash")
    for name in ("Ad Min", "admin", "\uff21dmin", "Adm1n."):
        with pytest.raises(AccountError, match="looks like"):
            store.accounts.claim_name("eve", name, "hash")
    with pytest.raises(AccountError, match="has a name"):
        store.accounts.claim_name("ada", "Countess", "hash")
    assert store.accounts.find("eve") is None
    for number, name in enumerate(["Andr\u00e9", "Andre", "Anna"]):
        store.accounts.claim_name(str(number), name, "hash")
        found = store.accounts.find_name(name)
        assert found.id == str(number)


def test_a_session_is_found_until_it_is_ended(store):
    """Ending a session leaves the others; other accounts cannot end it."""
    store.accounts.claim_name("ada", "Ada", "hash")
    signed_in(store, "ada", "one", "two", "zed")
    was = {each.id: each.seen for each in store.sessions.of("ada")}
    store.sessions.note_use("two")
    seen = {each.id: each.seen for each in store.sessions.of("ada")}
    assert [each for each in seen if seen[each] > was[each]] == ["two"]
    store.sessions.end("zed", "ada")
    store.sessions.end("one", "eve")
    found = store.sessions.find("one")
    assert (found[0].id, found[0].name) == ("ada", "Ada")
    store.sessions.end("one", "ada")
    assert store.sessions.find("one") is None
    assert [each.id for each in store.sessions.of("ada")] == ["two"]
    assert store.sessions.live(["one", "two", "three"]) == {"two"}
    store.sessions.end_all("ada")
    assert store.sessions.live(["two"]) == set()


def test_a_new_password_ends_all_sessions(store):
    """A new password ends all sessions of its account only."""
    for owner in PEOPLE:
        store.accounts.claim_name(owner, owner, "old", ["code"])
        signed_in(store, owner, f"{owner}s")
    store.accounts.set_password("ada", "new")
    assert store.sessions.live(["abes", "adas", "bobs"]) == {"abes", "bobs"}
    assert [store.accounts.find(each).password for each in PEOPLE] == ["old", "new", "old"]
    assert store.accounts.recovery_codes("ada") == {"code"}


def test_a_recovery_code_works_once(store):
    """A recovery code works once, for its account; the others stay valid until replaced."""
    for owner in PEOPLE:
        store.accounts.claim_name(owner, owner, "old", ["1", "2"])
        signed_in(store, owner, f"{owner}s")
    assert not store.accounts.recover("ada", "3", "stolen")
    assert store.accounts.recover("ada", "1", "new")
    assert not store.accounts.recover("ada", "1", "again")
    assert store.accounts.find("ada").password == "new"
    assert store.accounts.recovery_codes("ada") == {"2"}
    store.accounts.set_recovery("ada", ["4", "5"])
    codes = [store.accounts.recovery_codes(each) for each in PEOPLE]
    assert codes == [{"1", "2"}, {"4", "5"}, {"1", "2"}]
    assert [set(row) for row in store.accounts.export("ada")["recovery_codes"]] == 2 * [
        {"owner", "created"}
    ]
    store.accounts.delete("ada")
    codes = [store.accounts.recovery_codes(each) for each in PEOPLE]
    assert codes == [{"1", "2"}, set(), {"1", "2"}]


def test_guests_are_guests_until_they_take_a_name(store):
    """A guest is valid until it takes a name or ends, even before its first game is stored."""
    for owner in ("played", "ended"):
        new_online_game(store, owner=owner)
    store.accounts.end_guest("ended")
    store.accounts.claim_name("named", "Named", "hash")
    assert store.accounts.live_guests({"new", "played", "ended", "named"}) == {"new", "played"}


def test_sessions_that_nobody_uses_are_forgotten(store):
    """People's unused sessions expire; programs keep their tokens."""
    store.accounts.claim_name("ada", "Ada", "hash")
    signed_in(store, "ada", "session")
    store.accounts.add_bot("bot", "Adabot", "ada", "token", most=5)
    store.sessions.forget("2000-01-01")
    assert store.sessions.live(["session", "token"]) == {"session", "token"}
    store.sessions.forget("2999-01-01")
    assert store.sessions.live(["session", "token"]) == {"token"}
    for session in "abc":
        store.sessions.begin(session, "ada", "Firefox", most=2)
    assert store.sessions.live(list("abc")) == {"b", "c"}


def test_a_person_answers_for_programs(store):
    """A person has a limited number of programs with renewable tokens; deletion removes them."""
    store.accounts.claim_name("ada", "Ada", "hash")
    store.accounts.add_bot("1", "Engine", "ada", "token 1", most=2)
    store.accounts.add_bot("2", "Difference", "ada", "token 2", most=2)
    with pytest.raises(AccountError, match="2 programs"):
        store.accounts.add_bot("3", "Third", "ada", "token 3", most=2)
    with pytest.raises(AccountError):
        store.accounts.add_bot("3", "ADA", "eve", "token 3", most=2)
    found = store.sessions.find("token 1")
    assert (found[0].name, found[0].bot_of) == ("Engine", "ada")
    assert not store.accounts.renew_token("eve", "1", "stolen")
    assert store.accounts.renew_token("ada", "1", "fresh")
    assert store.sessions.live(["token 1", "token 2", "fresh", "stolen"]) == {"token 2", "fresh"}
    assert [bot["name"] for bot in store.accounts.export("ada")["bots"]] == ["Engine", "Difference"]
    store.accounts.delete("ada")
    assert store.accounts.bots("ada") == []
    assert store.sessions.live(["token 2", "fresh"]) == set()
    assert store.accounts.find_name("Engine") is None


def at_once(*calls: Callable[[], object]) -> list[BaseException | None]:
    """Run calls simultaneously; return their exceptions."""
    gate = Barrier(len(calls))

    def enter(call: Callable[[], object]) -> None:
        gate.wait()
        call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return [each.exception() for each in [threads.submit(enter, call) for call in calls]]


@pytest.mark.parametrize("pair", [("Al", "al"), ("Al", "A1")])
def test_of_two_who_take_a_name_at_once_one_has_it(store, pair):
    """If two accounts claim a name at once, exactly one succeeds."""
    for number in range(10):
        claims = [
            partial(store.accounts.claim_name, f"{number}{name}", f"{name} {number}", "hash")
            for name in pair
        ]
        faults = at_once(*claims)
        assert sorted(type(fault) for fault in faults if fault) == [AccountError]


def test_requests_at_the_same_moment_pass_no_limit(store):
    """Simultaneous requests cannot exceed the program limit or mix recovery codes."""
    names = [*"abcdefgh"]
    for name in names:
        store.accounts.claim_name(name, f"player {name}", "hash")
    add = store.accounts.add_bot
    at_once(*(partial(add, 2 * n, f"engine {n}", "a", 2 * n, most=2) for n in names))
    assert len(store.accounts.bots("a")) == 2
    at_once(*(partial(store.accounts.set_recovery, "a", [f"{n}1", f"{n}2"]) for n in names))
    assert len(store.accounts.recovery_codes("a")) == 2


def test_the_secret_of_a_day_is_drawn_once(store):
    """The first stored secret of a day is used by every process."""
    assert store.online.find_day_secret("2048-01-31") is None
    assert store.online.day_secret("2048-01-31", "first") == "first"
    assert store.online.day_secret("2048-01-31", "second") == "first"
    assert store.online.day_secret("2048-02-01", "second") == "second"
