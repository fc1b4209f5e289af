// A finished game on a page without a server: its turns, and their review by the coach in the browser.
import { smallBoard } from "./board.js";
import { chosenLevel, coachAt, offerLevels } from "./coach.js";
import { $, element, find, put } from "./elements.js";
import { playTurn } from "./game.js";
import { loadLast } from "./kept.js";
import { _, filled, grouped, ngettext } from "./language.js";
import { turnOf } from "./record.js";
import { parseRules } from "./rules.js";
import { spoken } from "./speech.js";
import { presetOf } from "./view.js";
import { WAYS } from "./ways.js";
import { accuracyWords, gradeWord, habitWords, worded } from "./words.js";

// Size and margin of the graph, as in `presentation/plots.py`.
const [WIDE, HIGH, MARGIN] = [968, 150, 12];

/** Replay the kept game. */
function replayed() {
  const { game, record } = loadLast();
  const rules = parseRules(game.rules.text);
  const positions = [...record.positions()];
  const turns = positions.slice(1).map((after, index) => {
    const { event } = playTurn(rules, positions[index], turnOf(record.code(index), rules));
    return { ...event, ...after, millis: 0 };
  });
  return { game, positions, turns };
}

/** Let the coach in the browser review a replayed game; `show` gets the moves as they are judged. */
async function reviewed({ game, positions, turns }, show) {
  const legal = turns.flatMap(({ direction, spawn }, turn) => {
    const { board, ply } = positions[turn];
    return spawn ? [{ board, ply: ply + 1, played: direction, turn }] : [];
  });
  const { text, network } = presetOf(game.rules.text).dataset;
  const coach = await coachAt(network, text);
  return { legal, ...(await coach.ask("review", { positions: legal, level: chosenLevel() }, show)) };
}

/**
 * Return a function that gives a game's result as the server does, at first without its review.
 * @param {import("./session.js").Game} game
 */
export function resultOf(game) {
  const sentences = JSON.parse($("result-words").textContent);
  const level = find("#level-choice option:checked").textContent;
  const facts = { headline: headline(game, sentences), level, largest: grouped(Math.max(...game.board.flat())), moves: grouped(game.ply) };
  let reviewing = game.category === "computer" ? Promise.resolve(null) : null;
  return async () => {
    const isPending = !reviewing;
    reviewing ??= reviewed(replayed(), () => {}).catch(() => null);
    const found = isPending ? null : await reviewing;
    const [accuracy] = found ? accuracyWords(found.accuracy, 0) : [isPending ? "…" : "–"];
    const count = found?.moments.length ?? 0;
    const review = filled(sentences.review[Math.min(count, 2)], { n: grouped(count) });
    const html = made("result-page", { ...facts, accuracy, review, pending: isPending ? "data-pending" : "" });
    return new DOMParser().parseFromString(html, "text/html");
  };
}

/**
 * The result in a sentence or two, as in `presentation/result.py`.
 * @param {import("./session.js").Game} game
 * @param {any} sentences
 */
function headline({ score = 0, won, category, rules, before: best = 0 }, sentences) {
  const points = ngettext("{n} point.", "{n} points.", score);
  if (category === "computer") return `${points} ${sentences.computer}`;
  const kind = !best ? "first" : score > best ? "best" : score === best ? "again" : "short";
  const compared = filled(sentences[kind], { n: grouped(best - score) });
  if (!won) return `${points} ${compared}`;
  return `${filled(sentences.won, { tile: grouped(rules.target) })} ${points} ${best ? compared : ""}`.trimEnd();
}

/** Open the kept game; return its turns and its review, as from a server. */
export function opened() {
  const kept = replayed();
  const { game, positions, turns } = kept;
  put("rules-name", game.rules.name);
  put("count", grouped(game.ply));
  $("place").max = turns.length;
  const position = (index) => {
    $("play-on").href = `?turn=${index}`;
    $("play-on").hidden = index === turns.length;
    return positions[index];
  };
  return { turns: { total: turns.length, position, turn: (index) => turns[index] }, review: review(kept) };
}

