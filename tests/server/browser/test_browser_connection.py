"""Two tabs, another device, a server that is away: no move is lost and none is done twice."""

from __future__ import annotations

import json
import signal
import sqlite3
from contextlib import closing
from typing import Any

from playwright.async_api import Browser, WebSocketRoute, expect
from tests.server.browser.visiting import Arrive, Player, Server, arriving

QUEUE = """async () => {
  const { ActionQueue } = await import("/static/js/queue.js");
  window.sent = [];
  window.up = true;
  window.queue = new ActionQueue(message => up && Boolean(sent.push(message)));
  window.move = direction => queue.push({ type: "move", direction });
  window.moved = direction => [{ kind: "moved", direction }];
}"""


async def queue_after(guest: Player, script: str) -> Any:
    """Run a script on a queue of its own; return what was sent as texts such as `left 1`."""
    await guest.page.goto(guest.url + "/about")
    await guest.page.evaluate(QUEUE)
    return await guest.page.evaluate(
        f"async () => {{ {script}; return sent.map(each =>"
        " `${each.direction ?? each.type} ${each.number}`); }"
    )


async def test_actions_are_numbered_and_wait_for_each_other(guest: Player) -> None:
    """One action is in flight; the next leaves with the next number when it is answered."""
    sent = await queue_after(
        guest,
        """queue.restart(7); move("left"); move("up"); move("down");
           queue.events(8, moved("left"));
           queue.events(8, [{ kind: "nothing_moved", direction: "up" }])""",
    )
    assert sent == ["left 8", "up 9", "down 9"]


async def test_a_refusal_before_the_first_game_is_told(guest: Player) -> None:
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


async def test_an_answer_that_was_lost_is_not_asked_for_again(guest: Player) -> None:
    """After a reconnect the version says that the action in flight was done; it is not repeated."""
    sent = await queue_after(
        guest,
        """queue.restart(0); move("left"); move("up");
           queue.pause(); move("down"); queue.resume(1)""",
    )
    assert sent == ["left 1", "up 2"]


async def test_an_action_that_was_lost_is_sent_again(guest: Player) -> None:
    """After a reconnect the version says that the action in flight was not done; it goes first."""
    sent = await queue_after(
        guest,
        """queue.restart(3); move("left"); move("up");
           queue.pause(); queue.resume(3); queue.events(4, moved("left"))""",
    )
    assert sent == ["left 4", "left 4", "up 5"]


async def test_an_action_that_could_not_leave_stays_first(guest: Player) -> None:
    """What is pressed while the socket is closed leaves, in order, when it is open again."""
    sent = await queue_after(
        guest,
        """queue.restart(0); up = false; move("left"); move("up"); queue.pause();
           up = true; queue.resume(0); queue.events(1, moved("left"))""",
    )
    assert sent == ["left 1", "up 2"]


async def test_another_tab_that_was_faster(guest: Player) -> None:
    """If another tab's action took the number, ours follows with the next; it is not dropped."""
    sent = await queue_after(
        guest,
        """queue.restart(0); move("left"); queue.events(1, moved("up"));
           queue.state(1); queue.events(2, moved("left")); move("down")""",
    )
    assert sent == ["left 1", "left 2", "down 3"]


async def test_a_hint_takes_a_number_too(guest: Player) -> None:
    """A move that was sent before the hint came is sent again with the number after it."""
    sent = await queue_after(
        guest,
        """queue.restart(0); queue.push({ type: "hint" }); move("left");
           queue.hinted(1); queue.events(1, []); queue.events(2, moved("left"));
           move("up"); queue.hinted(3)""",
    )
    assert sent == ["hint 1", "left 2", "up 3", "up 4"]


async def test_refusals(guest: Player) -> None:
    """A gap is mended, haste waits, what is not allowed is dropped, the end drops everything."""
    sent = await queue_after(
        guest,
        """queue.restart(5); move("left");
           queue.refused({ reason: "gap", of: "move", state: { version: 2 } });
           queue.events(3, moved("left")); move("up");
           queue.refused({ reason: "rate", of: "move", retry_ms: 20 });
           await new Promise(done => setTimeout(done, 60));
           queue.events(4, moved("up")); queue.push({ type: "undo" }); move("down");
           queue.refused({ reason: "mode", of: "new" });
           queue.refused({ reason: "mode", of: "undo" }); move("left");
           queue.refused({ reason: "over", of: "move" });
           sent.push({ type: "left over", number: queue.length })""",
    )
    assert sent == [
        *("left 6", "left 3", "up 4", "up 4", "undo 5", "down 5"),
        "left over 0",
    ]


async def test_what_could_not_be_saved_is_tried_again_alone(guest: Player) -> None:
    """A move that the store could not keep goes again; what was pressed after it is forgotten."""
    sent = await queue_after(
        guest,
        """queue.restart(5); move("left"); move("up");
           queue.refused({ reason: "storage", of: "", state: null, retry_ms: 20 });
           await new Promise(done => setTimeout(done, 60));
           queue.events(6, moved("left")); move("down");
           queue.refused({ reason: "unsaved", of: "", state: { version: 6 } }); move("up")""",
    )
    assert sent == ["left 6", "left 6", "down 7", "up 7"]


async def test_delays_grow_to_ten_seconds(guest: Player) -> None:
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


