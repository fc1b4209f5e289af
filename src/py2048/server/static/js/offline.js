// A casual game that continues while the server is away: what the server does otherwise, and the turns
// that it verifies when it is back. The server does not know tiles that appear here, so the game counts on
// no leaderboard.
import { _, signed } from "./language.js";
import { parseRules, scoreOf, slide } from "./rules.js";
import { read, write } from "./settings.js";
import { DIRECTIONS, WAYS } from "./ways.js";

const KEPT = "casual-games";
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
const MAX_CHARACTERS = 1000;

/** The directions that change a board. */
export function legalOn(board) {
  return DIRECTIONS.filter((direction) => slide(board, direction, "once").changed);
}

/** The outcome of a game with a board. */
export function outcomeOf({ target, endsAtTarget }, board) {
  const won = target !== null && Math.max(...board.flat()) >= target;
  if (!(won && endsAtTarget) && legalOn(board).length) return "playing";
  if (target === null) return "ended";
  return won ? "won" : "lost";
}

/**
 * The tile that appears after a slide.
 * @param {(choices: number) => number} pick draws a number below `choices`
 */
export function spawnOn({ spawn }, board, direction, pick) {
  const cells = possibleCells(spawn.kind, board, direction);
  const total = spawn.weights.reduce((sum, [, weight]) => sum + weight, 0);
  let left = pick(total);
  const [tile] = spawn.weights.find(([, weight]) => (left -= weight) < 0);
  return { tile, cell: cells[pick(cells.length)] };
}

function possibleCells(kind, board, direction) {
  const [rows, columns] = [board.length, board[0].length];
  const isFree = ([row, column]) => !board[row][column];
  const all = board.flatMap((line, row) => line.map((_, column) => [row, column])).filter(isFree);
  if (kind === "edge") {
    const edges = {
      up: Array.from({ length: columns }, (_, index) => [rows - 1, columns - 1 - index]),
      down: Array.from({ length: columns }, (_, index) => [0, index]),
      left: Array.from({ length: rows }, (_, index) => [index, columns - 1]),
      right: Array.from({ length: rows }, (_, index) => [rows - 1 - index, 0]),
    };
    return edges[direction].filter(isFree).slice(0, 1);
  }
  return all;
}

/** A turn in the notation of records; without a tile an attempt that cost points. */
export function codeOf(direction, spawn, { rows, columns }) {
  if (!spawn) return direction[0];
  const number = spawn.cell[0] * columns + spawn.cell[1];
  const cell = rows * columns <= 64 ? DIGITS[number] : DIGITS[number >> 6] + DIGITS[number & 63];
  return direction[0].toUpperCase() + DIGITS[Math.log2(spawn.tile)] + cell;
}

/** The board and the score after a turn in the notation of records. */
function after(rules, board, score, code) {
  const direction = DIRECTIONS.find((each) => each[0] === code[0].toLowerCase());
  const slid = slide(board, direction, rules.merging);
  if (code.length > 1) {
    const number = [...code.slice(2)].reduce((sum, digit) => 64 * sum + DIGITS.indexOf(digit), 0);
    slid.board[Math.floor(number / rules.columns)][number % rules.columns] = 2 ** DIGITS.indexOf(code[1]);
  }
  return { board: slid.board, score: scoreAfter(rules.scoring, score, slid) };
}

function drawn(choices) {
  const [bits] = crypto.getRandomValues(new Uint32Array(1));
  return Math.floor((bits / 2 ** 32) * choices);
}

// Other tabs of this browser may play games of their own: each game is kept beside the others.
function stored() {
  try {
    return JSON.parse(read(KEPT, "{}"));
  } catch {
    return {}; // not of ours
  }
}

export class OfflineGame {
  #kept;

  /** How many of the moves the server has taken over. */
  saved = 0;

  constructor() {
    const all = Object.values(stored());
    this.#kept = all.find(({ turns }) => turns.length) ?? all.at(-1) ?? null;
  }

  /** The game as it was when it was last seen, or played on to; null if there is none. */
  get game() {
    return this.#kept?.game ?? null;
  }

  /** How many moves the server does not know. */
  get length() {
    return this.#kept?.turns.length ?? 0;
  }

  /** Keep a game as the server has it, unless one waits for the server. */
  keep(game) {
    if (this.length || game.mode !== "casual" || !game.mine) return;
    const { events, ...position } = game;
    this.#kept = { game: position, start: startOf(game), unanswered: [], turns: [] };
    this.#write();
  }

  /** The connection is gone; of the actions of these types no answer came. */
  lost(game, unanswered) {
    if (this.length || game.game !== this.game?.game) return;
    this.#kept.unanswered = unanswered;
    this.#write();
  }

  /** Take over what another tab has played in this game without the server; say whether it has. */
  follow() {
    const found = stored()[this.game?.game];
    if (!found?.turns.length) return false;
    this.#kept = found;
    return true;
  }

  /** Forget the moves that were made without the server. */
  forget() {
    const { [this.game?.game]: _, ...others } = stored();
    write(KEPT, JSON.stringify(others));
    this.leave();
  }

