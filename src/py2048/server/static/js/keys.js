// Keys by their place on the keyboard, whatever is printed on them.

export const DIRECTIONS = ["up", "down", "left", "right"];

const MOVES = {
  ArrowUp: "up", KeyW: "up", KeyK: "up",
  ArrowDown: "down", KeyS: "down", KeyJ: "down",
  ArrowLeft: "left", KeyA: "left", KeyH: "left",
  ArrowRight: "right", KeyD: "right", KeyL: "right",
};

const COMMANDS = {
  KeyU: "undo", Backspace: "undo", KeyR: "redo", KeyN: "new", KeyM: "rules", KeyG: "games",
  Space: "auto", KeyP: "player", KeyB: "read", KeyT: "theme", KeyX: "motion",
  Equal: "faster", NumpadAdd: "faster", Minus: "slower", NumpadSubtract: "slower",
};

/**
 * What a key press means: `{move}`, `{look}` (go to a neighbouring cell), `{command}` or null.
 * @param {KeyboardEvent} event
 */
export function meaning(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  if (event.key === "?") return { command: "hint" };
  const move = MOVES[event.code];
  if (move && event.shiftKey && event.code.startsWith("Arrow")) return { look: move };
  if (move) return { move };
  const command = COMMANDS[event.code];
  return command && !event.repeat ? { command } : null;
}

/** Whether what has the focus needs this key for itself. */
export function isTaken(event) {
  const focus = event.target instanceof Element ? event.target : document.body;
  if (document.querySelector("dialog[open]")) return true;
  if (focus.closest("input:not([type=range]), select, textarea")) return true;
  if (focus.closest("input[type=range]") && event.code.startsWith("Arrow")) return true;
  const presses = event.code === "Space" || event.code === "Enter";
  return presses && focus.closest("button, a, summary, input") !== null;
}
