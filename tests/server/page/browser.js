// What pure modules use of a browser, for tests that run in Node.

/** Local storage in memory, which counts what is written and can be full. */
export class MemoryStorage {
  #values = new Map();
  /** @type {[string, string][]} */
  written = [];
  isFull = false;

  constructor(values = {}) {
    for (const [key, value] of Object.entries(values)) this.#values.set(key, value);
  }

  get length() {
    return this.#values.size;
  }

  key(index) {
    return [...this.#values.keys()][index] ?? null;
  }

  getItem(key) {
    return this.#values.get(key) ?? null;
  }

  setItem(key, value) {
    if (this.isFull) throw new DOMException("full", "QuotaExceededError");
    this.written.push([key, value]);
    this.#values.set(key, String(value));
  }

  removeItem(key) {
    this.#values.delete(key);
  }

  clear() {
    this.#values.clear();
  }

  get all() {
    return Object.fromEntries(this.#values);
  }
}

/** Replace the local storage by one with some values; return it. */
export function useStorage(values = {}) {
  const storage = new MemoryStorage(values);
  Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true, writable: true });
  return storage;
}

const JS = new URL("../../../src/py2048/server/static/js/", import.meta.url);
let copies = 0;

/** Import a module of the page; a fresh copy runs its top level again. */
export function load(name, { fresh = false } = {}) {
  return import(`${new URL(`${name}.js`, JS)}${fresh ? `?copy=${copies++}` : ""}`);
}

/** Rules in full for a board without a target. */
export function rulesText(rows, columns, changes = "") {
  const fields = {
    size: `${rows}x${columns}`, start: "2", spawn: "2:9+4:1", merging: "once", scoring: "merges",
    target: "none", end: "stuck",
  };
  for (const change of changes.split(",").filter(Boolean)) {
    const [name, value] = change.split("=");
    fields[name] = value;
  }
  return `test:${Object.entries(fields).map((pair) => pair.join("=")).join(",")}`;
}

/** A number generator that repeats itself. */
export function picker(seed = 1) {
  let state = seed;
  return (choices) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * choices);
  };
}
