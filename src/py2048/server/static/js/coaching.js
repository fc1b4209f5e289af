// What moves mean for a player of a level: chances counted in games played on, with their errors.
// The model is that of `review/coaching.py`; there are fewer games, so the errors are wider.
import { COLUMNS, GAMES, MADE, MEETING, NEXT_MADE, OUT, ROOM, SURVIVED, TRAPPED } from "./playouts.js";
import { DIRECTIONS } from "./rules.js";

const SEED = 0;
const BATCH_GAMES = 16;
const HINT_GAMES = [64, 208]; // after each move: for the first answer, and for the last
const CERTAIN = 0.9; // a tile that at least this share of games makes is no goal
const MIN_CHANCE = 0.02; // if all chances are smaller, the chance of surviving counts
const MIN_ERRORS = 2.5; // a smaller loss may be chance
const MIN_REASON_ERRORS = 4;
const GRADES = /** @type {const} */ ([["blunder", 0.12], ["mistake", 0.06], ["inaccuracy", 0.03]]);

/**
 * The goals of a level's player whose largest tile is `largest`, as `goal_of` in `review/levels.py`.
 * @param {{games: number, slips: {[slip: string]: {made: {[tile: string]: number}}}}} levels how many
 *   games of each level made each tile
 * @param {number} slip
 * @param {number} largest
 * @param {number} limit the tile that ends the game
 */
export function goalOf({ games, slips }, slip, largest, limit = Infinity) {
  const known = Object.keys(slips).map(Number).sort((one, other) => one - other);
  const within = Math.min(Math.max(slip, known[0]), known.at(-1));
  const above = known.findIndex((each) => each > within);
  const upper = above < 0 ? known.length - 1 : above;
  const [low, high] = [known[upper - 1], known[upper]];
  const shareAt = (each, tile) => (slips[each].made[tile] ?? 0) / games;
  const goals = [];
  for (let [tile, last] = [4, 1]; goals.length < 2; tile *= 2) {
    const share = shareAt(low, tile) + ((within - low) / (high - low)) * (shareAt(high, tile) - shareAt(low, tile));
    if (last && share >= CERTAIN * last) continue;
    last = share;
    if (tile > largest) goals.push(Math.min(tile, limit));
  }
  return { goal: goals[0], next_goal: goals[1] };
}

/**
 * What the games played on from a position show: for each legal direction, the chance of making the goal
 * or, if `survival` is set, of lasting 20 more moves; the standard error of the best chance minus it; what
 * it loses, and its grade. The names are those of the server's reviews.
 * @typedef {object} Judged
 * @property {number} ply
 * @property {?string} played
 * @property {string} best
 * @property {number} goal
 * @property {number} next_goal
 * @property {boolean} survival
 * @property {number} games after each direction
 * @property {{[direction: string]: number}} chance
 * @property {{[direction: string]: number}} next_chance
 * @property {{[direction: string]: number}} error
 * @property {{[direction: string]: number}} loss
 * @property {{[direction: string]: string}} grade
 */

/** The games played on from a position. */
class Tally {
  #playouts;
  #ranks;
  #facts;
  #goals;
  #moves; // the legal ones, each with the counts of its even and its odd games

  /** @param {import("./playouts.js").Playouts} playouts */
  constructor(playouts, { board, ply, played = null }, slip, goals) {
    this.#playouts = playouts;
    this.#ranks = playouts.ranks(board);
    this.#goals = goals;
    const [goal, next] = [goals.goal, goals.next_goal].map(Math.log2);
    this.#facts = { slip, goal, next, watch: playouts.watch(this.#ranks) };
    this.#moves = playouts.rate(this.#ranks).map(({ direction, number }) => {
      return { direction, number, halves: [new Float64Array(COLUMNS), new Float64Array(COLUMNS)] };
    });
    this.ply = ply;
    this.played = played;
    /** How many games were played on from each move. */
    this.games = 0;
  }

  /** Play a batch of games on from each move. */
  play() {
    for (const { number, halves } of this.#moves) {
      for (let game = this.games; game < this.games + BATCH_GAMES; game++) {
        const key = { seed: SEED, ply: this.ply, game };
        this.#playouts.play(this.#ranks, number, key, this.#facts, halves[game % 2]);
      }
    }
    this.games += BATCH_GAMES;
  }

  /** What the games show, named as in the server's reviews. */
  get review() {
    const chances = this.#shares(MADE);
    const survival = Math.max(...chances) < MIN_CHANCE;
    const column = survival ? SURVIVED : MADE;
    const chance = survival ? this.#shares(column) : chances;
    const best = chance.indexOf(Math.max(...chance));
    const error = chance.map((_, index) => (index === best ? 0 : Math.hypot(this.#error(chance[best]), this.#error(chance[index]))));
    const loss = chance.map((each) => chance[best] - each);
    const grade = loss.map((_, index) => gradeOf(loss[index], error[index]));
    const { direction } = this.#moves[best];
    const named = { chance, error, loss, grade, next_chance: this.#shares(NEXT_MADE) };
    const byWay = Object.entries(named).map(([name, values]) => [name, this.#byWay(values)]);
    const { ply, played, games } = this;
    return { ply, played, best: direction, ...this.#goals, survival, games, ...Object.fromEntries(byWay) };
  }

  #byWay(values) {
    return Object.fromEntries(this.#moves.map(({ direction }, index) => [direction, values[index]]));
  }

  #shares(column) {
    return this.#moves.map(({ halves: [even, odd] }) => (even[column] + odd[column]) / this.games);
  }

  // The standard error of a chance; one more game of each kind keeps it above 0.
  #error(chance) {
    const share = (chance * this.games + 1) / (this.games + 2);
    return Math.sqrt((share * (1 - share)) / this.games);
  }
}

function gradeOf(loss, error) {
  if (loss <= MIN_ERRORS * error) return "best";
  return GRADES.find(([, least]) => loss >= least)?.[0] ?? "good";
}

/** Judges moves under some rules with playouts. Its answers are generators, so that others can go first. */
export class Coaching {
  #rules;
  #playouts;
  #levels;

  /**
   * @param {import("./rules.js").Rules} rules
   * @param {import("./playouts.js").Playouts} playouts
   * @param {Parameters<typeof goalOf>[0]} levels
   */
  constructor(rules, playouts, levels) {
    this.#rules = rules;
    this.#playouts = playouts;
    this.#levels = levels;
  }

  /** The best move by the network. */
  *move({ board }) {
    return this.#playouts.rate(this.#playouts.ranks(board)).reduce((a, b) => b.worth > a.worth ? b : a).direction;
  }

  /** The chances of all moves on a board, first from few games. */
  *hint({ position, slip }) {
    const tally = this.#tally(position, slip);
    const [first, last] = HINT_GAMES;
    while (tally.games < last) {
      tally.play();
      yield tally.games === first ? tally.review : null;
    }
    return tally.review;
  }

  #tally(position, slip) {
    const { target, endsAtTarget } = this.#rules;
    const limit = endsAtTarget ? target : Infinity;
    return new Tally(this.#playouts, position, slip, goalOf(this.#levels, slip, Math.max(...position.board.flat()), limit));
  }
}
