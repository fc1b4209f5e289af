// What moves mean for a player of a level: chances counted in games played on, with their errors.
// The model is that of `review/coaching.py`; there are fewer games, so the errors are wider.
import { spawnOn } from "./game.js";
import { slide } from "./rules.js";

/**
 * The values, by legal direction.
 * @template Value
 * @typedef {{[direction: string]: Value}} ByWay
 */

/**
 * What the games played on from a position show, named as in the server's reviews.
 * @typedef {object} Judged
 * @property {number} ply
 * @property {string} played or the best direction
 * @property {string} best
 * @property {string} grade of the move played
 * @property {ByWay<string>} grades
 * @property {number} goal
 * @property {boolean} survival whether values are chances of 20 more moves, because the goal is too far
 * @property {number} games after each move
 * @property {ByWay<number>} values
 * @property {ByWay<number>} next_values
 * @property {ByWay<number>} errors of the best value minus this one
 * @property {number} loss of the move played
 * @property {number} share what it loses, and what a random move loses: for the accuracy
 * @property {number} stake
 * @property {?{kind: string, numbers: {[name: string]: number}}} reason of a mistake
 *
 * @typedef {Pick<Protocol.ReviewSummary, "accuracy" | "first" | "counts"> & {habits: Habit[],
 *   moments: Moment[], moves: Judged[]}} Reviewed
 * @typedef {Pick<Protocol.HabitInfo, "reason" | "count" | "cost" | "turns">} Habit
 * @typedef {Judged & Pick<Protocol.Moment, "turn" | "board" | "lines">} Moment
 */

const SEED = 0;
const [PROBE_GAMES, BATCH_GAMES, ROUND] = [8, 64, 16]; // ROUND positions get a batch at a time
const [FIRST_GAMES, MORE_GAMES] = [64, 512]; // the most after each move: of all positions, and more of the decisive ones
const [FIRST_HINT_GAMES, HINT_GAMES] = [64, 200]; // after each move: for the first answer, and for the last
const REVIEW_MOVES = 8_000_000; // the server plays 40 million
const [FIRST_SHARE, MORE_SHARE] = [0.35, 0.75]; // of these moves, spent when all, and when the decisive ones, have theirs
const DECISIVE_SHARE = 0.25; // of the positions: those whose moves differ most
const CLEAR_GAMES = 256; // after each move: they make a reason clear
const [MIN_DOUBT, REASON_DOUBT] = [0.01, 0.05];
const TYPICAL_LOSS = 0.04; // the standard deviation of the losses of moves
const MAX_COUNT = 20; // of moves until a trap ends or a pair meets
const MIN_CHANCE = 0.02; // if all chances are smaller, the chance of surviving counts
const MIN_ERRORS = 2.5; // smaller losses do not count as mistakes
const MIN_Z = 4;
const MIN_VARIANCE = 0.25;
const GRADES = ["inaccuracy", "mistake", "blunder"];
const LOSSES = [0.03, 0.06, 0.12];
const MIN_STAKE = 0.3; // of a game, for an accuracy
const [MAX_MOMENTS, MAX_HABITS] = [10, 3];
const [LINE_MOVES, LINE_GAMES] = [4, 16]; // a typical line is the median of some games
const WARM_UP_WORDS = 12;

/** A position and the games played on from it. */
class Judgement {
  #playouts;
  #ranks;
  #facts;
  #goal;
  #numbers;
  #games = {}; // the counts of each game, by direction

