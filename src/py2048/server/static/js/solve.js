// Fills in the puzzle page without a server as the server would: with a question or, if the address
// has an answer, with its solution. Ratings are those of `review/puzzles.py`.
import { smallBoard } from "./board.js";
import { $, badge, find, findAll } from "./elements.js";
import { dated, filled, grouped, signed } from "./language.js";
import { spoken } from "./speech.js";
import { readJson, writeJson } from "./storage.js";
import { ARROWS, WAYS } from "./ways.js";

/**
 * @typedef {{id: number, rating: number, theme: ?string, rules: string, board: number[][],
 *   values: {[way: string]: number}}} Puzzle the best move comes first
 */

const Q = Math.log(10) / 400; // Glicko's q
const MIN_DEVIATION = 50;
const PACK_DEVIATION = 200;
const REACH = 300;
const DAY_MS = 86_400_000;

const { puzzles: rows, step, offset } = globalThis.pack;
/** @type {Puzzle[]} */
const puzzles = rows.map(([id, rating, theme, rules, board, values]) => ({ id, rating, theme, rules, board, values }));
const parts = JSON.parse($("parts").textContent);
const [today] = new Date().toISOString().split("T");
const daily = puzzles[(Math.floor(Date.now() / DAY_MS) * step + offset) % puzzles.length];
let saved = { rating: 1500, deviation: 350, before: 1500, answered: [], ...readJson("puzzle-book") };

const asked = new URLSearchParams(location.search);
if (asked.get("id") === "next") {
  asked.set("id", String(nextOf().id));
  history.replaceState(null, "", `?${asked}`);
}
const puzzle = puzzles.find(({ id }) => String(id) === asked.get("id")) ?? daily;
const day = puzzle === daily ? today : "";
const [best, second] = Object.keys(puzzle.values);

badge("day", day && dated(day));
const board = smallBoard(puzzle.board, spoken(puzzle.board));
board.classList.add("large");
find(".puzzle > .mini").replaceWith(board);
const answer = asked.get("answer");
$("asked").innerHTML = answer in puzzle.values ? solution(answer) : question();
for (const each of findAll("#puzzle button")) each.disabled = !(each.value in puzzle.values);
await import("./puzzle.js");

// The unanswered puzzle closest to the player's rating, or else the one with the oldest answer.
function nextOf() {
  const { answered, rating } = saved;
  const gap = (each) => Math.abs(each.rating - rating);
  const rank = (each) => [Number(gap(each) > REACH), answered.indexOf(each.id), gap(each)];
  const order = (one, other) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
  return puzzles.toSorted((one, other) => order(rank(one), rank(other)))[0];
}

function question() {
  const { id, rating, rules } = puzzle;
  return filled(parts.question, { id, rating: grouped(rating), rules: parts.rules[rules] });
}

function solution(played) {
  rate(played === best);
  const { values, theme, rules } = puzzle;
  const lost = (way) => Math.min(1 - values[way] / values[best], 1);
  const percent = (way) => grouped(100 * lost(way), 1);
  const [kind, told] = played === best ? ["right", second] : ["wrong", played];
  const options = Object.keys(values).map((way) => {
    const bar = { kind: way === played && way !== best ? "danger" : "good", width: Math.max(100 * (1 - lost(way)), 2) };
    const line = filled(parts.option, { arrow: ARROWS[way], word: WAYS[way], ...bar, lost: way === best ? parts.best : `−${percent(way)} %` });
    return way === played ? line.replace("<li", '<li aria-current="true"') : line;
  });
  const change = saved.rating - saved.before;
  return filled(parts[kind], {
    day, rating: grouped(saved.rating), change: ` (<span class="${change > 0 ? "good" : "error"}">${signed(change)}</span>)`,
    verdict: filled(parts.verdicts[kind], { played: WAYS[played].toLowerCase(), best: WAYS[best].toLowerCase() }),
    move: WAYS[told], share: percent(told), trap: parts.traps[theme] ?? "", options: options.join(""),
    points: Object.keys(values).map((way) => `${WAYS[way]}: ${grouped(values[way])}`).join(", "),
    source: rules === "3x3" ? parts.exact : parts.estimated,
  });
}

// Rate the first answer to a puzzle.
function rate(isRight) {
  const { rating, deviation, answered } = saved;
  if (answered.includes(puzzle.id)) return;
  const weight = (1 + 3 * ((Q * PACK_DEVIATION) / Math.PI) ** 2) ** -0.5;
  const chance = 1 / (1 + 10 ** ((weight * (puzzle.rating - rating)) / 400));
  const certainty = 1 / deviation ** 2 + (Q * weight) ** 2 * chance * (1 - chance);
  saved = {
    rating: rating + ((Q * weight) / certainty) * (Number(isRight) - chance),
    deviation: Math.max(certainty ** -0.5, MIN_DEVIATION), before: rating, answered: [...answered, puzzle.id],
  };
  writeJson("puzzle-book", saved);
}
