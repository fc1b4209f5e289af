// Hints, moves and reviews from a web worker, for when there is no server to ask.
import { read, write } from "./storage.js";

/** The level of player for which moves are judged: the one chosen last. */
export const chosenLevel = () => read("level", "practised");

/** Show the chosen level in a menu, and keep another choice. */
export function offerLevels(menu, changed = () => {}) {
  menu.value = chosenLevel();
  menu.addEventListener("change", () => {
    write("level", menu.value);
    changed();
  });
}

/**
 * Asks for the network's `move`, a `hint` or a `review`, with the facts of `Coaching`, and gives the last
 * answer; it is null for a hint that another one has replaced. `show` gets the answers before.
 * @typedef {{ask: (type: "move" | "hint" | "review", facts: object, show?: (answer: any) => void) =>
 *   Promise<any>}} Coach
 */

const loaded = new Map();

/**
 * Load the coach for rules, once; its network's script is at an address.
 * @returns {Promise<Coach>}
 */
export function coachAt(address, rules) {
  if (!loaded.has(address)) loaded.set(address, load(address, rules));
  loaded.get(address).catch(() => loaded.delete(address));
  return loaded.get(address);
}

// A page opened from a disk loads files only as scripts, and its workers load none.
async function load(src, rules) {
  const script = Object.assign(document.createElement("script"), { src });
  document.head.append(script);
  await new Promise((done, failed) => Object.assign(script, { onload: done, onerror: failed }));
  script.remove();
  const worker = new Worker(import.meta.resolve("./coach-worker.js"), { type: "module" });
  worker.postMessage({ type: "network", rules, network: globalThis.network });
  delete globalThis.network; // the weights' text is megabytes
  await new Promise((done, failed) => Object.assign(worker, { onmessage: done, onerror: failed }));
  const waiting = new Map(); // functions that take the answers, by request
  let count = 0;
  worker.onmessage = ({ data: { id, answer, isDone } }) => {
    waiting.get(id)(answer, isDone);
    if (isDone) waiting.delete(id);
  };
  return {
    ask: (type, facts, show) => new Promise((resolve) => {
      waiting.set(count, (answer, isDone) => (isDone ? resolve : show)(answer));
      worker.postMessage({ id: count++, type, ...facts });
    }),
  };
}
