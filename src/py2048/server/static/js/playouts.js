// Games played on from a move by a player of a level, and what is counted in them: the same draws and
// the same counts as in `review/playouts.py`. A board is a Uint8Array of ranks, row by row, and a 0
// after the last cell. Its sides have at most four cells.
import { DIRECTIONS } from "./rules.js";

/**
 * @typedef {Uint8Array} Ranks
 * @typedef {{corner: number, small: number, large: number, pair: number}} Watch ranks, 0 for none
 * @typedef {{slip: number, goal: number, next: number, watch: Watch}} Facts how far the player misjudges
 *   moves, and the ranks to make and to watch
 * @typedef {{moves: number, made: number, next_made: number, survived: number, out: number,
 *   trapped: number, meeting: number, room: number}} Counts see `GameCounts` in Python
 */

const [SURVIVAL_MOVES, CORNER_MOVES, ROOM_MOVES, WATCHED_BOARDS] = [20, 10, 5, 20];
const WARM_UP_WORDS = 12;
const LINE_CELLS = 4;
const NO_MOVE = -1;
const FEW_CELLS = 2; // empty ones, with which the search is deeper

export class Playouts {
  #network;
  #size;
  #isCascading;
  #tiles; // the rank of the spawn for each choice among the weights
  #spawns; // the ranks with their probabilities
  #corners;
  #orders; // for each direction, the cells of all lines, each line from the wall on
  #edges; // pairs of a cell on an edge and the next one inwards
  #slid = new Int32Array(1 << (5 * LINE_CELLS)); // by line, at five bits a cell; filled on demand
  #points = new Int32Array(this.#slid.length);
  #after; // the boards after each direction
  #gains = new Int32Array(DIRECTIONS.length); // the points of each direction, or NO_MOVE
  #state = new Int32Array(4); // of the random words

  /**
   * @param {import("./rules.js").Rules} rules
   * @param {import("./network.js").Network} network
   */
  constructor({ rows, columns, merging, spawn }, network) {
    this.#network = network;
    this.#size = rows * columns;
    this.#isCascading = merging === "cascade";
    this.#tiles = spawn.weights.flatMap(([tile, weight]) => Array(weight).fill(Math.log2(tile))).sort((a, b) => a - b);
    this.#spawns = spawn.weights.map(([tile, weight]) => [Math.log2(tile), weight / this.#tiles.length]);
    this.#corners = [0, columns - 1, this.#size - columns, this.#size - 1];
    this.#orders = DIRECTIONS.map((direction) => orderOf(rows, columns, direction));
    const pairs = this.#orders.flatMap((order) => Array.from(order, (cell, at) => [cell, order[at + 1], at]));
    this.#edges = pairs.filter(([, inner, at]) => at % LINE_CELLS === 0 && inner < this.#size);
    this.#after = DIRECTIONS.map(() => new Uint8Array(this.#size + 1));
  }

  /** The ranks of a board's tiles. */
  ranks(board) {
    return Uint8Array.from([...board.flat().map((tile) => tile && Math.log2(tile)), 0]);
  }

