// What moves mean for a player of a level: chances counted in games played on, with their errors.
// The model is that of `review/coaching.py`; there are fewer games, so the errors are wider.

/**
 * What the games played on from a position show, named as in the server's reviews. Values by direction
 * are about legal moves.
 * @typedef {object} Judged
 * @property {number} ply
 * @property {string} played or the best direction
 * @property {string} best
 * @property {number} goal
 * @property {number} next_goal
 * @property {boolean} survival whether the chance is that of 20 more moves, because the goal is too far
 * @property {{[direction: string]: number}} games
 * @property {{[direction: string]: number}} chance
 * @property {{[direction: string]: number}} next_chance
 * @property {{[direction: string]: number}} error of the best chance minus this one
 * @property {{[direction: string]: string}} grade
 * @property {number} loss of the move played
 * @property {number} share what it loses, and what a random move loses: for the accuracy
 * @property {number} stake
 * @property {?{kind: string, numbers: {[name: string]: number}, z: number}} reason of a mistake
 */

const SEED = 0;
const [PROBE_GAMES, FIRST_GAMES, BATCH_GAMES] = [8, 64, 32];
const HINT_GAMES = [64, 200]; // after each move: for the first answer, and for the last
const REVIEW_MOVES = 8_000_000; // the server plays 40 million
const FIRST_PASS_SHARE = 0.75;
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
const MAX_MOMENTS = 10;

/** A position and the games played on from it. */
class Judgement {
  #playouts;
  #ranks;
  #facts;
  #goals;
  #numbers;
  #games = {}; // the counts of each game, by direction

