"""Two tabs, another device, a server that is away: no move is lost and none is done twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from far_away import far_away
from playwright.async_api import WebSocketRoute, expect
from tests.server.browser.visiting import Player, arriving, claim, log_in

from py2048.app.storage import open_store

QUEUE = """async () => {
  const { ActionQueue, MOST } = await import("/static/js/queue.js");
  window.sent = [];
  window.up = true;
  window.MOST = MOST;
  window.queue = new ActionQueue(message => up && Boolean(sent.push(message)));
  window.move = direction => queue.push({ type: "move", direction });
  window.moved = direction => [{ kind: "moved", direction }];
  window.note = (text, number) => sent.push({ type: text, number, chain: "-" });
  window.refuse = (reason, version, more) => queue.refused(
    { reason, of: "move", state: { version }, chain: sent.at(-1).chain, ...more }, more?.known);
}"""

AT_ONCE = """codes => {
  for (const code of codes) document.dispatchEvent(new KeyboardEvent("keydown", { code }));
  return window.py2048.queue.length;
}"""
"""Keys before the page could find that the server does not answer, however slow the machine is."""


async def queue_after(guest: Player, script: str) -> Any:
    """Run a script on a queue of its own; return what was sent: direction, number and chain."""
    await guest.page.goto(guest.url + "/about")
    await guest.page.evaluate(QUEUE)
    return await guest.page.evaluate(
        f"async () => {{ {script}; return sent.map(each =>"
        " `${each.direction ?? each.type} ${each.number} ${each.chain}`); }"
    )


QUEUE_LAWS = {
    "Actions do not wait for answers; those that left before an answer are one chain.": (
        """queue.restart(7); move("left"); move("up"); move("down");
           note("flying", queue.length);
           queue.events(8, moved("left"));
           queue.events(8, [{ kind: "nothing_moved", direction: "up" }]);
           move("right");
           queue.events(9, moved("down")); queue.events(10, moved("right"));
           note("flying", queue.length);
           move("left")""",
        [
            *("left 8 1", "up 9 1", "down 10 1", "flying 3 -"),
            *("right 10 1", "flying 0 -", "left 11 2"),
        ],
    ),
    "More actions than a queue holds are not taken.": (
        """queue.restart(0); for (let n = 0; n < MOST; n++) move("left");
           sent.splice(0, sent.length); note(move("up"), queue.length === MOST)""",
        ["false true -"],
    ),
    "What has no answer when the connection goes is forgotten, what comes then not taken.": (
        """queue.restart(3); move("left"); move("up");
           note("lost", queue.pause().length); note(move("down"), queue.length);
           queue.restart(4); up = false; note(move("down"), queue.length);
           up = true; move("right")""",
        ["left 4 1", "up 5 1", "lost 2 -", "false 0 -", "false 0 -", "right 5 3"],
    ),
    "If another tab acted, what is on its way is dropped, and its refusals are old.": (
        """queue.restart(0); move("left"); move("up");
           note("dropped", queue.events(1, moved("up")));
           move("down");
           note("stale", queue.isStale({ chain: 1 }));
           note("mine", queue.events(2, moved("down")));
           move("left"); note("dropped", queue.state(5)); move("up")""",
        [
            *("left 1 1", "up 2 1", "dropped 2 -", "down 2 2", "stale true -", "mine 0 -"),
            *("left 3 3", "dropped 1 -", "up 6 4"),
        ],
    ),
    "A hint is answered in its turn; a later one with the same number changes nothing.": (
        """queue.restart(0); queue.push({ type: "hint" }); move("left");
           queue.hinted(1); queue.hinted(1); queue.events(2, moved("left"));
           move("up"); note("flying", queue.length)""",
        ["hint 1 1", "left 2 1", "up 3 2", "flying 1 -"],
    ),
    "A refusal drops the chain; only a wrong number on the board that is known is mended.": (
        """queue.restart(5); move("left"); move("up");
           note("dropped", refuse("gap", 6)); move("down");
           note("dropped", refuse("gap", 7, { known: true })); move("up");
           note("dropped", refuse("gap", 7, { known: true }));
           queue.push({ type: "undo" }); move("down");
           note("dropped", refuse("mode", 7, { of: "new", chain: undefined }));
           note("dropped", refuse("mode", 7, { of: "undo" }));
           note("flying", queue.length)""",
        [
            *("left 6 1", "up 7 1", "dropped 2 -", "down 7 2", "down 8 3", "dropped 0 -"),
            *("up 9 3", "dropped 2 -", "undo 8 4", "down 9 4", "dropped 0 -", "dropped 2 -"),
            "flying 0 -",
        ],
    ),
    "A move that the store could not keep goes again, and nothing pressed after it.": (
        """queue.restart(5); move("left"); move("up");
           note("dropped", refuse("storage", 5, { of: "", chain: undefined, retry_ms: 20 }));
           note(move("down"), queue.length);
           queue.state(5);
           await new Promise(done => setTimeout(done, 60));
           queue.events(6, moved("left")); move("down");
           note("dropped", refuse("unsaved", 6, { of: "", chain: undefined })); move("up")""",
        [
            *("left 6 1", "up 7 1", "dropped 1 -", "false 1 -", "left 6 2"),
            *("down 7 3", "dropped 1 -", "up 7 4"),
        ],
    ),
    "Where the store has a move that it did not acknowledge, nothing goes again.": (
        """const later = () => new Promise(done => setTimeout(done, 60));
           const lost = { of: "", chain: undefined, retry_ms: 20 };
           queue.restart(5); move("left"); move("up"); move("down");
           note("dropped", refuse("storage", 6, lost)); await later();
           move("up");
           note("dropped", refuse("storage", 7, lost)); await later();
           move("right");
           note("dropped", refuse("storage", 0, { ...lost, state: null }));
           note("dropped", queue.events(8, moved("right"))); queue.state(8);
           await later(); move("up")""",
        [
            *("left 6 1", "up 7 1", "down 8 1", "dropped 2 -", "up 7 2", "dropped 0 -"),
            *("right 8 3", "dropped 0 -", "dropped 0 -", "up 9 4"),
        ],
    ),
}
"""What is done with a queue, and what it sends: direction, number and chain."""


async def test_the_laws_of_the_queue(guest):
    """Each on a queue of its own."""
    for law, (script, wanted) in QUEUE_LAWS.items():
        assert await queue_after(guest, script) == wanted, law


async def test_a_refusal_before_the_first_game_is_told(guest):
    """A visitor whose first game is refused reads why, and the page's scripts run on."""
    message = "Too many new games; wait a minute."
    refused = {"type": "refused", "of": "new", "reason": "rate", "message": message}

    def serve(socket: WebSocketRoute) -> None:
        socket.on_message(lambda _: socket.send(json.dumps({**refused, "state": None})))
        me = {"name": "guest 4F2A", "is_guest": True}
        socket.send(json.dumps({"type": "hello", "me": me, "current": None, "players": []}))

    await guest.page.route_web_socket("**/ws", serve)
    await guest.page.goto(guest.url)
    await expect(guest.page.locator("#status")).to_have_text(message)
    assert guest.faults == []


