// The original game's timings, in milliseconds, and whether anything may move at all.
import { read, write } from "./settings.js";

export const SLIDE = 100;
export const SETTLE = 200;
export const RISE = 600;
export const VEIL_DELAY = 1200;
export const VEIL_FADE = 800;

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