  /** @param {import("./playouts.js").Playouts} playouts */
  constructor(playouts, { board, ply, played = null }, slip, [goal, next]) {
    this.#playouts = playouts;
    this.#ranks = playouts.ranks(board);
    this.#goals = { goal, next_goal: next };
    this.#facts = { slip, goal: Math.log2(goal), next: Math.log2(next), watch: playouts.watch(this.#ranks) };
    const moves = playouts.rate(this.#ranks);
    this.#numbers = Object.fromEntries(moves.map(({ direction, number }) => [direction, number]));
    this.ways = Object.keys(this.#numbers);
    for (const way of this.ways) this.#games[way] = [];
    this.ply = ply;
    this.move = played;
    /** How many games after each move count for the accuracy: what every position got. */
    this.evenCount = Infinity;
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
    return Math.max(place && this.count < CLEAR_GAMES ? REASON_DOUBT : 0, ...doubts);
  }

  /** @returns {Judged} */
  get review() {
    const column = this.#column;
    const chance = this.#means(column);
    const [played, most] = [this.#played, mostOf(chance)];
    const grade = this.#byWay((way) => this.#grade(way));
    const best = grade[played] === "best" ? played : most;
    return {
      ply: this.ply,
      played,
      best,
      ...this.#goals,
      survival: column === "survived",
      games: this.#byWay(() => this.count),
      chance,
      next_chance: this.#means("next_made"),
      error: this.#byWay((way) => (way === most ? 0 : this.#error(most, way))),
      grade,
      loss: Math.max(chance[best] - chance[played], 0),
      ...this.#stakes(column, played),
      reason: GRADES.includes(grade[played]) ? this.#reason(played, most) : null,
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

  // One half of the games chooses the best move and the weight of the position: how much of the
  // difference between its moves is more than chance. The other half measures the losses.
  #stakes(column, played) {
    const end = Math.min(this.evenCount, this.count);
    const halves = [0, 1].map((half) => this.#means(column, (_, number) => number < end && number % 2 === half));
    const [shares, stakes] = [[], []];
    for (const [half, chosen] of halves.entries()) {
      const measured = halves[1 - half];
      const chances = Object.values(chosen);
      const games = Math.ceil((end - half) / 2);
      const noise = mean(chances.map((chance) => chance * (1 - chance))) / games;
      const spread = (varianceOf(chances) * chances.length) / (chances.length - 1);
      const weight = spread > 0 ? Math.max(1 - noise / spread, 0) : 0;
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
      const numbers = { played: per * mean(bad), best: per * mean(good), per, ...Object.fromEntries(named) };
      return { kind, numbers, z: Math.round(100 * z) / 100, effect: difference / most };
    });
    const clear = found.filter(({ z }) => z >= MIN_Z).sort((one, other) => other.effect - one.effect);
    return clear[0] ?? null;
  }
}

/** Judges moves. Its answers are generators, so that others can go first. */
export class Coaching {
  #playouts;
  #goals;

  /**
   * @param {import("./playouts.js").Playouts} playouts
   * @param {{[slip: string]: [number, number][]}} goals of each level, by the rank of the largest tile
   */
  constructor(playouts, goals) {
    this.#playouts = playouts;
    this.#goals = goals;
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
  *hint({ position, slip }) {
    const judgement = this.#judgement(position, slip);
    const [first, last] = HINT_GAMES;
    for (let games = PROBE_GAMES; games <= last; games += PROBE_GAMES) {
      judgement.play(PROBE_GAMES);
      yield games === first ? judgement.review : null;
    }
    return judgement.review;
  }

  /**
   * Review the moves of a game. Later reviews of a move replace earlier ones.
   * @returns {Generator<Judged, {accuracy: ?number, moments: Judged[]}>}
   */
  *review({ positions, slip }) {
    const judgements = positions.map((position) => this.#judgement(position, slip));
    const reviews = [];
    let spent = 0;
    for (let [games, done] = [PROBE_GAMES, 0]; games > 0; ) {
      for (const [index, judgement] of judgements.entries()) {
        spent += judgement.play(games);
        yield (reviews[index] = judgement.review);
      }
      done += games;
      const affordable = done * ((FIRST_PASS_SHARE * REVIEW_MOVES) / Math.max(spent, 1) - 1);
      games = 2 * Math.floor(Math.min(affordable, FIRST_GAMES - done) / 2);
    }
    for (const judgement of judgements) judgement.evenCount = judgement.count;
    const doubts = judgements.map(({ doubt }) => doubt);
    while (spent < REVIEW_MOVES && Math.max(...doubts) >= MIN_DOUBT) {
      const index = doubts.indexOf(Math.max(...doubts));
      spent += judgements[index].play(BATCH_GAMES);
      doubts[index] = judgements[index].doubt;
      yield (reviews[index] = judgements[index].review);
    }
    const mistakes = reviews.filter(({ grade, played }) => GRADES.includes(grade[played]));
    mistakes.sort((one, other) => other.loss - one.loss);
    const moments = mistakes.slice(0, MAX_MOMENTS).sort((one, other) => one.ply - other.ply);
    return { accuracy: accuracyOf(reviews, mistakes), moments };
  }

  #judgement(position, slip) {
    const goals = this.#goals[slip][Math.log2(Math.max(...position.board.flat()))];
    return new Judgement(this.#playouts, position, slip, goals);
  }
}

// 100 for no losses, 0 for those of random moves; null while little is known.
function accuracyOf(reviews, mistakes) {
  const total = (moves, name) => moves.reduce((sum, move) => sum + move[name], 0);
  const stake = total(reviews, "stake");
  if (stake < MIN_STAKE) return null;
  const lost = Math.max(total(reviews, "share"), total(mistakes, "loss")); // mistakes are certain
  return 100 * Math.min(Math.max(1 - lost / stake, 0), 1);
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const mostOf = (values) => Object.keys(values).reduce((one, other) => (values[other] > values[one] ? other : one));

// The squared standard error of a share, which is never certain, and of a mean.
function certainty(values) {
  const share = (mean(values) * values.length + 1) / (values.length + 2);
  return (share * (1 - share)) / values.length;
}

const spreadOf = (values) => Math.max(varianceOf(values), MIN_VARIANCE) / values.length;

function varianceOf(values) {
  const middle = mean(values);
  return mean(values.map((value) => (value - middle) ** 2));
}

// About the distribution function of the normal distribution.
const normal = (z) => 1 / (1 + Math.exp(-1.702 * z));