async def test_two_tabs_on_one_game(guest: Player) -> None:
    """A move in one tab is seen in the other; both play on, and both show the same board."""
    game = await guest.deal()
    other = Player(await guest.page.context.new_page(), guest.url)
    await other.visit(f"/?game={game}")
    for one, two in ((guest, other), (other, guest), (guest, other)):
        await one.press("ArrowDown", "ArrowLeft", "ArrowRight")
        await one.settle()
        ply = await one.page.evaluate("() => window.py2048.game.ply")
        await two.page.wait_for_function("ply => window.py2048?.game?.ply === ply", arg=ply)
        await two.settle()
        assert await one.board() == await two.board() == (await one.state())["board"]
    # Now both at once.
    for key in ("ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp") * 2:
        await guest.press(key)
        await other.press(key)
    await guest.settle()
    await other.settle()
    version = (await guest.state())["version"]
    for each in (guest, other):
        await each.page.wait_for_function(
            "version => window.py2048?.game?.version === version", arg=version
        )
        await each.settle()
    assert await guest.board() == await other.board() == (await guest.state())["board"]
    assert other.faults == []


async def test_resume_on_another_device(arrive: Arrive) -> None:
    """Who has a name goes on in another browser where the first stands, with undo and score."""
    first = await arrive()
    await first.visit()
    await claim(first, "two devices")
    await first.visit()
    await first.press("ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp")
    await first.settle()
    second = await arrive("phone")
    await second.page.goto(second.url + "/account")
    form = second.page.locator("form[action='/account/login']")
    await form.locator("[name=name]").fill("two devices")
    await form.locator("[name=password]").fill("correct horse battery")
    await form.locator("button").click()
    await second.visit()
    assert await second.board() == await first.board()
    assert await second.text("#score") == await first.text("#score")
    await second.press("u")
    await second.settle()
    await first.page.wait_for_function(
        "ply => window.py2048?.game?.ply === ply", arg=(await second.state())["ply"]
    )
    await first.settle()
    assert await first.board() == await second.board()


async def claim(player: Player, name: str) -> None:
    """Take a name."""
    await player.page.goto(player.url + "/account")
    form = player.page.locator("form[action='/account/claim']")
    await form.locator("[name=name]").fill(name)
    await form.locator("[name=password]").fill("correct horse battery")
    await form.locator("button").click()
    await player.page.wait_for_function(
        "name => document.querySelector('h1')?.textContent === name", arg=name
    )


async def test_a_server_that_restarts(browser: Browser, own_server: Server) -> None:
    """Keys pressed while the server is away are played when it is back, each once, in order."""
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url, "phone")
        await player.visit()
        await player.press("ArrowDown", "ArrowLeft", "ArrowRight")
        await player.settle()
        before = await player.state()
        own_server.stop()
        await player.press("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "ArrowDown")
        await player.status("5 moves wait")
        await player.look("away")
        count = len(player.moves())
        own_server.start()
        await player.settle()
        assert player.moves()[count:] == ["up", "down", "left", "right", "down"]
        state = await player.state()
        assert state["ply"] == len(player.events("moved"))
        assert state["game"] == before["game"]
        assert await player.board() == state["board"]
        # The last answer decides what is said: on this board its key may move nothing.
        is_illegal = player.answers()[-1]["kind"] == "nothing_moved"
        said = "Nothing moves that way." if is_illegal else ""
        assert await player.text("#status") == said


async def test_a_server_that_is_killed(browser: Browser, own_server: Server) -> None:
    """Killed in the middle of a burst, the server knows every move that it answered."""
    async with arriving(browser) as arrive:
        player = await arrive(own_server.url)
        await player.visit()
        keys = ("ArrowDown", "ArrowLeft", "ArrowRight", "ArrowDown") * 3
        await player.press(*keys)
        own_server.stop(signal.SIGKILL)
        answered = len(player.events("moved"))
        await player.press(*keys)
        own_server.start()
        await player.settle()
        state = await player.state()
        assert await player.board() == state["board"]
        assert state["ply"] >= answered
        # At most one answer was on its way; each key has moved the tiles once, or nothing.
        assert state["ply"] - len(player.events("moved")) in (0, 1)
        assert state["ply"] + len(player.events("nothing_moved")) == 2 * len(keys)


async def test_a_store_that_is_held_is_said_until_the_move_is_saved(
    browser: Browser, own_server: Server
) -> None:
    """The page says why nothing moves, for as long as that lasts, and then the move is made."""
    async with arriving(browser) as arrive_at:
        player = await arrive_at(own_server.url, "desktop")
        await player.deal("long:size=5x5")
        with closing(sqlite3.connect(own_server.store, isolation_level=None)) as rival:
            rival.execute("BEGIN EXCLUSIVE")
            await player.press("ArrowDown", "ArrowLeft", "ArrowRight")
            status = player.page.locator("#status.warn")
            await expect(status).to_contain_text("Another program holds", timeout=20_000)
            before = await player.page.evaluate("() => window.py2048.game.ply")
            await player.page.wait_for_timeout(2500)  # it has been tried again
            await expect(status).to_contain_text("Another program holds")
            rival.execute("ROLLBACK")
        await expect(player.page.locator("#status")).to_be_empty(timeout=20_000)
        assert await player.page.evaluate("() => window.py2048.game.ply") > before == 0
        await player.settle()
        assert await player.board() == (await player.state())["board"]
