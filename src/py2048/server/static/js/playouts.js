// Games played on from a move by a player of a level, and what is counted in them: the same draws and
// the same counts as in `review/playouts.py`. A board is a Uint8Array of ranks, row by row, and a 0
// after the last cell. Its sides have at most four cells.
import { DIRECTIONS } from "./rules.js";

/**
 * @typedef {Uint8Array} Ranks
 * @typedef {{corner: number, small: number, large: number, pair: number}} Watch
 */

/** The columns of the counts. */
export const [GAMES, MOVES, MADE, NEXT_MADE, SURVIVED, OUT, TRAPPED, , MEETING, , ROOM] = Array(12).keys();
/** The number of columns. A sum of squares follows each sum of `TRAPPED`, `MEETING` and `ROOM`. */
export const COLUMNS = 12;

const WATCHED_BOARDS = 20;
const [SURVIVAL_MOVES, CORNER_MOVES, ROOM_MOVES] = [20, 10, 5];
const LINE_CELLS = 4;
const WARM_UP_WORDS = 12;
const NO_MOVE = -1;

// The random words of a game: sfc32.
class Draws {
  #a = 0;
  #b = 0;
  #c = 0;
  #counter = 0;

  restart(seed, ply, game) {
    this.#a = seed;
    this.#b = ply;
    this.#c = game;
    this.#counter = 1;
    for (let count = 0; count < WARM_UP_WORDS; count++) this.word();
  }

  word() {
    const word = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + word) | 0;
    return word >>> 0;
  }

  pick(choices) {
    return Math.floor((this.word() * choices) / 2 ** 32);
  }
}

export class Playouts {
  #network;
  #size;
  #isCascading;
  #tiles; // the rank of the spawn for each choice among the weights
  #corners;
  #edges; // pairs of a cell on an edge and the next cell inwards
  #orders; // for each direction, the cells of all lines, each line from the wall on
  #slid = new Int32Array(1 << (5 * LINE_CELLS)); // by line, five bits a cell; filled when they are needed
  #points = new Int32Array(1 << (5 * LINE_CELLS));
  #draws = new Draws();
  /** @type {Ranks[]} the boards after each direction */
  #after;
  #worth = new Float64Array(4); // the points of each direction, or NO_MOVE