  /** Leave the game, with the moves that wait for the server, to whose it is. */
  leave() {
    this.#kept = null;
    this.saved = 0;
  }

  /** Play a move; return what happened as the server tells it. */
  play(direction) {
    const { game } = this.#kept;
    const rules = parseRules(game.rules.text);
    const slid = slide(game.board, direction, rules.merging);
    const spawn = slid.changed ? spawnOn(rules, slid.board, direction, drawn) : null;
    if (spawn) slid.board[spawn.cell[0]][spawn.cell[1]] = spawn.tile;
    const score = scoreAfter(rules.scoring, game.score, slid);
    const points = score - game.score;
    const hadWon = game.won;
    if (spawn || points) this.#kept.turns.push(codeOf(direction, spawn, rules));
    Object.assign(game, this.#position(rules, slid.board, score, game.ply + slid.changed));
    this.#write();
    const kind = spawn ? "moved" : "nothing_moved";
    const event = { kind, direction, redone: false, points, spawn, say: said(direction, points, spawn, score) };
    const events = [spawn ? { ...event, motions: slid.motions } : event];
    if (game.won && !hadWon) {
      events.push({ kind: "won", tile: rules.target, say: _("You made {tile}: you win.", { tile: rules.target }) });
    }
    if (game.outcome !== "playing") events.push({ kind: "over", say: `${_("Game over.")} ${_("Score {score}.", { score })}` });
    return { ...game, events };
  }

  /**
   * What is to be sent to a server that has the game in a state.
   * @returns {?object[]} messages; none if the server has all; null if the game is another by now
   */
  messages(state) {
    if (state.mode !== "casual" || !state.mine) return null;
    const { version } = state;
    if (this.#align(state)) return this.length ? [this.#next(version)] : [];
    const steps = this.#wayBack(state);
    if (!steps) return null;
    const back = steps.map((type, index) => ({ type, number: version + 1 + index }));
    return [...back, this.#next(version + steps.length)];
  }

  // Drop the turns that the server has already; say whether its state is on the way from the start
  // to here at all.
  #align(state) {
    const { start, turns, game } = this.#kept;
    const rules = parseRules(game.rules.text);
    let { board, score } = start;
    for (let count = 0; ; count++) {
      if (score === state.score && JSON.stringify(board) === JSON.stringify(state.board)) {
        this.saved += count;
        Object.assign(this.#kept, { start: startOf(state), unanswered: [], turns: turns.slice(count) });
        this.#write();
        return true;
      }
      if (count === turns.length) return false;
      ({ board, score } = after(rules, board, score, turns[count]));
    }
  }

  // What leads a server back that has done actions whose answers got lost; null if nothing does.
  #wayBack({ version, ply }) {
    const { start, unanswered, turns } = this.#kept;
    const done = version - start.version;
    const types = new Set(unanswered.filter((type) => type !== "hint"));
    if (done < 1 || done > unanswered.length || types.size !== 1 || !turns.length) return null;
    const count = unanswered.includes("hint") ? Math.abs(ply - start.ply) : done;
    return Array(count).fill(types.has("undo") ? "redo" : "undo");
  }

  // The next piece of the moves, for a server that has the game at a version.
  #next(version) {
    let text = "";
    for (const turn of this.#kept.turns) {
      if (text.length + turn.length > MAX_CHARACTERS) break;
      text += turn;
    }
    return { type: "offline", number: version + 1, turns: text };
  }

  #position(rules, board, score, ply) {
    const outcome = outcomeOf(rules, board);
    const won = rules.target !== null && Math.max(...board.flat()) >= rules.target;
    const legal = outcome === "playing" ? legalOn(board) : [];
    const help = { can_undo: false, can_redo: false, autoplay: null, category: "offline" };
    return { board, score, ply, outcome, won, legal, ...help };
  }

  #write() {
    const { game } = this.game;
    const all = stored();
    if (all[game]?.turns.length && !this.length) return; // another tab's, for the server
    const others = Object.entries(all).filter(([id, { turns }]) => id !== game && turns.length);
    write(KEPT, JSON.stringify({ ...Object.fromEntries(others), [game]: this.#kept }));
  }
}

function startOf({ version, ply, board, score }) {
  return { version, ply, board, score };
}

/** The score after a turn whose tile is on the board. */
export function scoreAfter(scoring, score, slid) {
  const points = scoreOf(scoring, slid);
  if (points !== null) return score + points;
  return slid.changed ? slid.board.flat().reduce((sum, tile) => sum + tile, 0) : score;
}

function said(direction, points, spawn, score) {
  const name = WAYS[direction];
  const total = _("Score {score}.", { score });
  if (!spawn) return [_("{direction}: nothing moves.", { direction: name }), ...(points ? [total] : [])].join(" ");
  const [row, column] = spawn.cell.map((index) => index + 1);
  const place = _("row {row}, column {column}", { row, column });
  const gain = points ? `${name}: ${signed(points)}.` : `${name}.`;
  return `${gain} ${_("A {tile} at {place}.", { tile: spawn.tile, place })} ${total}`;
}
