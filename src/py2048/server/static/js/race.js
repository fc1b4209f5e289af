// Times to milestones beside the board, for players who race.
import { $, find } from "./elements.js";
import { fetched } from "./server.js";

const CLOCK_MS = 500;

let shown = "";
let ticking = 0;

// A time as in the server's fragment: 1:05 or 1:00:05.
const clockText = (ms) => new Date(ms).toISOString().slice(ms < 3600000 ? 14 : 11, 19).replace(/^0/, "");

/**
 * Show the times of a game; fetch them if `state` has changed.
 * @param {string} game
 * @param {string} state
 */
export async function showRace(game, state) {
  if (shown === state) return;
  shown = state;
  clearInterval(ticking);
  const fresh = await fetched(`/game/${game}/race`);
  if (!fresh || shown !== state) return;
  $("race").replaceChildren(...fresh.body.childNodes);
  const clock = find("#race [data-millis]");
  const start = Date.now() - clock?.dataset.millis;
  if (clock) ticking = setInterval(() => (clock.textContent = clockText(Date.now() - start)), CLOCK_MS);
}
