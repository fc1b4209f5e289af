// The puzzle page: movement keys and swipes press its buttons, and a streak counts consecutive
// solved days.
import { $ } from "./elements.js";
import { isTaken, meaning, onSwipe } from "./input.js";
import { ngettext } from "./language.js";
import { readJson, writeJson } from "./storage.js";

const DAY_MS = 86_400_000;
const form = $("puzzle");
const answer = $("answer");
const next = $("next");
const chip = $("puzzle-streak");

document.addEventListener("keydown", (event) => {
  const move = isTaken(event) ? null : meaning(event)?.move;
  if (!move || !form) return;
  event.preventDefault();
  press(move);
});
onSwipe(document.querySelector(".puzzle > .mini"), press);
next?.focus();

/** Choose a move or, after an answer, go on to the next puzzle. */
function press(move) {
  (next ?? form.querySelector(`[value=${move}]`)).click();
}

// Only the first answer to a day's puzzle counts. Its result is stored only in this browser.
const today = new Date().toISOString().slice(0, 10);
const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
const streak = readJson("puzzles") ?? {};
let [day, days] = [String(streak.day ?? ""), Number(streak.days) || 0];
if (answer?.dataset.day === today && day !== today) {
  days = answer.dataset.right === "1" ? (day === yesterday ? days : 0) + 1 : 0;
  day = today;
  writeJson("puzzles", { day, days });
}
if (days && day >= yesterday) {
  chip.querySelector("span").textContent = ngettext("Streak: {n} day", "Streak: {n} days", days);
  chip.hidden = false;
}
