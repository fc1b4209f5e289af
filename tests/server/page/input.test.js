import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { load, useStorage } from "./browser.js";

const { directionOf, keyName, meaning, sideOf, toggleLetterKeys } = await load("input");

beforeEach(() => useStorage());

const press = (code, key, more = {}) => meaning({ code, key, ...more });

test("Arrows, WASD and HJKL slide the tiles.", () => {
  const keys = {
    up: ["ArrowUp", "KeyW", "KeyK"], down: ["ArrowDown", "KeyS", "KeyJ"],
    left: ["ArrowLeft", "KeyA", "KeyH"], right: ["ArrowRight", "KeyD", "KeyL"],
  };
  for (const [move, codes] of Object.entries(keys)) {
    for (const code of codes) assert.deepEqual(press(code, code.replace("Key", "").toLowerCase()), { move });
  }
});

test("A key with a letter of the table counts by its letter.", () => {
  assert.deepEqual(press("Semicolon", "m"), { command: "rules" }); // AZERTY
  assert.deepEqual(press("KeyF", "u"), { command: "undo" }); // Dvorak
  assert.deepEqual(press("KeyU", "g"), { command: "games" }); // Dvorak
  assert.deepEqual(press("KeyU", "U", { shiftKey: true }), { command: "undo" });
});

test("A key with another letter counts by its place on the keyboard.", () => {
  assert.deepEqual(press("KeyA", "q"), { move: "left" }); // AZERTY
  assert.deepEqual(press("KeyW", "z"), { move: "up" }); // AZERTY
  assert.deepEqual(press("KeyU", "г"), { command: "undo" }); // Russian
  assert.deepEqual(press("KeyS", "ს"), { move: "down" }); // Georgian
});

test("Keys that write a character can be switched off; the others stay.", () => {
  assert.equal(toggleLetterKeys(), false);
  for (const [code, key] of [["KeyU", "u"], ["KeyA", "a"], ["KeyA", "q"], ["Slash", "?"], ["Equal", "+"], ["NumpadSubtract", "-"]]) {
    assert.equal(press(code, key), null, key);
  }
  assert.equal(keyName({ code: "KeyX", key: "x" }, { KeyX: "motion" }), "");
  assert.deepEqual(press("ArrowLeft", "ArrowLeft"), { move: "left" });
  assert.deepEqual(press("Backspace", "Backspace"), { command: "undo" });
  assert.deepEqual(press("Space", " "), { command: "auto" });
  assert.equal(toggleLetterKeys(), true);
  assert.deepEqual(press("KeyU", "u"), { command: "undo" });
});

test("Ctrl, Alt and Meta leave a key to the browser; Shift with an arrow goes to a cell.", () => {
  for (const modifier of ["ctrlKey", "altKey", "metaKey", "isComposing"]) {
    assert.equal(press("KeyA", "a", { [modifier]: true }), null);
  }
  assert.deepEqual(press("ArrowUp", "ArrowUp", { shiftKey: true }), { look: "up" });
  assert.deepEqual(press("KeyW", "W", { shiftKey: true }), { move: "up" });
});

test("A held key repeats moves, but no commands.", () => {
  assert.deepEqual(press("KeyD", "d", { repeat: true }), { move: "right" });
  assert.equal(press("KeyU", "u", { repeat: true }), null);
});

test("Drags have a direction, and clicks a side unless they are in the middle.", () => {
  assert.deepEqual([[30, 5], [-30, 5], [5, 30], [5, -30], [5, 5]].map(([x, y]) => directionOf(x, y)), ["right", "left", "down", "up", null]);
  const box = { width: 100, height: 100 };
  assert.deepEqual([[95, 50], [5, 50], [50, 95], [50, 5], [55, 45]].map(([x, y]) => sideOf(x, y, box)), ["right", "left", "down", "up", null]);
});
