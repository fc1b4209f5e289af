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
export function onSwipe(element, act) {
  let start = null;
  element.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary || event.button !== 0 || event.target.closest("button, a")) return;
    start = { x: event.clientX, y: event.clientY, id: event.pointerId };
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointerup", (event) => {
    if (start?.id !== event.pointerId) return;
    const direction =
      directionOf(event.clientX - start.x, event.clientY - start.y) ?? clicked(element, event);
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
