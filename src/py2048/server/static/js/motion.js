// Animation durations in milliseconds from the style sheet, and the setting for reduced motion.
import { read, write } from "./storage.js";

const styles = getComputedStyle(document.documentElement);
const ms = (name) => parseFloat(styles.getPropertyValue(`--ms-${name}`));
export const [SLIDE, POP, GROW, RISE, LEAN, LIGHT, SWEEP, WAIT] = [
  "slide", "pop", "spawn", "rise", "lean", "ring", "sweep", "wait",
].map(ms);

const asked = matchMedia("(prefers-reduced-motion: reduce)");

/** Whether tiles are animated: as set in the menu, by default unless the system reduces motion. */
export function moves() {
  const chosen = read("motion");
  return chosen ? chosen === "on" : !asked.matches;
}

/** Switch animation on or off; return whether it is on. */
export function toggleMotion() {
  write("motion", moves() ? "off" : "on");
  mark();
  return moves();
}

function mark() {
  document.documentElement.classList.toggle("still", !moves());
}

asked.addEventListener("change", mark);
mark();