  /**
   * The legal moves, each with its value in points.
   * @param {Ranks} ranks
   * @param {number} [ahead] how many more moves to search
   */
  rate(ranks, ahead = 0) {
    this.#slideAll(ranks);
    const moves = DIRECTIONS.map((direction, number) => {
      return { direction, number, after: this.#after[number].slice(), points: this.#gains[number] };
    });
    return moves.filter(({ points }) => points !== NO_MOVE).map((move) => {
      return { ...move, worth: move.points + this.#expected(move.after, ahead) };
    });
  }

  /**
   * The legal moves with values from a search, which is deeper on full boards.
   * @param {Ranks} ranks
   */
  search(ranks) {
    return this.rate(ranks, this.#empty(ranks) > FEW_CELLS ? 1 : 2);
  }

  // The value of a board after a slide: the network's, or the mean of the best moves after the spawn.
  #expected(after, ahead) {
    if (!ahead) return this.#network.value(after);
    let sum = 0;
    for (let cell = 0; cell < this.#size; cell++) {
      if (after[cell]) continue;
      for (const [rank, share] of this.#spawns) {
        after[cell] = rank;
        const worths = this.rate(after, ahead - 1).map(({ worth }) => worth);
        if (worths.length) sum += share * Math.max(...worths);
      }
      after[cell] = 0;
    }
    return sum / this.#empty(after);
  }

  /**
   * The ranks to watch, as `watch` in `review/reasons.py`.
   * @param {Ranks} ranks
   * @returns {Watch}
   */
  watch(ranks) {
    const most = Math.max(...ranks);
    const isLarge = (small, large) => small && large >= small + 3 && large + 2 >= most;
    const left = this.rate(ranks).map(({ after }) => {
      const pairs = this.#edges.map(([outer, inner]) => [after[outer], after[inner]]);
      return pairs.filter(([small, large]) => isLarge(small, large)).map(([small, large]) => 32 * large - small);
    });
    const traps = left.flat().sort((one, other) => other - one);
    const trap = traps.find((each) => left.some((move) => !move.includes(each))) ?? traps[0] ?? 0;
    const large = Math.ceil(trap / 32);
    const least = Math.max(this.#tiles.at(-1) + 1, most - 2);
    const pairs = ranks.filter((rank, cell) => rank >= least && ranks.indexOf(rank) < cell);
    const corner = this.#isOut(ranks, most) ? 0 : most;
    return { corner, small: 32 * large - trap, large, pair: Math.max(0, ...pairs) };
  }

  /**
   * Play a game on from a move.
   * @param {Ranks} ranks before the move
   * @param {number} direction
   * @param {Facts} facts
   * @param {number[]} key the game's seed, ply and number
   * @returns {Counts}
   */
  play(ranks, direction, { slip, goal, next, watch }, key) {
    const board = ranks.slice();
    const sum = sumAbove(ranks, watch.pair);
    let [moves, trapped, meeting, room] = [-1, 0, WATCHED_BOARDS, 0];
    let [isMade, isStopped, isOut] = [false, false, false];
    this.#state.set([...key, 1]);
    for (let word = 0; word < WARM_UP_WORDS; word++) this.#word();
    this.#slideAll(ranks);
    for (let move = direction; move !== NO_MOVE; move = isStopped ? NO_MOVE : this.#choose(board, slip)) {
      moves++;
      board.set(this.#after[move]);
      const most = this.#gains[move] >= 2 ** goal ? Math.max(...board) : 0; // a merge makes the goal
      isMade ||= most >= goal;
      isStopped = most >= next;
      if (!isStopped) this.#spawn(board);
      if (moves >= WATCHED_BOARDS) continue;
      if (moves <= CORNER_MOVES) isOut = this.#isOut(board, watch.corner);
      if (moves <= ROOM_MOVES) room = this.#empty(board);
      if (trapped === moves && this.#isTrapped(board, watch)) trapped++;
      if (meeting === WATCHED_BOARDS && sumAbove(board, watch.pair) > sum) meeting = moves + 1;
    }
    const survived = Number(isStopped || moves >= SURVIVAL_MOVES);
    return { moves, made: Number(isMade), next_made: Number(isStopped), survived, out: Number(isOut), trapped, meeting, room };
  }

  // The player's move; NO_MOVE if none is legal.
  #choose(board, slip) {
    this.#slideAll(board);
    let [best, most] = [NO_MOVE, -Infinity];
    for (let number = 0; number < this.#gains.length; number++) {
      if (this.#gains[number] === NO_MOVE) continue;
      const worth = this.#gains[number] + this.#network.value(this.#after[number]);
      const judged = worth * (1 + slip * (this.#word() * 2 ** -31 - 1));
      if (judged > most) [best, most] = [number, judged];
    }
    return best;
  }

  #spawn(board) {
    let skip = this.#pick(this.#empty(board));
    let cell = 0;
    while (board[cell] || skip--) cell++;
    board[cell] = this.#tiles[this.#pick(this.#tiles.length)];
  }

  #pick(choices) {
    return Math.floor((this.#word() * choices) / 2 ** 32);
  }

  // The next word of sfc32.
  #word() {
    const state = this.#state;
    const word = (state[0] + state[1] + state[3]++) | 0;
    state[0] = state[1] ^ (state[1] >>> 9);
    state[1] = state[2] + (state[2] << 3);
    state[2] = ((state[2] << 21) | (state[2] >>> 11)) + word;
    return word >>> 0;
  }

  #empty(board) {
    let empty = 0;
    for (let cell = 0; cell < this.#size; cell++) if (!board[cell]) empty++;
    return empty;
  }

  #isOut(ranks, rank) {
    return this.#corners.every((cell) => ranks[cell] < rank);
  }

  #isTrapped(ranks, { small, large }) {
    return this.#edges.some(([outer, inner]) => ranks[outer] && ranks[outer] <= small && ranks[inner] >= large);
  }

  #slideAll(board) {
    for (let number = 0; number < this.#gains.length; number++) {
      this.#gains[number] = this.#slide(board, this.#orders[number], this.#after[number]);
    }
  }

  #slide(board, order, after) {
    let [points, moved] = [0, 0];
    for (let at = 0; at < order.length; at += LINE_CELLS) {
      const start = board[order[at]] | (board[order[at + 1]] << 5);
      const line = start | (board[order[at + 2]] << 10) | (board[order[at + 3]] << 15);
      let slid = this.#slid[line];
      if (!slid && line) slid = this.#fill(line);
      points += this.#points[line];
      moved |= slid ^ line;
      after[order[at]] = slid & 31;
      after[order[at + 1]] = (slid >> 5) & 31;
      after[order[at + 2]] = (slid >> 10) & 31;
      after[order[at + 3]] = slid >> 15;
    }
    return moved ? points : NO_MOVE;
  }

  // Add a line to the tables.
  #fill(line) {
    let [slid, count, open] = [0, 0, 0];
    for (let rest = line; rest; rest >>= 5) {
      const rank = rest & 31;
      const isMerged = rank && rank === open;
      if (isMerged) slid += 1 << (5 * (count - 1));
      else if (rank) slid |= rank << (5 * count++);
      if (isMerged) this.#points[line] += 2 << rank;
      if (rank) open = isMerged ? Number(this.#isCascading) && rank + 1 : rank;
    }
    this.#slid[line] = slid;
    return slid;
  }
}

// The cells of all lines. Lines are filled up to four cells with the one after the last.
function orderOf(rows, columns, direction) {
  const isVertical = direction === "up" || direction === "down";
  const isForward = direction === "up" || direction === "left";
  const [lines, length] = isVertical ? [columns, rows] : [rows, columns];
  return Uint8Array.from({ length: lines * LINE_CELLS }, (_, index) => {
    const [line, place] = [Math.floor(index / LINE_CELLS), index % LINE_CELLS];
    if (place >= length) return rows * columns;
    const along = isForward ? place : length - 1 - place;
    return isVertical ? along * columns + line : line * columns + along;
  });
}

// The sum of the tiles above a rank: it grows when two of them merge.
function sumAbove(ranks, rank) {
  return ranks.reduce((sum, each) => sum + (each > rank ? 2 ** each : 0), 0);
}
