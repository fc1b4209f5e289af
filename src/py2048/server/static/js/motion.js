// The times of what moves, in milliseconds, from the table of looks, and whether anything may move.
import { read, write } from "./settings.js";

const styles = getComputedStyle(document.documentElement);
const ms = (name) => parseFloat(styles.getPropertyValue(`--ms-${name}`));
export const [SLIDE, POP, GROW, RISE, LEAN, LIGHT, SWEEP, WAIT] = [
  "slide", "pop", "spawn", "rise", "lean", "ring", "sweep", "wait",
].map(ms);

const asked = matchMedia("(prefers-reduced-motion: reduce)");

/** Whether tiles move: not where the system asks for less motion, nor where it was switched off. */
export function moves() {
  const chosen = read("motion");
  return chosen ? chosen === "on" : !asked.matches;
}

/** Switch the motion off or on; return whether it is on now. */
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
