// A casual game that continues while the server is away: what the server does otherwise, and the turns
// that it verifies when it is back. The server does not know tiles that appear here, so the game counts on
// no leaderboard. Where no server is at all, a game also begins here.
import { _, grouped, signed } from "./language.js";
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

/** The board on which a game begins. */
export function startOn({ rows, columns, start }, pick) {
  const board = Array.from({ length: rows }, () => Array(columns).fill(0));
  const [least, most = least] = start.counts;
  for (let left = least + pick(most - least + 1); left > 0; left--) {
    const { tile, cell } = spawnOn({ spawn: { kind: "random", weights: start.weights } }, board, null, pick);
    board[cell[0]][cell[1]] = tile;
  }
  return board;
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

/** What a turn in the notation of records says. */
function turnOf(code, { columns }) {
  const direction = DIRECTIONS.find((each) => each[0] === code[0].toLowerCase());
  if (code.length === 1) return { direction, spawn: null };
  const number = [...code.slice(2)].reduce((sum, digit) => 64 * sum + DIGITS.indexOf(digit), 0);
  const cell = [Math.floor(number / columns), number % columns];
  return { direction, spawn: { tile: 2 ** DIGITS.indexOf(code[1]), cell } };
}

/** A position after a turn. */
function after(rules, { board, score, ply }, { direction, spawn }) {
  const slid = slide(board, direction, rules.merging);
  if (spawn) slid.board[spawn.cell[0]][spawn.cell[1]] = spawn.tile;
  return { slid, board: slid.board, score: scoreAfter(rules.scoring, score, slid), ply: ply + slid.changed };
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

  /** Begin a game that no server knows. */
  begin(rules) {
    const parsed = parseRules(rules.text);
    const best = Number(read(`best ${rules.name}`, "0"));
    const game = { game: String(Date.now()), version: 0, mode: "casual", mine: true, isLocal: true };
    const position = { board: startOn(parsed, drawn), score: 0, ply: 0 };
    if (this.#kept) this.forget();
    this.#kept = { game: { ...game, ...position }, start: startOf({ ...game, ...position }), unanswered: [], turns: [] };
    Object.assign(this.#kept.game, { rules: { ...rules, target: parsed.target }, best, category: "plain" });
    this.#come(position);
  }

  /** Play a move, or let the computer play it; return what happened as the server tells it. */
  play(direction, isComputers = false) {
    const { game } = this.#kept;
    if (!game.isLocal) game.category = "offline";
    else if (isComputers) game.category = "computer";
    const rules = parseRules(game.rules.text);
    const slid = slide(game.board, direction, rules.merging);
    const spawn = slid.changed ? spawnOn(rules, slid.board, direction, drawn) : null;
    return this.#take({ direction, spawn });
  }

  /** Take the last move back that the server does not know; null if there is none. */
  undo() {
    const { turns, undone = [], sent = 0, start, game } = this.#kept;
    if (turns.length <= sent) return null;
    undone.push(turns.pop());
    this.#kept.undone = undone;
    const rules = parseRules(game.rules.text);
    const turn = turnOf(undone.at(-1), rules);
    const { direction } = turn;
    const before = turns.reduce((position, code) => after(rules, position, turnOf(code, rules)), start);
    const { slid } = after(rules, before, turn);
    const motions = slid.motions.map(({ source, target }) => ({ source: target, target: source }));
    this.#come(before);
    const way = WAYS[direction].toLowerCase();
    const say = `${_("Undone: {direction}.", { direction: way })} ${_("Score {score}.", { score: grouped(before.score) })}`;
    return { ...game, events: [{ kind: "undone", direction, motions, say }] };
  }

  /** Play the move again that was taken back last; null if there is none. */
  redo() {
    const code = this.#kept.undone?.pop();
    return code ? this.#take(turnOf(code, parseRules(this.game.rules.text)), true) : null;
  }

  #take({ direction, spawn }, redone = false) {
    const { game, turns } = this.#kept;
    const rules = parseRules(game.rules.text);
    const next = after(rules, game, { direction, spawn });
    const points = next.score - game.score;
    const hadWon = game.won;
    if (spawn || points) {
      turns.push(codeOf(direction, spawn, rules));
      if (!redone) this.#kept.undone = [];
    }
    this.#come(next);
    const kind = spawn ? "moved" : "nothing_moved";
    const event = { kind, direction, redone, points, spawn, say: said(direction, points, spawn, next.score) };
    const events = [spawn ? { ...event, motions: next.slid.motions } : event];
    if (game.won && !hadWon) {
      events.push({ kind: "won", tile: rules.target, say: _("You made {tile}: you win.", { tile: rules.target }) });
    }
    if (game.outcome !== "playing") events.push({ kind: "over", say: `${_("Game over.")} ${_("Score {score}.", { score: grouped(next.score) })}` });
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
    let position = start;
    for (let count = 0; ; count++) {
      if (position.score === state.score && JSON.stringify(position.board) === JSON.stringify(state.board)) {
        this.saved += count;
        Object.assign(this.#kept, { start: startOf(state), unanswered: [], turns: turns.slice(count), sent: 0 });
        this.#write();
        return true;
      }
      if (count === turns.length) return false;
      position = after(rules, position, turnOf(turns[count], rules));
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
    let [text, sent] = ["", 0];
    for (const turn of this.#kept.turns) {
      if (text.length + turn.length > MAX_CHARACTERS) break;
      text += turn;
      sent++;
    }
    this.#kept.sent = sent; // the server may have these: they are not taken back any more
    return { type: "offline", number: version + 1, turns: text };
  }

  // Have the game at a position, and keep it.
  #come({ board, score, ply }) {
    const { game, turns, undone, sent = 0 } = this.#kept;
    const rules = parseRules(game.rules.text);
    const outcome = outcomeOf(rules, board);
    const won = rules.target !== null && Math.max(...board.flat()) >= rules.target;
    const legal = outcome === "playing" ? legalOn(board) : [];
    const help = { can_undo: turns.length > sent, can_redo: Boolean(undone?.length), autoplay: null };
    Object.assign(game, { board, score, ply, outcome, won, legal, ...help });
    if (game.isLocal && game.category === "plain" && score > game.best) {
      game.best = score;
      write(`best ${game.rules.name}`, String(score));
    }
    this.#write();
  }

  #write() {
    const { game } = this.game;
    const all = stored();
    if (all[game]?.turns.length && !this.length) return; // another tab's, for the server
    const others = Object.entries(all).filter(([id, { turns }]) => id !== game && turns.length);
    write(KEPT, JSON.stringify({ ...Object.fromEntries(others), [game]: this.#kept }));
  }
}

const startOf = ({ version, ply, board, score }) => ({ version, ply, board, score });

/** The score after a turn whose tile is on the board. */
export function scoreAfter(scoring, score, slid) {
  const points = scoreOf(scoring, slid);
  if (points !== null) return score + points;
  return slid.changed ? slid.board.flat().reduce((sum, tile) => sum + tile, 0) : score;
}

function said(direction, points, spawn, score) {
  const name = WAYS[direction];
  const total = _("Score {score}.", { score: grouped(score) });
  if (!spawn) return [_("{direction}: nothing moves.", { direction: name }), ...(points ? [total] : [])].join(" ");
  const [row, column] = spawn.cell.map((index) => index + 1);
  const place = _("row {row}, column {column}", { row, column });
  const gain = points ? `${name}: ${signed(points)}.` : `${name}.`;
  return `${gain} ${_("A {tile} at {place}.", { tile: spawn.tile, place })} ${total}`;
}
