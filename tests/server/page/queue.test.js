import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { load } from "./browser.js";

const { ActionQueue, MAX_ACTIONS } = await load("queue");

let queue, sent, isUp;

beforeEach(() => {
  [sent, isUp] = [[], true];
  queue = new ActionQueue((message) => isUp && Boolean(sent.push(message)));
});

const move = (direction) => queue.push({ type: "move", direction });
const moved = (direction) => [{ kind: "moved", direction }];
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

function refuse(reason, version, { isKnown = false, ...more } = {}) {
  return queue.refused({ reason, of: "move", state: { version }, chain: sent.at(-1).chain, ...more }, isKnown);
}

/** Check what was sent: direction, number and chain. */
function assertSent(...wanted) {
  assert.deepEqual(sent.map(({ type, direction, number, chain }) => `${direction ?? type} ${number} ${chain}`), wanted);
}

test("Actions do not wait for answers; those that leave before an answer are one chain.", () => {
  queue.restart(7);
  for (const direction of ["left", "up", "down"]) move(direction);
  assert.equal(queue.length, 3);
  queue.events(8, moved("left"));
  queue.events(8, [{ kind: "nothing_moved", direction: "up" }]);
  move("right");
  queue.events(9, moved("down"));
  queue.events(10, moved("right"));
  assert.equal(queue.length, 0);
  move("left");
  assertSent("left 8 1", "up 9 1", "down 10 1", "right 10 1", "left 11 2");
});

test("A full queue takes no more actions.", () => {
  queue.restart(0);
  for (let count = 0; count < MAX_ACTIONS; count++) assert(move("left"));
  assert.equal(move("up"), false);
  assert.equal(queue.length, MAX_ACTIONS);
});

test("A lost connection drops unanswered actions, and none is taken until it is back.", () => {
  queue.restart(3);
  move("left");
  move("up");
  assert.deepEqual(queue.pause().map(({ direction }) => direction), ["left", "up"]);
  assert.equal(move("down"), false);
  queue.restart(4);
  isUp = false;
  assert.equal(move("down"), false);
  assert.equal(queue.length, 0);
  isUp = true;
  move("right");
  assertSent("left 4 1", "up 5 1", "right 5 3");
});

test("If another tab acts, the unanswered actions are dropped and their refusals are stale.", () => {
  queue.restart(0);
  move("left");
  move("up");
  assert.equal(queue.events(1, moved("up")), 2);
  move("down");
  assert(queue.isStale({ chain: 1 }));
  assert.equal(queue.events(2, moved("down")), 0);
  move("left");
  assert.equal(queue.state(5), 1);
  move("up");
  assertSent("left 1 1", "up 2 1", "down 2 2", "left 3 3", "up 6 4");
});

test("A hint is answered in its turn; a second answer with the same number changes nothing.", () => {
  queue.restart(0);
  queue.push({ type: "hint" });
  move("left");
  queue.hinted(1);
  queue.hinted(1);
  queue.events(2, moved("left"));
  move("up");
  assert.equal(queue.length, 1);
  assertSent("hint 1 1", "left 2 1", "up 3 2");
});

test("A refusal drops the chain, except for a wrong number on the board that the page shows.", () => {
  queue.restart(5);
  move("left");
  move("up");
  assert.equal(refuse("gap", 6), 2);
  move("down");
  assert.equal(refuse("gap", 7, { isKnown: true }), 0);
  move("up");
  assert.equal(refuse("gap", 7, { isKnown: true }), 2);
  queue.push({ type: "undo" });
  move("down");
  assert.equal(refuse("mode", 7, { of: "new", chain: undefined }), 0);
  assert.equal(refuse("mode", 7, { of: "undo" }), 2);
  assert.equal(queue.length, 0);
  assertSent("left 6 1", "up 7 1", "down 7 2", "down 8 3", "up 9 3", "undo 8 4", "down 9 4");
});

test("A move that the store could not keep is sent again, without the keys after it.", async () => {
  queue.restart(5);
  move("left");
  move("up");
  assert.equal(refuse("storage", 5, { of: "", chain: undefined, retry_ms: 20 }), 1);
  assert.equal(move("down"), false);
  queue.state(5);
  await pause(60);
  queue.events(6, moved("left"));
  move("down");
  assert.equal(refuse("unsaved", 6, { of: "", chain: undefined }), 1);
  move("up");
  assertSent("left 6 1", "up 7 1", "left 6 2", "down 7 3", "up 7 4");
});

test("If the store has a move that it did not acknowledge, nothing is sent again.", async () => {
  const lost = { of: "", chain: undefined, retry_ms: 20 };
  queue.restart(5);
  for (const direction of ["left", "up", "down"]) move(direction);
  assert.equal(refuse("storage", 6, lost), 2);
  await pause(60);
  move("up");
  assert.equal(refuse("storage", 7, lost), 0);
  await pause(60);
  move("right");
  assert.equal(refuse("storage", 0, { ...lost, state: null }), 0);
  assert.equal(queue.events(8, moved("right")), 0);
  queue.state(8);
  await pause(60);
  move("up");
  assertSent("left 6 1", "up 7 1", "down 8 1", "up 7 2", "right 8 3", "up 9 4");
});

for (const [name, act] of Object.entries({ events: () => queue.events(6, moved("up")), state: () => queue.state(6) })) {
  test(`Another tab's ${name} drop a move that waits for the store.`, async () => {
    queue.restart(5);
    move("left");
    refuse("storage", 5, { of: "", chain: undefined, retry_ms: 20 });
    assert.equal(act(), 1);
    await pause(60);
    assert(move("down"));
    assert.equal(queue.length, 1);
    assertSent("left 6 1", "down 7 2");
  });
}
