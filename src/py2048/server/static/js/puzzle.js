// The page of a puzzle: keys that slide tiles elsewhere press its buttons.
import { isTaken, meaning } from "./input.js";

const form = document.getElementById("puzzle");

document.addEventListener("keydown", (event) => {
  const move = isTaken(event) ? null : meaning(event)?.move;
  if (!move) return;
  event.preventDefault();
  form.querySelector(`[value=${move}]`).click();
});
document.getElementById("answer")?.focus();