function review(kept) {
  const { game, turns } = kept;
  const state = { state: "running", ahead: 0, done: 0, total: game.ply };
  const moves = []; // by turn
  let summary = null;
  reviewed(kept, ({ ply }) => (state.done = Math.max(state.done, ply))).then((found) => {
    found.legal.forEach(({ turn }, index) => (moves[turn] = worded(found.moves[index])));
    summary = { ...found, moments: found.moments.map(worded) };
    state.state = "done";
  }, () => (state.state = "none"));
  return {
    at: async (turn) => ({ page: { total: turns.length, moves, summary }, at: turn }),
    state: async () => state,
    page: async () => (summary ? reviewPage(game, summary, moves.filter(Boolean)) : parsed(made("unreviewed", {}))),
    offerLevels: (form) => offerLevels(form.elements.level, () => location.reload()),
  };
}

// A piece of HTML in the page, filled in with numbers and sentences of ours.
const made = (id, facts) => filled($(id).textContent, facts);

// The parts of the page about a review, as the server renders them.
function reviewPage(game, { accuracy, counts, first, habits, moments }, moves) {
  const [figure, note] = accuracyWords(accuracy);
  const [reviewed, known] = [moves.length, Object.entries(counts).filter(([, count]) => count)];
  let x = 0;
  const content = parsed(made("reviewed", {
    figure, note, reviewed, first: first ?? 0, precision: precision(moves), points: grouped(game.score),
    bars: known.map(([grade, count]) => `<rect class="${grade}" x="${(x += count) - count}" width="${count}" height="1"/>`).join(""),
    counts: known.map(([grade, count]) => made("grade-count", { grade, n: grouped(count), word: gradeWord(grade, count) })).join(" · "),
    last: Math.max(reviewed - 1, 1),
    ...graph(moves, moments),
    ticks: [0, 1, 2, 3, 4].map((part) => `<span>${grouped(1 + ((reviewed - 1) * part) / 4)}</span>`).join(""),
    habits: habits.map((habit) => made("habit", { say: habitWords(habit), turns: habit.turns.join(" "), drill: ngettext("Try {n} position", "Try {n} positions", habit.count) })).join(""),
    moments: moments.map((move) => {
      const options = move.options.map(({ direction, text }) => `<li${direction === move.best ? ' class="strong"' : ""}>${WAYS[direction]} ${text}</li>`);
      const mini = smallBoard(move.board, spoken(move.board)).outerHTML;
      return made("moment", { ...move, mini, shown: grouped(move.ply), options: options.join("") });
    }).join(""),
  }));
  content.getElementById("habits").hidden = !habits.length;
  content.getElementById("no-moments").hidden = moments.length > 0;
  return content;
}

const parsed = (html) => Object.assign(element("template"), { innerHTML: html }).content;

// How precise the chances are, because a browser plays fewer games than a server.
function precision(moves) {
  const games = grouped(Math.min(...moves.map((move) => move.games)));
  const points = grouped(100 * Math.max(...moves.flatMap(({ errors }) => Object.values(errors))));
  return _("From fewer games than on a server: at least {games} simulated in your browser after each move, give or take {points} %.", { games, points });
}

// The lines and the dots of the graph.
function graph(moves, moments) {
  const across = WIDE / Math.max(moves.length - 1, 1);
  const points = (name) => moves.map((move, index) => `${(across * index).toFixed(1)},${(HIGH - MARGIN - (HIGH - 2 * MARGIN) * move[name][move.best]).toFixed(1)}`);
  const [line, next] = [points("values"), points("next_values").join(" ")];
  const dots = [...moments].sort((one, other) => one.loss - other.loss).map(({ grade, ply }) => made(`dot-${grade}`, { place: line[ply - moves[0].ply] }));
  return { line: line.join(" "), dots: made("dots", { next }) + dots.join("") };
}