  /** @param {import("./playouts.js").Playouts} playouts */
  constructor(playouts, { board, ply, played = null }, slip, [goal, next]) {
    this.#playouts = playouts;
    this.#ranks = playouts.ranks(board);
    this.#goal = goal;
    this.#facts = { slip, goal: Math.log2(goal), next: Math.log2(next), watch: playouts.watch(this.#ranks) };
    const moves = playouts.rate(this.#ranks);
    this.#numbers = Object.fromEntries(moves.map(({ direction, number }) => [direction, number]));
    this.ways = Object.keys(this.#numbers);
    for (const way of this.ways) this.#games[way] = [];
    this.ply = ply;
    this.move = played;
    /** The first game that measures the accuracy. Earlier ones chose the position. */
    this.since = 0;
    /** The first game after those that measure it. */
    this.until = Infinity;
  }

  /** How many games were played on from each move. */
  get count() {
    return this.#games[this.ways[0]].length;
  }

  /** Play more games on from each move; return how many moves they took. */
  play(count) {
    const [first, end] = [this.count, this.count + count];
    let moves = 0;
    for (const way of this.ways) {
      for (let game = first; game < end; game++) {
        const counts = this.#playouts.play(this.#ranks, this.#numbers[way], this.#facts, [SEED, this.ply, game]);
        this.#games[way].push(counts);
        moves += 1 + counts.moves;
      }
    }
    return moves;
  }

  /**
   * How much of the difference between the moves is more than chance. Rounded as in Python, so that
   * both rank positions alike.
   */
  get contrast() {
    return rounded(contrastOf(Object.values(this.#means(this.#column)), this.count), 9);
  }

  /** The probability that more games change the grade of the move played. */
  get doubt() {
    const chance = this.#means(this.#column);
    const played = this.#played;
    const place = GRADES.indexOf(this.#grade(played)) + 1;
    const [low, high] = [-1, ...LOSSES, 2].slice(place, place + 2);
    const doubts = this.ways.filter((way) => way !== played).map((way) => {
      const error = this.#error(way, played);
      // Most moves lose little, so a large loss in few games is probably chance.
      const weight = TYPICAL_LOSS ** 2 / (TYPICAL_LOSS ** 2 + error ** 2);
      const below = (bound) => normal((bound - weight * (chance[way] - chance[played])) / (Math.sqrt(weight) * error));
      return 1 - below(high) + below(low);
    });
    return rounded(Math.max(place && this.count < CLEAR_GAMES ? REASON_DOUBT : 0, ...doubts), 9);
  }

  /** @returns {Judged} */
  get review() {
    const column = this.#column;
    const values = this.#means(column);
    const [played, most] = [this.#played, mostOf(values)];
    const grades = this.#byWay((way) => this.#grade(way));
    const grade = grades[played];
    const best = grade === "best" ? played : most;
    const [goal, games, survival] = [this.#goal, this.count, column === "survived"];
    return {
      ply: this.ply, played, best, grade, grades, goal, survival, games, values,
      next_values: this.#means("next_made"),
      errors: this.#byWay((way) => (way === most ? 0 : this.#error(most, way))),
      loss: rounded(Math.max(values[best] - values[played], 0), 6),
      ...this.#stakes(column, played),
      reason: GRADES.includes(grade) ? this.#reason(played, most) : null,
    };
  }

  get #played() {
    return this.move ?? mostOf(this.#means(this.#column));
  }

  get #column() {
    return Math.max(...Object.values(this.#means("made"))) < MIN_CHANCE ? "survived" : "made";
  }

  #byWay(value) {
    return Object.fromEntries(this.ways.map((way) => [way, value(way)]));
  }

  #means(column, isCounted = (_counts, _number) => true) {
    return this.#byWay((way) => mean(this.#games[way].filter(isCounted).map((counts) => counts[column])));
  }

  // The standard error of the difference between two chances.
  #error(one, other) {
    const column = this.#column;
    return Math.hypot(...[one, other].map((way) => Math.sqrt(certainty(this.#games[way].map((counts) => counts[column])))));
  }

  #grade(way) {
    const chance = this.#means(this.#column);
    const best = mostOf(chance);
    const [loss, error] = [chance[best] - chance[way], this.#error(best, way)];
    if (way === best || loss <= error) return "best";
    return (loss > MIN_ERRORS * error && GRADES[LOSSES.findLastIndex((least) => loss >= least)]) || "good";
  }

  // Each half of the games measures the losses. All others choose the best move, and the weight of the position.
  #stakes(column, played) {
    const until = Math.min(this.until, this.count);
    if (this.since >= until) return { share: 0, stake: 0 };
    const [shares, stakes] = [[], []];
    for (const half of [0, 1]) {
      const isMeasured = (_, number) => number >= this.since && number % 2 === half;
      const isOther = (_, number) => number < until && !isMeasured(_, number);
      const measured = this.#means(column, (_, number) => number < until && isMeasured(_, number));
      const chosen = this.#means(column, isOther);
      const weight = contrastOf(Object.values(chosen), this.#games[played].filter(isOther).length);
      const most = measured[mostOf(chosen)];
      shares.push(weight * (most - measured[played]));
      stakes.push(weight * (most - mean(Object.values(measured))));
    }
    return { share: mean(shares), stake: mean(stakes) };
  }

  // What is clearly worse after a move than after the best one.
  #reason(played, best) {
    const { corner, small, large, pair } = this.#facts.watch;
    const kinds = [
      { kind: "ended", of: ({ survived }) => 1 - survived, per: 100, tiles: {} },
      { kind: "corner", of: ({ out }) => out, per: 100, tiles: { tile: corner } },
      { kind: "trapped", of: ({ trapped }) => trapped, most: MAX_COUNT, tiles: { tile: small, behind: large } },
      { kind: "meeting", of: ({ meeting }) => meeting, most: MAX_COUNT, tiles: { tile: pair } },
      { kind: "room", of: ({ room }) => room, sign: -1, most: this.#ranks.length - 1, tiles: {} },
    ];
    const found = kinds.filter(({ tiles }) => tiles.tile !== 0).map(({ kind, of, per = 1, sign = 1, most = 1, tiles }) => {
      const [bad, good] = [played, best].map((way) => this.#games[way].map(of));
      const difference = sign * (mean(bad) - mean(good));
      const z = difference / Math.sqrt(per === 1 ? spreadOf(bad) + spreadOf(good) : certainty(bad) + certainty(good));
      const named = Object.entries(tiles).map(([name, rank]) => [name, 2 ** rank]);
      const [here, there] = [bad, good].map((counts) => rounded(per * mean(counts), 2));
      const numbers = { played: here, best: there, per, ...Object.fromEntries(named) };
      return { reason: { kind, numbers }, z: rounded(z, 2), effect: difference / most };
    });
    const clear = found.filter(({ z }) => z >= MIN_Z).sort((one, other) => other.effect - one.effect);
    return clear[0]?.reason ?? null;
  }
}

/** Judges moves. Its answers are generators, so that others can go first. */
export class Coaching {
  #rules;
  #playouts;
  #levels;

  /**
   * @param {import("./rules.js").Rules} rules
   * @param {import("./playouts.js").Playouts} playouts
   * @param {{[level: string]: {slip: number, goals: [number, number][]}}} levels with the goals by the
   *   rank of the largest tile
   */
  constructor(rules, playouts, levels) {
    this.#rules = rules;
    this.#playouts = playouts;
    this.#levels = levels;
  }

  /** The best move by a search with the network. */
  *move({ board }) {
    const moves = this.#playouts.search(this.#playouts.ranks(board));
    return mostOf(Object.fromEntries(moves.map(({ direction, worth }) => [direction, worth])));
  }

  /**
   * Judge the moves on a board; the first answer is from few games.
   * @returns {Generator<?Judged, Judged>}
   */
  *hint({ position, level }) {
    const judgement = this.#judgement(position, level);
    for (let games = PROBE_GAMES; games <= HINT_GAMES; games += PROBE_GAMES) {
      judgement.play(PROBE_GAMES);
      yield games === FIRST_HINT_GAMES ? judgement.review : null;
    }
    return judgement.review;
  }

  /**
   * Review the moves of a game. Later reviews of a move replace earlier ones.
   * @returns {Generator<Judged, Reviewed>}
   */
  *review({ positions, level, budget = REVIEW_MOVES }) {
    const judgements = positions.map((position) => this.#judgement(position, level));
    const moves = [];
    let spent = 0;
    const playEqually = function* (indices, most, limit) {
      let played = 0;
      for (let [games, done] = [PROBE_GAMES, 0]; games > 0 && indices.length > 0; ) {
        for (const index of indices) {
          played += judgements[index].play(games);
          yield (moves[index] = judgements[index].review);
        }
        done += games;
        games = 2 * Math.floor(Math.min(done * (limit / played - 1), most - done) / 2);
      }
      spent += played;
    };
    for (const judgement of judgements) judgement.until = 0;
    yield* playEqually([...judgements.keys()], FIRST_GAMES, FIRST_SHARE * budget);
    const contrasts = judgements.map(({ contrast }) => contrast);
    const decisive = [...judgements.keys()].sort((one, other) => contrasts[other] - contrasts[one]);
    decisive.splice(Math.ceil(DECISIVE_SHARE * decisive.length));
    for (const index of decisive) [judgements[index].since, judgements[index].until] = [judgements[index].count, Infinity];
    yield* playEqually(decisive, MORE_GAMES, MORE_SHARE * budget - spent);
    for (const index of decisive) judgements[index].until = judgements[index].count;
    const doubts = judgements.map(({ doubt }) => doubt);
    while (spent < budget) {
      const part = [...doubts.keys()].sort((one, other) => doubts[other] - doubts[one]).slice(0, ROUND).filter((index) => doubts[index] >= MIN_DOUBT);
      if (!part.length) break;
      for (const index of part) {
        spent += judgements[index].play(BATCH_GAMES);
        doubts[index] = judgements[index].doubt;
        yield (moves[index] = judgements[index].review);
      }
    }
    return { moves, ...this.#summary(moves.map((move, index) => ({ ...move, ...positions[index] })), level) };
  }

  // What stands out among reviewed moves.
  #summary(moves, level) {
    const counts = Object.fromEntries(["best", "good", ...GRADES].map((each) => [each, moves.filter(({ grade }) => grade === each).length]));
    const mistakes = moves.filter(({ grade }) => GRADES.includes(grade)).sort((one, other) => other.loss - one.loss);
    const worst = mistakes.slice(0, MAX_MOMENTS).sort((one, other) => one.ply - other.ply);
    const moments = worst.map((move) => {
      const lines = [move.best, move.played].map((way) => [way, this.#line(move, way, level)]);
      return { ...move, lines: Object.fromEntries(lines) };
    });
    return { accuracy: accuracyOf(moves), first: mistakes[0]?.turn ?? null, counts, habits: habitsIn(moves), moments };
  }

  // A typical line after a move: the median of some games by their empty cells.
  #line({ board, reason }, way, level) {
    const lines = Array.from({ length: LINE_GAMES }, (_, game) => [...this.#turns(board, way, level, wordsOf(SEED, 1, game))]);
    const empty = (line) => line.at(-1).board.flat().filter((tile) => !tile).length;
    lines.sort((one, other) => one.length - other.length || empty(one) - empty(other));
    return { turns: lines[LINE_GAMES / 2], fear: reason?.numbers.tile ?? null };
  }

  // The turns of a game played on, as `turns` in `review/playouts.py`.
  *#turns(board, direction, level, words) {
    const [slip, [, next]] = this.#aims(board, level);
    for (let count = 0; direction && count < LINE_MOVES; count++) {
      const { board: after, motions, points } = slide(board, direction, this.#rules.merging);
      board = after;
      const isOver = points >= next && Math.max(...board.flat()) >= next;
      const spawn = isOver ? null : this.#spawn(board, direction, words);
      if (spawn) board[spawn.cell[0]][spawn.cell[1]] = spawn.tile;
      yield { direction, motions, spawn, board };
      const moves = isOver ? [] : this.#playouts.rate(this.#playouts.ranks(board));
      const judged = moves.map(({ direction: way, worth }) => [way, worth * (1 + slip * (words.next().value * 2 ** -31 - 1))]);
      direction = judged.length ? mostOf(Object.fromEntries(judged)) : "";
    }
  }

  #spawn(board, direction, words) {
    const drawn = [words.next().value, words.next().value]; // for the cell, and for the tile
    return spawnOn(this.#rules, board, direction, (choices) => Math.floor((drawn.pop() * choices) / 2 ** 32));
  }

  #judgement(position, level) {
    return new Judgement(this.#playouts, position, ...this.#aims(position.board, level));
  }

  /** @returns {[number, [number, number]]} the slip of a level, and its goals on a board */
  #aims(board, level) {
    const { slip, goals } = this.#levels[level] ?? this.#levels.practised;
    return [slip, goals[Math.log2(Math.max(...board.flat()))]];
  }
}

// The mistakes that cost most in total, by their reasons.
function habitsIn(moves) {
  const kinds = [...new Set(moves.flatMap(({ reason }) => reason?.kind ?? []))].sort();
  const habits = kinds.map((kind) => {
    const mistakes = moves.filter(({ reason }) => reason?.kind === kind);
    const turns = mistakes.map(({ turn }) => turn);
    return { reason: kind, count: turns.length, cost: mean(mistakes.map(({ loss }) => loss)), turns };
  });
  return habits.sort((one, other) => other.count * other.cost - one.count * one.cost).slice(0, MAX_HABITS);
}

// The random words of a game, as in `review/playouts.py`.
function* wordsOf(a, b, c) {
  for (let counter = 1; ; counter++) {
    const word = (a + b + counter) >>> 0;
    [a, b, c] = [b ^ (b >>> 9), (c + (c << 3)) | 0, (((c << 21) | (c >>> 11)) + word) | 0];
    if (counter > WARM_UP_WORDS) yield word;
  }
}

// 100 for no losses, 0 for those of random moves; null while little is known.
function accuracyOf(reviews) {
  const [lost, stake] = ["share", "stake"].map((name) => reviews.reduce((sum, move) => sum + move[name], 0));
  return stake < MIN_STAKE ? null : rounded(100 * Math.min(Math.max(1 - lost / stake, 0), 1), 2);
}

const rounded = (value, digits) => Number(value.toFixed(digits));
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const mostOf = (values) => Object.keys(values).reduce((one, other) => (values[other] > values[one] ? other : one));

// The squared standard error of a share, which is never certain, and of a mean.
function certainty(values) {
  const share = (mean(values) * values.length + 1) / (values.length + 2);
  return (share * (1 - share)) / values.length;
}

// How much of the variance among chances is more than that of equally good moves.
function contrastOf(chances, games) {
  const spread = (varianceOf(chances) * chances.length) / (chances.length - 1);
  const noise = mean(chances.map((chance) => chance * (1 - chance))) / games;
  return spread > 0 ? Math.max(1 - noise / spread, 0) : 0;
}

const spreadOf = (values) => Math.max(varianceOf(values), MIN_VARIANCE) / values.length;

function varianceOf(values) {
  const middle = mean(values);
  return mean(values.map((value) => (value - middle) ** 2));
}

// About the distribution function of the normal distribution.
const normal = (z) => 1 / (1 + Math.exp(-1.702 * z));
