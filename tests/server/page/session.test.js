import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./browser.js";

const { initial, reduce } = await load("session");

const GAME = { game: "one", version: 3, board: [[2, 4]], outcome: "playing", mode: "casual" };
const STATE = { type: "state", ...GAME };
const KEPT = { type: "kept", game: "one", unsent: 0 };
const UNSENT = { ...KEPT, unsent: 2 };
const LOST = { type: "lost", isLoggedOut: false, unanswered: [] };
const HELLO = { type: "hello", current: "one" };
const refused = (reason, more = {}) => ({ type: "refused", reason, of: "open", state: null, message: "No.", ...more });

/** The session after some messages, and the effects of the last one. */
function after(...messages) {
  return from(initial({}), ...messages);
}

function from(state, ...messages) {
  let step = { state, effects: [] };
  for (const message of messages) step = reduce(step.state, message);
  return { ...step.state, effects: step.effects };
}

const types = ({ effects }) => effects.map(({ type }) => type);
const asked = ({ effects }) => effects.filter(({ type }) => type === "send").map(({ message }) => message);
const open = (game) => ({ type: "open", game });

test("The page goes online with the server's game.", () => {
  assert.equal(after().phase, "connecting");
  const greeted = after(HELLO);
  assert.deepEqual([greeted.phase, asked(greeted)], ["connecting", [open("one")]]);
  const online = after(HELLO, STATE);
  assert.equal(online.phase, "online");
  assert.equal(online.game.board, GAME.board);
  assert(types(online).includes("restartQueue"));
});

test("Without a game to go on with, the usual one begins; the address may wish for another.", () => {
  assert.deepEqual(types(after({ ...HELLO, current: null }))[0], "startUsual");
  const wishing = (wish) => from(initial(wish), HELLO).effects[0];
  assert.deepEqual(wishing({ game: "two" }).message, open("two"));
  assert.deepEqual(wishing({ mode: "daily", rules: "5x5" }), { type: "start", rules: "classic", mode: "daily" });
  assert.deepEqual(wishing({ mode: "ranked", rules: "5x5" }), { type: "start", rules: "5x5", mode: "ranked" });
  assert.deepEqual(wishing({ mode: "battle" }).message, open("one"));
});

test("A casual game goes on alone when the connection is lost; other games wait.", () => {
  assert.equal(after(HELLO, STATE, KEPT, LOST).phase, "alone");
  assert.equal(after(HELLO, STATE, { ...KEPT, game: "other" }, LOST).phase, "connecting");
});

test("The kept game is shown if there is no other; the news that the server is away come once.", () => {
  const away = after(KEPT, LOST);
  assert(types(away).includes("resume"));
  const alone = from(away, { type: "resumed", game: GAME });
  assert.equal(alone.phase, "alone");
  const again = from(alone, LOST);
  assert.equal(again.effects.find(({ type }) => type === "tellAway").isNews, false);
  assert(!types(again).includes("resume"));
});

test("A game that was only kept is not asked for again; one from the server is.", () => {
  const away = after(KEPT, LOST, { type: "resumed", game: GAME });
  assert.deepEqual(asked(from(away, { ...HELLO, current: "two" })), [open("two")]);
  assert.deepEqual(asked(after(HELLO, STATE, LOST, { ...HELLO, current: "two" })), [open("one")]);
});

test("Moves made alone are sent first, and the page is online when the server has them.", () => {
  const alone = after(HELLO, STATE, KEPT, LOST, UNSENT);
  const entered = from(alone, { ...HELLO, current: "two" });
  assert.deepEqual([entered.phase, asked(entered)], ["syncing", [open("one")]]);
  const syncing = from(entered, STATE);
  assert.deepEqual([syncing.phase, types(syncing)], ["syncing", ["stopRetry", "reconcile"]]);
  const message = { type: "offline", number: 4, turns: "L10" };
  const sending = from(syncing, { type: "reconciled", state: STATE, messages: [message], saved: 0, unsent: 2 });
  assert.deepEqual([sending.phase, asked(sending)], ["syncing", [message]]);
  const done = from(sending, { type: "reconciled", state: STATE, messages: [], saved: 2, unsent: 0 });
  assert.equal(done.phase, "online");
  assert.equal(types(done)[0], "forget");
  assert.deepEqual(done.effects.at(-1), { type: "tellSaved", count: 2 });
});

test("Moves made between the greeting and the state are sent as well.", () => {
  assert.equal(after(HELLO, STATE, KEPT, LOST, HELLO, UNSENT, STATE).phase, "syncing");
});

test("If the game has gone on elsewhere, its state counts and the lost moves are told.", () => {
  const done = after(HELLO, STATE, KEPT, LOST, UNSENT, HELLO, { type: "reconciled", state: STATE, messages: null, saved: 0, unsent: 2 });
  assert.equal(done.phase, "online");
  assert.deepEqual(done.effects.at(-1), { type: "tellLost", count: 2 });
});

const SYNCING = after(HELLO, STATE, KEPT, LOST, UNSENT, HELLO);