@pytest.mark.parametrize("heard", ['events(6, moved("up"))', "state(6)"])
async def test_another_tab_acts_before_what_could_not_be_saved_goes_again(guest, heard):
    """What waits is meant for another board then: it is dropped, that is told, and play goes on."""
    sent = await queue_after(
        guest,
        f"""queue.restart(5); move("left");
            refuse("storage", 5, {{ of: "", chain: undefined, retry_ms: 20 }});
            note("dropped", queue.{heard});
            await new Promise(done => setTimeout(done, 60));
            note(move("down"), queue.length)""",
    )
    assert sent == ["left 6 1", "dropped 1 -", "down 7 2", "true 1 -"]


async def test_delays_grow_to_ten_seconds(guest):
    """The page tries again after about 0.5 s, 1 s, 2 s, 4 s, 8 s and then every 10 s."""
    await guest.page.goto(guest.url + "/about")
    delays = await guest.page.evaluate(
        """async () => {
             const { delay } = await import("/static/js/connection.js");
             return [0, 1, 2, 3, 4, 5, 20].map(n => [delay(n, 0), delay(n, 0.5), delay(n, 1)]);
           }"""
    )
    means = [500, 1000, 2000, 4000, 8000, 10_000, 10_000]
    assert delays == [[0.75 * mean, mean, 1.25 * mean] for mean in means]


async def test_a_cookie_that_is_refused_is_not_sent_again(guest):
    """A session that ends is tried once more, as another tab may have begun the next one."""
    await guest.page.goto(guest.url + "/about")
    found = await guest.page.evaluate(
        """async () => {
             const { Connection } = await import("/static/js/connection.js");
             const kept = window.WebSocket;
             let made = 0, lost = 0;
             const tell = (socket, kind, more, wait) => setTimeout(
               () => socket.dispatchEvent(Object.assign(new Event(kind), more)), wait);
             window.WebSocket = class extends EventTarget {
               constructor() {
                 super();
                 if (++made === 1) tell(this, "message", { data: '{"type":"hello"}' }, 0);
                 tell(this, "close", { code: 1008 }, 20);
               }
             };
             const connection = new Connection("/ws", { message() {}, lost: () => lost++ });
             while (made < 2 || lost < 2) await new Promise(done => setTimeout(done, 10));
             await new Promise(done => setTimeout(done, 800));
             window.WebSocket = kept;
             return [made, lost, connection.isLoggedOut];
           }"""
    )
    assert found == [2, 2, True]


