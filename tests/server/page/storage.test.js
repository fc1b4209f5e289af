import assert from "node:assert/strict";
import { test } from "node:test";
import { load, useStorage } from "./browser.js";

const fresh = () => load("storage", { fresh: true });

test("Every key has the prefix, and an empty value removes it.", async () => {
  const storage = useStorage({ theme: "another application's" });
  const { read, write } = await fresh();
  write("speed", "3");
  assert.equal(storage.getItem("py2048.speed"), "3");
  assert.equal(read("speed"), "3");
  write("speed", "");
  assert.equal(read("speed", "2"), "2");
  assert.equal(storage.getItem("theme"), "another application's");
});

test("Settings of earlier versions are copied once.", async () => {
  const old = { theme: "dark", player: "greedy", "best classic": "4096", "own-rules": '{"rows":"3"}', other: "x" };
  const storage = useStorage({ ...old, "py2048.player": "corner" });
  const { read, write, readJson } = await fresh();
  assert.deepEqual([read("theme"), read("player"), read("best classic")], ["dark", "corner", "4096"]);
  assert.deepEqual(readJson("own-rules"), { rows: "3" });
  assert.equal(storage.getItem("py2048.other"), null);
  for (const [key, value] of Object.entries(old)) assert.equal(storage.getItem(key), value);
  write("theme", "");
  assert.equal((await fresh()).read("theme"), "");
});

test("A full storage loses no old setting: they are copied when there is room.", async () => {
  const storage = useStorage({ theme: "dark" });
  storage.isFull = true;
  assert.equal((await fresh()).write("speed", "1"), false);
  storage.isFull = false;
  assert.equal((await fresh()).read("theme"), "dark");
});

test("Malformed JSON and values of another kind read as nothing.", async () => {
  const { readJson } = await fresh();
  for (const text of ["", "{", "[1]", "7", '"text"', "null"]) {
    useStorage({ "py2048.puzzles": text });
    assert.equal(readJson("puzzles"), null, text);
  }
});

test("Without storage, values read as their fallbacks and nothing throws.", async () => {
  Object.defineProperty(globalThis, "localStorage", { configurable: true, get() { throw new DOMException("no", "SecurityError"); } });
  const { read, write, readJson, namesFrom } = await fresh();
  assert.deepEqual([read("theme", "x"), write("theme", "dark"), readJson("puzzles"), namesFrom("game")], ["x", false, null, []]);
});

test("Storage events of other applications are not ours.", async () => {
  useStorage();
  const { nameOf } = await fresh();
  assert.deepEqual([nameOf("py2048.theme"), nameOf("theme"), nameOf(null)], ["theme", null, null]);
});
