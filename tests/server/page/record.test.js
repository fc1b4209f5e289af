import assert from "node:assert/strict";
import { test } from "node:test";
import { load, picker, rulesText } from "./browser.js";

const { legalOn, playTurn, spawnOn } = await load("game");
const { startOn } = await load("local");
const { CHUNK_TURNS, Record, codeOf, codesIn, turnOf } = await load("record");
const { parseRules, slide } = await load("rules");

/** A record of moves at random, and the positions before and after each. */
function played(rules, count, pick = picker()) {
  const positions = [{ board: startOn(rules, () => pick), score: 0, ply: 0 }];
  const record = new Record(rules, positions[0]);
  for (let turn = 0; turn < count; turn++) {
    const position = positions.at(-1);
    const legal = legalOn(position.board);
    const direction = legal[pick(legal.length)];
    const { board } = slide(position.board, direction, rules.merging);
    const spawn = spawnOn(rules, board, direction, pick);
    record.append(position, { direction, spawn });
    positions.push(playTurn(rules, position, { direction, spawn }).position);
  }
  return { record, positions };
}

const large = parseRules(rulesText(8, 8));
const COUNT = 2 * CHUNK_TURNS + 50;

test("A turn's code says its direction, tile and cell, with two digits on boards above 64 cells.", () => {
  for (const [rows, columns, code] of [[4, 4, "L17"], [8, 8, "U2_"], [9, 9, "D11F"]]) {
    const rules = { rows, columns };
    const { direction, spawn } = turnOf(code, rules);
    assert.equal(codeOf(direction, spawn, rules), code);
  }
  assert.deepEqual(turnOf("r", { columns: 4 }), { direction: "right", spawn: null });
  assert.deepEqual(codesIn("L17rU20", { rows: 4, columns: 4 }), ["L17", "r", "U20"]);
  assert.throws(() => codesIn("L17?", { rows: 4, columns: 4 }));
});

test("Undo and redo go through all chunks, and to the same positions.", () => {
  const { record, positions } = played(large, COUNT);
  for (let turn = COUNT; turn > 0; turn--) {
    record.undo();
    assert.deepEqual(record.position(record.end), positions[turn - 1]);
  }
  assert.equal(record.length, 0);
  for (let turn = 0; turn < COUNT; turn++) {
    assert(record.canRedo);
    record.redo();
  }
  assert.equal(record.canRedo, false);
  assert.deepEqual([...record.positions()], positions);
});

test("A move after an undo removes the undone turns, also those of later chunks.", () => {
  const { record, positions } = played(large, COUNT);
  for (let turn = 0; turn < CHUNK_TURNS + 60; turn++) record.undo();
  const { end } = record;
  record.append(positions[end], turnOf(record.code(end), large));
  assert.equal(record.canRedo, false);
  assert.deepEqual([...record.positions()], positions.slice(0, end + 2));
});

test("A record is restored from its chunks, and from what is left when its first turns are dropped.", () => {
  const { record, positions } = played(large, COUNT);
  record.undo();
  for (const dropped of [0, 10, CHUNK_TURNS]) {
    record.drop(dropped);
    const { first, end } = record;
    const restored = Record.restore(large, { first, end }, record.chunks);
    assert.deepEqual([...restored.positions()], positions.slice(first, -1));
    assert(restored.canRedo);
  }
  assert.equal(record.chunks.length, 2);
});

test("A chunk left over from undone turns is not read.", () => {
  const { record } = played(large, COUNT);
  const [first, ...others] = record.chunks;
  const cut = { ...first, text: first.text.slice(0, 30) };
  const restored = Record.restore(large, { first: 0, end: 10 }, [cut, ...others]);
  assert.equal(restored.canRedo, false);
});

test("A piece holds as many whole turns as fit.", () => {
  const { record } = played(large, COUNT);
  assert.deepEqual([record.piece(100).count, record.piece(100).text.length], [33, 99]);
  record.drop(COUNT - 5);
  assert.equal(record.piece(100).count, 5);
});
