// Maps keys, swipes and clicks to moves and commands.
import { read, write } from "./storage.js";

const MOVES = {
  ArrowUp: "up", KeyW: "up", KeyK: "up",
  ArrowDown: "down", KeyS: "down", KeyJ: "down",
  ArrowLeft: "left", KeyA: "left", KeyH: "left",
  ArrowRight: "right", KeyD: "right", KeyL: "right",
};

const COMMANDS = {
  KeyU: "undo", Backspace: "undo", KeyR: "redo", KeyN: "new", KeyM: "rules", KeyG: "games",
  Space: "auto", KeyP: "player", KeyB: "read", KeyT: "theme", KeyX: "motion", KeyC: "coach", F2: "milestones",
  Equal: "faster", NumpadAdd: "faster", Minus: "slower", NumpadSubtract: "slower",
};

const CHARACTER_KEYS = /^(Key|Equal$|Minus$|Numpad)/;

/** Whether keys that write a character are shortcuts. Speech input may press them by accident. */
export function hasLetterKeys() {
  return read("letters") !== "off";
}

/** Switch keys that write a character on or off; return whether they are on. */
export function toggleLetterKeys() {
  write("letters", hasLetterKeys() ? "off" : "");
  return hasLetterKeys();
}

/**
 * Name a pressed key as in a table. The letter on the key counts if the table has it, so M works on
 * every layout. Otherwise the position counts, so WASD stay together on every layout.
 * @param {{key: string, code: string}} event
 * @param {{[name: string]: string}} table
 */
export function keyName({ key, code }, table) {
  const name = /^[a-z]$/i.test(key ?? "") ? `Key${key.toUpperCase()}` : code;
  const found = name in table ? name : code;
  return CHARACTER_KEYS.test(found) && !hasLetterKeys() ? "" : found;
}

/**
 * Map a key press to `{move}`, `{look}` (go to a neighbouring cell), `{command}` or null.
 * @param {KeyboardEvent} event
 * @returns {?{move?: string, look?: string, command?: string}}
 */
export function meaning(event) {
  if (hasModifier(event) || event.isComposing) return null;
  if (event.key === "?") return hasLetterKeys() ? { command: "hint" } : null;
  const name = keyName(event, { ...MOVES, ...COMMANDS });
  const move = MOVES[name];
  if (move && event.shiftKey && name.startsWith("Arrow")) return { look: move };
  if (move) return { move };
  const command = COMMANDS[name];
  return command && !event.repeat ? { command } : null;
}

/** Whether a modifier key leaves a key press to the browser. */
export function hasModifier({ ctrlKey, altKey, metaKey }) {
  return ctrlKey || altKey || metaKey;
}

/** Whether the focused element needs a key for itself. */
export function isTaken(event) {
  const focus = event.target instanceof Element ? event.target : document.body;
  if (document.querySelector("dialog[open]:not(.result)")) return true;
  if (focus.closest("input:not([type=range]), select, textarea")) return true;
  if (focus.closest("input[type=range]") && event.code.startsWith("Arrow")) return true;
  const presses = event.code === "Space" || event.code === "Enter";
  return presses && focus.closest("button, a, summary, input") !== null;
}

// Shorter drags count as clicks.
const MIN_SWIPE_PX = 12;
// Clicks closer to the centre than this share of the board are ignored.
const MIDDLE = 0.2;

/** The direction of a movement in pixels, or null if it is too short. */
export function directionOf(x, y, min = MIN_SWIPE_PX) {
  if (Math.max(Math.abs(x), Math.abs(y)) < min) return null;
  if (Math.abs(x) > Math.abs(y)) return x > 0 ? "right" : "left";
  return y > 0 ? "down" : "up";
}

/** The side of a rectangle closest to a point, or null near the centre. */
export function sideOf(x, y, { width, height }) {
  const [across, down] = [x / width - 0.5, y / height - 0.5];
  if (Math.max(Math.abs(across), Math.abs(down)) < MIDDLE) return null;
  return directionOf(across, down, 0);
}

/** Call `act(direction)` for each swipe and drag on an element, and each click near one of its sides. */
export function onSwipe(element, act, click = clickedSide) {
  let start = null;
  element.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary || event.button !== 0 || event.target.closest("button, a")) return;
    start = { x: event.clientX, y: event.clientY, id: event.pointerId };
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointerup", (event) => {
    if (start?.id !== event.pointerId) return;
    const direction =
      directionOf(event.clientX - start.x, event.clientY - start.y) ?? click(element, event);
    start = null;
    if (direction) act(direction);
  });
  element.addEventListener("pointercancel", () => (start = null));
}

function clickedSide(element, event) {
  if (event.pointerType !== "mouse") return null;
  const box = element.getBoundingClientRect();
  return sideOf(event.clientX - box.x, event.clientY - box.y, box);
}
