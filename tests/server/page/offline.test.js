import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { load, rulesText, useStorage } from "./browser.js";

let storage = useStorage();
const { begun } = await load("local");
const { OfflineGame } = await load("offline");
const { CHUNK_TURNS } = await load("record");

beforeEach(() => {
  storage = useStorage();
});

const ROW = rulesText(1, 4);
const LARGE = rulesText(8, 8);

function serverGame(changes = {}) {
  return {
    game: "one", mode: "casual", mine: true, version: 7, ply: 6, score: 0, best: 100,
    board: [[0, 0, 0, 2]], rules: { text: ROW }, category: "plain", ...changes,
  };
}

function largeGame() {
  const board = Array.from({ length: 8 }, () => Array(8).fill(0));
  board[3][3] = board[4][5] = 2;
  return serverGame({ board, rules: { text: LARGE }, version: 0, ply: 0 });
}

/** An offline game that has been played on for a number of moves. */
function playedOn(count, game = largeGame()) {
  const offline = new OfflineGame();
  offline.keep(game);
  for (let turn = 0; turn < count; turn++) offline.play(offline.game.legal?.[turn % offline.game.legal.length] ?? "left");
  return offline;
}

const positionOf = ({ board, score, ply }) => ({ board, score, ply });

// Types without an answer; the version and moves of the server; the messages that are sent.
const UNANSWERED = [
  [[], 7, 6, "offline 8"],
  [["move", "move"], 7, 6, "offline 8"], // they did not arrive
  [["move", "move"], 8, 7, "undo 9 offline 10"],
  [["move", "move"], 9, 8, "undo 10 undo 11 offline 12"],
  [["undo"], 8, 5, "redo 9 offline 10"],
  [["redo"], 8, 7, "undo 9 offline 10"],
  [["hint", "move"], 9, 7, "undo 10 offline 11"],
  [["undo", "move"], 9, 6, "lost"], // the undone turn is gone
  [["move"], 9, 8, "lost"], // somebody else moved
  [[], 8, 7, "lost"],
];

test("Actions that the server did without an answer give way to the moves made since.", () => {
  for (const [unanswered, version, ply, wanted] of UNANSWERED) {
    storage.clear();
    const game = serverGame();
    const offline = new OfflineGame();
    offline.keep(game);
    offline.lost(game, unanswered);
    offline.play("left");
    const board = ply === 6 && unanswered[0] !== "undo" ? game.board : [[4, 0, 0, 2]];
    const messages = offline.messages({ ...game, board, version, ply });
    const found = messages?.map(({ type, number }) => `${type} ${number}`).join(" ") ?? "lost";
    assert.equal(found, wanted, `${unanswered} ${version}`);
  }
});

test("A move and an undo write the same amount, however long the game is.", () => {
  const offline = playedOn(5);
  const sizes = () => {
    storage.written = [];
    offline.play(offline.game.legal[0]);
    offline.undo();
    return storage.written.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  };
  const short = sizes();
  for (let turn = 0; turn < 10 * CHUNK_TURNS; turn++) offline.play(offline.game.legal[turn % offline.game.legal.length]);
  assert(sizes() < short + 4 * CHUNK_TURNS + 100);
});

test("A game is found again after the page is closed, with its undone moves.", () => {
  const offline = playedOn(2 * CHUNK_TURNS + 3);
  const last = positionOf(offline.game);
  for (let turn = 0; turn < CHUNK_TURNS; turn++) offline.undo();
  const again = new OfflineGame();
  assert.equal(again.length, CHUNK_TURNS + 3);
  assert.deepEqual(positionOf(again.game), positionOf(offline.game));
  while (again.redo());
  assert.deepEqual(positionOf(again.game), last);
});

test("Damaged games are left alone.", () => {
  const damages = [
    ["py2048.game one", "{"],
    ["py2048.game one", '{"game":{}}'],
    ["py2048.turns one 0", "7"],
    ["py2048.turns one 0", '{"position":{"board":[[2]]},"text":"?"}'],
  ];
  for (const [key, text] of damages) {
    storage.clear();
    playedOn(3);
    storage.setItem(key, text);
    assert.equal(new OfflineGame().game, null, text);
  }
});

test("Unsent moves survive another game on this browser; a game without any does not.", () => {
  playedOn(3);
  const other = new OfflineGame();
  other.leave();
  other.keep(serverGame({ game: "two" }));
  other.keep(serverGame({ game: "three" }));
  assert.equal(storage.getItem("py2048.game two"), null);
  assert.equal(new OfflineGame().game.game, "one");
});

test("The server takes a long game in pieces; pieces that it has are not sent again.", () => {
  const offline = playedOn(1000);
  const start = largeGame();
  const [first] = offline.messages(start);
  assert(first.turns.length <= 1000);
  const count = first.turns.length / 3;
  assert.equal(offline.undo() !== null, true);
  offline.redo();
  let state = start;
  const replay = new OfflineGame();
  while (replay.length > count - 0) replay.undo(); // to where the server is after the first piece
  state = { ...start, ...positionOf(replay.game), version: 1 };
  const [second] = offline.messages(state);
  assert.equal(offline.saved, count);
  assert.equal(second.number, 2);
  assert.notEqual(second.turns, first.turns);
  assert.equal(new OfflineGame().length, 1000 - count);
});

test("Moves that the server may have cannot be undone.", () => {
  const offline = playedOn(5);
  offline.messages(largeGame());
  assert.equal(offline.undo(), null);
});

test("A tab takes over what another tab has played in the same game.", () => {
  const [one, other] = [playedOn(0), new OfflineGame()];
  one.play(one.game.legal?.[0] ?? "left");
  assert(other.follow());
  assert.deepEqual(positionOf(other.game), positionOf(one.game));
  one.keep(largeGame());
  assert.equal(one.length, 1);
});

test("A tab that is online does not overwrite what another tab has played without the server.", () => {
  const online = playedOn(0);
  const offline = playedOn(2);
  online.keep({ ...largeGame(), version: 1 });
  assert.deepEqual(positionOf(new OfflineGame().game), positionOf(offline.game));
});

test("A full storage keeps the game as it was last stored.", () => {
  const offline = playedOn(4);
  const before = positionOf(offline.game);
  storage.isFull = true;
  offline.play(offline.game.legal[0]);
  storage.isFull = false;
  assert.deepEqual(positionOf(new OfflineGame().game), before);
});

test("A game of a server raises its best score offline, and an undo lowers it.", () => {
  const offline = playedOn(0, serverGame({ board: [[0, 0, 2, 2]], score: 98 }));
  const bests = ["left", "undo"].map((act) => (act === "undo" ? offline.undo() : offline.play(act)).best);
  assert.deepEqual(bests, [102, 100]);
});

test("Without a server a game begins here, ends, and keeps its best score.", () => {
  const offline = new OfflineGame();
  offline.open(begun({ name: "2x2", text: rulesText(2, 2), summary: "" }));
  let message = offline.play(offline.game.legal[0]);
  while (offline.game.outcome === "playing") message = offline.play(offline.game.legal[0]);
  assert.equal(message.events.at(-1).kind, "over");
  assert.equal(offline.game.category, "plain");
  const { score } = offline.game;
  assert.equal(Number(storage.getItem("py2048.best 2x2")), score);
  offline.undo();
  assert.equal(Number(storage.getItem("py2048.best 2x2")), offline.game.score);
  offline.redo();
  offline.open(begun({ name: "2x2", text: rulesText(2, 2), summary: "" }));
  assert.deepEqual([offline.game.before, offline.game.best], [score, score]);
});
