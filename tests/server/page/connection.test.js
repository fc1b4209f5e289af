import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./browser.js";

const { Connection, delay } = await load("connection");

test("Attempts to reconnect follow after about 0.5 s, 1 s, 2 s, 4 s, 8 s and then every 10 s.", () => {
  for (const [attempt, mean] of [500, 1000, 2000, 4000, 8000, 10_000, 10_000].entries()) {
    assert.deepEqual([0, 0.5, 1].map((chance) => delay(attempt, chance)), [0.75 * mean, mean, 1.25 * mean]);
  }
});

test("A session that ends is tried once more; a refused cookie is not sent again.", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const sockets = [];
  class FakeSocket extends EventTarget {
    constructor() {
      super();
      sockets.push(this);
    }
    tell(kind, facts) {
      this.dispatchEvent(Object.assign(new Event(kind), facts));
    }
  }
  Object.assign(globalThis, {
    WebSocket: FakeSocket,
    location: { href: "http://localhost/" },
    document: new EventTarget(),
    addEventListener() {},
  });
  let lost = 0;
  const connection = new Connection("/ws", { message() {}, lost: () => lost++ });
  sockets[0].tell("message", { data: '{"type":"hello"}' });
  sockets[0].tell("close", { code: 1008 });
  context.mock.timers.tick(1000);
  assert.equal(sockets.length, 2);
  sockets[1].tell("close", { code: 1008 });
  context.mock.timers.tick(60_000);
  assert.deepEqual([sockets.length, lost, connection.isLoggedOut], [2, 2, true]);
});
