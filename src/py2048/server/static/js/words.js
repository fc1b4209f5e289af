// Hints and reviews in words, filled into the sentences of `presentation/words.py` on the page.
import { $ } from "./elements.js";
import { _, filled, grouped } from "./language.js";
import { WAYS, isMistake } from "./ways.js";

/** @import { Habit, Judged } from "./coaching.js" */

// A page without a server contains the sentences.
const words = $("words")
  ? JSON.parse($("words").textContent)
  : (await import(`./sentences-${document.documentElement.lang}.js`)).default;

const per100 = (share) => grouped(100 * share);
const percent = (share) => `${grouped(100 * share, Number(share >= 0.0005 && share < 0.095))} %`;

/** The name of a grade, in the plural form for a number of moves. */
export const gradeWord = (grade, count) => words.grades[grade][Number(count !== 1)];

/** An accuracy, and what it means. */
export const accuracyWords = (accuracy, digits = 1) =>
  accuracy === null ? words.accuracy.slice(0, 2) : [`${grouped(accuracy, digits)} %`, words.accuracy[2]];

/** @param {Habit} habit */
export function habitWords({ reason, count, cost }) {
  const facts = { habit: words.reasons[reason][1], count: grouped(count), cost: grouped(Math.max(100 * cost, 1)) };
  return filled(words.habit[Number(count !== 1)], facts);
}

/**
 * A move as in the server's reviews.
 * @param {Judged} move
 */
export function worded(move) {
  const { played, best, grade, loss } = move;
  const title = gradeWord(grade, 1);
  const badge = title[0].toUpperCase() + title.slice(1);
  return {
    ...move,
    options: optionsOf(move),
    badge: isMistake(move) ? `${badge} −${percent(loss)}` : badge,
    headline: words.headlines[played][best],
    why: isMistake(move) ? [outcome(move), ...reasonOf(move)].join(" ") : "",
  };
}

/**
 * A hint as the server would send it.
 * @param {Judged} move
 * @returns {any} see `Hint`
 */
export function hintOf(move) {
  const { best, games, errors } = move;
  const options = optionsOf(move);
  const [, other] = options;
  const name = WAYS[best];
  const rest = other ? `; ${WAYS[other.direction]} ${per100(other.share)}` : "";
  const reason = other ? `${gamesOf(move, best)}${rest}.` : words.only;
  const error = per100(Math.max(...Object.values(errors)));
  const outlook = _("From {games} games simulated in your browser after each move, give or take {points} %.", { games: grouped(games), points: error });
  return { direction: best, options, headline: _("{direction} is best", { direction: name }), reason, outlook, say: `${name}. ${reason}` };
}

function optionsOf({ best, values, grades }) {
  const ways = Object.keys(values).sort((one, other) => Number(other === best) - Number(one === best) || values[other] - values[one]);
  return ways.map((way) => ({ direction: way, text: percent(values[way]), share: values[way], grade: grades[way] }));
}

// How many of 100 games reach the goal after a move.
function gamesOf({ values, survival, goal }, way) {
  return filled(survival ? words.last : words.make, { n: per100(values[way]), tile: grouped(goal) });
}

function outcome(move) {
  const { best, played, values } = move;
  const start = filled(words.games, { games: gamesOf(move, best), direction: WAYS[best] });
  return `${start}; ${filled(words.also, { n: per100(values[played]), direction: WAYS[played] })}.`;
}

function reasonOf({ reason, played, best }) {
  if (!reason) return [];
  const { kind, numbers } = reason;
  const [here, there] = [numbers.played, numbers.best].map((value) => grouped(value, Number(kind === "room")));
  const [tile, behind] = [numbers.tile, numbers.behind].map((value) => value && grouped(value));
  return [filled(words.reasons[kind][2], { played: WAYS[played], best: WAYS[best], tile, behind, here, there })];
}
