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