  /**
   * @param {import("./rules.js").Rules} rules
   * @param {import("./network.js").Network} network
   */
  constructor({ rows, columns, merging, spawn }, network) {
    this.#network = network;
    this.#size = rows * columns;
    this.#isCascading = merging === "cascade";
    const weights = [...spawn.weights].sort(([one], [other]) => one - other);
    this.#tiles = Uint8Array.from(weights.flatMap(([tile, weight]) => Array(weight).fill(Math.log2(tile))));
    this.#corners = [0, columns - 1, this.#size - columns, this.#size - 1];
    this.#orders = DIRECTIONS.map((direction) => orderOf(rows, columns, direction));
    this.#edges = this.#orders.flatMap((order) => {
      const first = [...order.keys()].filter((at) => at % LINE_CELLS === 0 && order[at + 1] < this.#size);
      return first.map((at) => [order[at], order[at + 1]]);
    });
    this.#after = DIRECTIONS.map(() => new Uint8Array(this.#size + 1));
  }

  /** The ranks of a board's tiles. */
  ranks(board) {
    return Uint8Array.from([...board.flat().map((tile) => tile && Math.log2(tile)), 0]);
  }

  /**
   * The legal moves of a board with their values in points and the boards after them.
   * @param {Ranks} ranks
   */
  rate(ranks) {
    this.#slideAll(ranks);
    return DIRECTIONS.map((direction, number) => {
      const [points, after] = [this.#worth[number], this.#after[number].slice()];
      return { direction, number, after, worth: points === NO_MOVE ? null : points + this.#network.value(after) };
    }).filter(({ worth }) => worth !== null);
  }

  /**
   * Play a game on from a move, and add what is counted in it to `sums`, of `COLUMNS` numbers.
   * @param {Ranks} ranks before the move
   * @param {number} direction
   * @param {{seed: number, ply: number, game: number}} key of the game's random words
   * @param {{slip: number, goal: number, next: number, watch: Watch}} facts how far the
   *   player misjudges moves; the ranks of the two goals; the ranks to watch
   * @param {Float64Array} sums
   */
  play(ranks, direction, { seed, ply, game }, { slip, goal, next, watch }, sums) {
    const sum = sumAbove(ranks, watch.pair);
    const board = ranks.slice();
    let [count, trapped, meeting, room] = [0, 0, WATCHED_BOARDS, 0];
    let [isMade, isStopped, isOut] = [false, false, false];
    this.#draws.restart(seed, ply, game);
    this.#slideAll(ranks);
    for (let move = direction; move !== NO_MOVE; count++) {
      const points = this.#worth[move];
      board.set(this.#after[move]);
      isMade ||= points >= 2 ** goal && largest(board) >= goal;
      isStopped = points >= 2 ** next && largest(board) >= next;
      if (!isStopped) this.#spawn(board);
      if (count < WATCHED_BOARDS) {
        if (count <= CORNER_MOVES) isOut = this.#isOut(board, watch.corner);
        if (count <= ROOM_MOVES) room = this.#empty(board);
        if (trapped === count && this.#isTrapped(board, watch)) trapped++;
        if (meeting === WATCHED_BOARDS && sumAbove(board, watch.pair) > sum) meeting = count + 1;
      }
      move = isStopped ? NO_MOVE : this.#choose(board, slip);
    }
    const moves = count - 1;
    sums[GAMES]++;
    sums[MOVES] += moves;
    sums[MADE] += Number(isMade);
    sums[NEXT_MADE] += Number(isStopped);
    sums[SURVIVED] += Number(isStopped || moves >= SURVIVAL_MOVES);
    sums[OUT] += Number(isOut);
    for (const [column, value] of [[TRAPPED, trapped], [MEETING, meeting], [ROOM, room]]) {
      sums[column] += value;
      sums[column + 1] += value * value;
    }
  }

  /**
   * The ranks that the counts refer to, as `watch` in `review/reasons.py`; 0 if there are none.
   * @param {Ranks} ranks
   * @returns {Watch}
   */
  watch(ranks) {
    const most = largest(ranks);
    const left = this.rate(ranks).map(({ after }) => new Set(this.#traps(after, most)));
    const isTelling = (trap) => left.some((traps) => !traps.has(trap));
    const traps = left.flatMap((each) => [...each]).sort((one, other) => other - one);
    const trap = traps.find(isTelling) ?? traps[0];
    const least = this.#tiles.at(-1) + 1;
    const pairs = ranks.filter((rank, cell) => rank >= least && ranks.indexOf(rank) < cell);
    return {
      corner: this.#isOut(ranks, most) ? 0 : most,
      small: trap ? 31 - (trap & 31) : 0,
      large: trap >> 5,
      pair: Math.max(0, ...pairs),
    };
  }

  // The small tiles on an edge behind a large one, as numbers: the telling ones are the largest.
  #traps(ranks, most) {
    const pairs = this.#edges.map(([outer, inner]) => [ranks[outer], ranks[inner]]);
    const traps = pairs.filter(([small, large]) => small && large >= small + 3 && large + 2 >= most);
    return traps.map(([small, large]) => (large << 5) | (31 - small));
  }

  #isOut(ranks, rank) {
    return Math.max(...this.#corners.map((cell) => ranks[cell])) < rank;
  }

  #isTrapped(ranks, { small, large }) {
    return this.#edges.some(([outer, inner]) => ranks[outer] && ranks[outer] <= small && ranks[inner] >= large);
  }

  // The player's move; NO_MOVE if none is legal.
  #choose(board, slip) {
    this.#slideAll(board);
    let [best, most] = [NO_MOVE, -Infinity];
    for (let number = 0; number < 4; number++) {
      if (this.#worth[number] === NO_MOVE) continue;
      const value = this.#worth[number] + this.#network.value(this.#after[number]);
      const judged = value * (1 + slip * (this.#draws.word() * 2 ** -31 - 1));
      if (judged > most) {
        best = number;
        most = judged;
      }
    }
    return best;
  }

  #spawn(board) {
    let skip = this.#draws.pick(this.#empty(board));
    let cell = 0;
    while (board[cell] || skip--) cell++;
    board[cell] = this.#tiles[this.#draws.pick(this.#tiles.length)];
  }

  #empty(board) {
    let empty = 0;
    for (let cell = 0; cell < this.#size; cell++) if (!board[cell]) empty++;
    return empty;
  }

  #slideAll(board) {
    for (let number = 0; number < 4; number++) {
      this.#worth[number] = this.#slide(board, this.#orders[number], this.#after[number]);
    }
  }

  // Slide a board into another one; return the points, or NO_MOVE if nothing moves.
  #slide(board, order, after) {
    let points = 0;
    let moved = 0;
    for (let at = 0; at < order.length; at += LINE_CELLS) {
      const low = board[order[at]] | (board[order[at + 1]] << 5);
      const line = low | (board[order[at + 2]] << 10) | (board[order[at + 3]] << 15);
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

  #fill(line) {
    let [slid, count, open] = [0, 0, 0];
    for (let rest = line; rest; rest >>>= 5) {
      const rank = rest & 31;
      if (!rank) continue;
      if (rank === open) {
        slid += 1 << (5 * (count - 1));
        this.#points[line] += 2 ** (rank + 1);
        open = this.#isCascading ? rank + 1 : 0;
      } else {
        slid |= rank << (5 * count++);
        open = rank;
      }
    }
    this.#slid[line] = slid;
    return slid;
  }
}

// The cells of all lines. Each is filled up to four with the cell after the last.
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

function largest(ranks) {
  let most = 0;
  for (let cell = 0; cell < ranks.length; cell++) if (ranks[cell] > most) most = ranks[cell];
  return most;
}

// The sum of the tiles above a rank: it grows when two of them merge.
function sumAbove(ranks, rank) {
  let sum = 0;
  for (let cell = 0; cell < ranks.length; cell++) if (ranks[cell] > rank) sum += 2 ** ranks[cell];
  return sum;
}