test("While moves are sent, a busy server is asked again later.", () => {
  for (const reason of ["gap", "busy", "rate", "storage"]) {
    const waiting = from(SYNCING, refused(reason, { retry_ms: 10 }));
    assert.deepEqual([waiting.phase, waiting.effects[0]], ["syncing", { type: "retryLater", ms: 10 }]);
    assert.equal(types(waiting).includes("note"), reason !== "gap");
    assert.deepEqual(asked(from(waiting, { type: "retry" })), [open("one")]);
  }
});

test("Moves that the server refuses are lost; those of another account wait.", () => {
  const lost = from(SYNCING, refused("offline"));
  assert.deepEqual([lost.phase, types(lost)], ["alone", ["forget", "tellLost", "send"]]);
  const theirs = from(SYNCING, refused("not_yours"));
  assert.equal(theirs.game, null);
  assert.equal(types(theirs)[0], "leaveKept");
  assert.deepEqual(asked(theirs), [open("one")]);
});

test("Unanswered actions that the server has not done are counted, over several losses.", () => {
  const lose = (...unanswered) => ({ ...LOST, unanswered });
  const back = after(HELLO, STATE, lose("move", "move"), HELLO, lose("hint"), HELLO, { ...STATE, version: 4 });
  assert.equal(back.effects.find(({ type }) => type === "tellUnmade").count, 2);
  assert.deepEqual(back.unanswered, []);
});

test("Screen readers hear of the game again when the connection is back.", () => {
  const isBack = (...messages) => after(...messages).effects.find(({ type }) => type === "draw").isBack;
  assert.deepEqual([isBack(HELLO, STATE, LOST, HELLO, STATE), isBack(HELLO, STATE, STATE)], [true, false]);
});

test("A state while online corrects the queue; a state of another game begins anew.", () => {
  assert(types(after(HELLO, STATE, STATE)).includes("correctQueue"));
  assert(types(after(HELLO, STATE, { ...STATE, game: "two" })).includes("restartQueue"));
});

test("Only events and hints for the game on the board change it.", () => {
  const events = { type: "events", game: "one", version: 4, board: [[2, 8]], events: [] };
  const online = after(HELLO, STATE, events);
  assert.deepEqual([online.game.board, online.game.mode, types(online)], [[[2, 8]], "casual", ["animate"]]);
  assert.equal("events" in online.game, false);
  assert.deepEqual(types(after(HELLO, STATE, { ...events, game: "two" })), []);
  assert.equal(after(HELLO, STATE, { type: "hint", game: "one", version: 4 }).game.version, 4);
  assert.deepEqual(types(from(SYNCING, events)), []);
});

test("A session that has ended is told, and another log-in brings the game back.", () => {
  const out = after(HELLO, STATE, KEPT, { ...LOST, isLoggedOut: true });
  assert.deepEqual([out.phase, types(out).at(-1)], ["loggedOut", "tellLoggedOut"]);
  assert.equal(from(out, UNSENT).phase, "loggedOut");
  assert.deepEqual(asked(from(out, HELLO)), [open("one")]);
  assert.equal(from(out, HELLO, STATE).phase, "online");
});

test("A game that is gone or not ours gives way to the server's, or to a new one.", () => {
  const online = after(HELLO, STATE);
  const gone = from(online, refused("unknown_game", { of: "move" }));
  assert.deepEqual([gone.game, gone.phase, asked(gone)], [null, "connecting", [open("one")]]);
  const none = from(gone, refused("unknown_game"));
  assert.deepEqual(none.effects.at(-1), { type: "start", rules: "classic", mode: "casual" });
  const other = from(online, refused("not_yours", { of: "open" }));
  assert.deepEqual([other.phase, other.game.game], ["online", "one"]);
});

test("A game that the busy server does not open is asked for again later.", () => {
  assert.deepEqual(types(after(HELLO, refused("busy"))), ["refuse", "retryLater"]);
  assert.deepEqual(types(after(HELLO, STATE, refused("busy"))), ["refuse"]);
});

test("A refusal's state is the game.", () => {
  const online = after(HELLO, STATE, refused("gap", { state: { ...STATE, version: 9 } }));
  assert.equal(online.game.version, 9);
});

test("A move alone changes the game on the board.", () => {
  const alone = after(HELLO, STATE, KEPT, LOST);
  const played = from(alone, { type: "played", message: { ...GAME, board: [[4, 4]], events: [] } });
  assert.deepEqual([played.game.board, types(played), played.phase], [[[4, 4]], ["animateAlone"], "alone"]);
});

test("Every effect has a handler on the page.", async () => {
  const { readFileSync } = await import("node:fs");
  const text = (name) => readFileSync(new URL(`../../../src/py2048/server/static/js/${name}.js`, import.meta.url), "utf8");
  const effects = new Set([...text("session").matchAll(/\{ type: "(\w+)"/g)].map(([, type]) => type));
  effects.delete("open"); // a message to the server
  const handlers = text("play").split("#effects = {")[1].split("\n  };")[0];
  for (const type of effects) assert.match(handlers, new RegExp(`^    ${type}:`, "m"));
});
