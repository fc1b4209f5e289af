// The page of a puzzle: keys that slide tiles elsewhere press its buttons; days solved in a row.
import { $ } from "./elements.js";
import { isTaken, meaning } from "./input.js";
import { ngettext } from "./language.js";
import { read, write } from "./settings.js";

const DAY = 86_400_000;
const form = $("puzzle");
const answer = $("answer");
const chip = $("puzzle-streak");

document.addEventListener("keydown", (event) => {
  const move = isTaken(event) ? null : meaning(event)?.move;
  if (!move) return;
  event.preventDefault();
  form.querySelector(`[value=${move}]`).click();
});
answer?.focus();

// The first answer to a day's puzzle counts; its result is known to this browser alone.
const today = new Date().toISOString().slice(0, 10);
const yesterday = new Date(Date.now() - DAY).toISOString().slice(0, 10);
let { day = "", days = 0 } = JSON.parse(read("puzzles", "{}"));
if (answer?.dataset.day === today && day !== today) {
  days = answer.dataset.right === "1" ? (day === yesterday ? days : 0) + 1 : 0;
  day = today;
  write("puzzles", JSON.stringify({ day, days }));
}
if (days && day >= yesterday) {
  chip.querySelector("span").textContent = ngettext("Streak: {n} day", "Streak: {n} days", days);
  chip.hidden = false;
}