async def test_a_session_that_ends_elsewhere(arrive):
    """The page says so and plays no further, until this browser is logged in again or a guest."""
    here, there = await arrive(), await arrive()
    await here.visit()
    await claim(here, "logged out")
    await here.deal("classic")
    await log_in(there, "logged out")
    await there.page.click("form[action='/account/everywhere'] button")
    veil = here.page.locator(".result[open]")
    await expect(veil).to_contain_text("You are logged out")
    await here.press("ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp", "u")
    await here.status("You are logged out")
    ply = "() => window.py2048.core.game.ply"
    assert await here.page.evaluate(ply) == 0
    again = Player(await here.page.context.new_page(), here.url)
    await log_in(again, "logged out")
    await here.page.bring_to_front()
    await here.page.evaluate("() => window.py2048.connection.check()")
    await expect(veil).to_have_count(0)
    await here.press("ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp")
    await here.settle()
    assert await here.page.evaluate(ply) > 0
    await again.page.click("form[action='/account/everywhere'] button")
    await veil.get_by_role("button", name="Go on as a guest").click()
    await here.page.wait_for_selector(".tile")
    await expect(here.page.locator("#moves")).to_have_text("0")


async def test_a_server_that_restarts(browser, own_server):
    """In a game that counts keys are not kept while the server is away, and the page says so."""
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url, "phone")
        await player.deal("classic", "ranked")
        await player.press("ArrowDown", "ArrowLeft", "ArrowRight")
        await player.settle()
        before = await player.state()
        own_server.stop()
        await player.status("The server is away; trying again.")
        await player.press("ArrowUp", "ArrowDown", "ArrowLeft")
        await player.status("Keys pressed until then are not kept.")
        for _ in range(2):  # the second attempt to connect follows the failure of the first
            await player.page.wait_for_event("websocket")
        await player.status("Keys pressed until then are not kept.")
        await player.look("away")
        count = len(player.moves())
        own_server.start()
        await expect(player.page.locator("#status")).to_be_empty()
        assert len(player.moves()) == count
        state = await player.state()
        assert (state["game"], state["ply"]) == (before["game"], before["ply"])
        assert await player.board() == state["board"]
        await player.press("ArrowDown", "ArrowUp")
        await player.settle()
        assert player.moves()[count:] == ["down", "up"]
        assert await player.board() == (await player.state())["board"]


async def test_far_from_the_server(browser, server):
    """The slide is there before the answer; ten keys are on their way together, and all are played.

    A screen reader hears of a move once, when the server has said what came of it.
    """
    async with arriving(browser) as arrive:
        with far_away(server.port) as way:
            player = await arrive(way.url)
            await player.deal("wide:size=1x6,start=2x2:1,spawn=2:1,target=none")
            spoken = await player.text("#live")
            way.is_held = True
            await player.press("ArrowLeft")
            assert await player.board() == await player.cells() == [[4, 0, 0, 0, 0, 0]]
            assert await player.text("#score") == "4"
            assert await player.text("#live") == spoken
            keys = ["ArrowRight", "ArrowLeft", "ArrowUp"] * 3
            assert await player.page.evaluate(AT_ONCE, keys) == 1 + len(keys)
            assert player.answers() == []
            way.is_held = False
            await player.settle()
            assert len(player.answers()) == 1 + len(keys)
            assert [each["direction"] for each in player.answers()] == player.moves()
            state = await player.state()
            assert await player.board() == await player.cells() == state["board"]
            assert await player.text("#score") == f"{state['score']:,}"
            assert (await player.text("#live")).count(player.answers()[0]["say"]) == 1


async def test_far_from_the_server_another_tab_moves(browser, server):
    """A slide whose move is not made is taken back, and the page says that moves were dropped."""
    async with arriving(browser) as arrive:
        with far_away(server.port) as way:
            player = await arrive(way.url)
            game = await player.deal("long:size=5x5")
            near = Player(await player.page.context.new_page(), server.url)
            await near.visit(f"/?game={game}")
            legal = (await near.state())["legal"]
            way.is_held = True
            await near.press(f"Arrow{legal[0].title()}")
            await near.settle()
            await player.press(f"Arrow{legal[1].title()}", "ArrowUp", "ArrowDown")
            way.is_held = False
            await player.status("The board has changed meanwhile. 3 moves are not made.")
            await player.said("3 moves are not made.")
            await player.settle()
            assert (await player.state())["ply"] == 1
            assert await player.board() == await player.cells() == await near.board()
            await player.press("ArrowDown", "ArrowRight")
            await player.settle()
            assert await player.board() == (await player.state())["board"]


async def test_a_burst_into_the_end_of_a_game(guest):
    """What was pressed after the last move is dropped, and the end is said."""
    await guest.deal("short:size=1x2,start=2x2:1,spawn=2:1")
    await guest.press("ArrowLeft", "ArrowRight", "ArrowLeft")
    await guest.said("Game over")
    await guest.page.wait_for_selector(".result[open]")
    assert (await guest.state())["ply"] == 1


async def test_a_game_that_is_gone_gives_way_to_another(guest, server):
    """A page that was left open does not stay with a game that the store has no more."""
    game = await guest.deal()
    with open_store(server.store) as store:
        store.online.discard(game, 0)
    await guest.press("ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp")
    await guest.said("this game has been deleted")
    await guest.page.wait_for_function(
        "id => ![undefined, id].includes(py2048.core.game?.game)", arg=game
    )
    await guest.press("ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp")
    await guest.settle()
    assert await guest.board() == (await guest.state())["board"]
    assert (await guest.state())["ply"] > 0
