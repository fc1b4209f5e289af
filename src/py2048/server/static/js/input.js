// Keys by their place on the keyboard, whatever is printed on them.

const MOVES = {
  ArrowUp: "up", KeyW: "up", KeyK: "up",
  ArrowDown: "down", KeyS: "down", KeyJ: "down",
  ArrowLeft: "left", KeyA: "left", KeyH: "left",
  ArrowRight: "right", KeyD: "right", KeyL: "right",
};

const COMMANDS = {
  KeyU: "undo", Backspace: "undo", KeyR: "redo", KeyN: "new", KeyM: "rules", KeyG: "games",
  Space: "auto", KeyP: "player", KeyB: "read", KeyT: "theme", KeyX: "motion", KeyC: "coach",
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
  if (document.querySelector("dialog[open]:not(.result)")) return true;
  if (focus.closest("input:not([type=range]), select, textarea")) return true;
  if (focus.closest("input[type=range]") && event.code.startsWith("Arrow")) return true;
  const presses = event.code === "Space" || event.code === "Enter";
  return presses && focus.closest("button, a, summary, input") !== null;
}

// Swipes, drags and clicks on the board, and nowhere else.

const FAR = 12;

/** The direction of a movement in pixels, or null if it is too short. */
export function directionOf(x, y, far = FAR) {
  if (Math.max(Math.abs(x), Math.abs(y)) < far) return null;
  if (Math.abs(x) > Math.abs(y)) return x > 0 ? "right" : "left";
  return y > 0 ? "down" : "up";
}

/** The side that a point near the edge of a rectangle belongs to, or null in the middle. */
export function sideOf(x, y, { width, height }) {
  const [across, down] = [x / width - 0.5, y / height - 0.5];
  if (Math.max(Math.abs(across), Math.abs(down)) < 0.2) return null;
  return directionOf(across, down, 0);
}

/** Call `act(direction)` for each swipe, drag, or mouse click near a side of an element. */
export function onSwipe(element, act, click = clicked) {
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

function clicked(element, event) {
  if (event.pointerType !== "mouse") return null;
  const box = element.getBoundingClientRect();
  return sideOf(event.clientX - box.x, event.clientY - box.y, box);
}
