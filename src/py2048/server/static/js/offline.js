// A casual game that continues while the server is unreachable. When the connection is back, the
// server verifies the turns. Their tiles were drawn in the browser, so the game does not count on
// any leaderboard.
import { hasTarget, legalOn, outcomeOf, playTurn, spawnOn } from "./game.js";
import * as kept from "./kept.js";
import { _ } from "./language.js";
import { parseRules, slide } from "./rules.js";
import { scoreSentence } from "./speech.js";
import { write } from "./storage.js";

// Maximum length of the turns that the server accepts in one message.
const MAX_CHARACTERS = 1000;

/** @type {import("./game.js").Draws} */
export const randomDraws = () => (choices) => {
  const [bits] = crypto.getRandomValues(new Uint32Array(1));
  return Math.floor((bits / 2 ** 32) * choices);
};

export class OfflineGame {
  #kept = kept.loadNext();
  #draws = randomDraws;
  #changed;

  /**
   * @param {(kept: {game: ?string, unsent: number}) => void} changed called when another game is
   *   kept or the number of unsent turns has changed
   */
  constructor(changed = () => {}) {
    this.#changed = changed;
    this.#tell();
  }

  /** The kept game; null if there is none. */
  get game() {
    return this.#kept?.game ?? null;
  }

  /** Number of moves that the server does not have. */
  get length() {
    return this.#kept?.record.length ?? 0;
  }

  /** Number of moves that the server has accepted. */
  get saved() {
    return this.#kept?.record.first ?? 0;
  }

  /** Keep the server's game, unless the kept game has unsent moves. */
  keep(game) {
    if (this.length || game.mode !== "casual" || !game.mine) return;
    const before = this.game?.game;
    this.#kept = kept.keptFrom({ ...game, before: game.best });
    this.#save();
    if (before !== game.game) this.#removeOthers();
    this.#tell();
  }

  /** Record the types of actions that are unanswered because the connection was lost. */
  lost(game, unanswered) {
    if (this.length || game.game !== this.game?.game) return;
    this.#kept.unanswered = unanswered;
    this.#save();
  }

  /** Load turns that another tab has played offline in this game; return whether there were any. */
  follow() {
    const found = this.#kept && kept.hasUnsent(this.game.game) && kept.load(this.game.game);
    if (!found) return false;
    this.#kept = found;
    this.#tell();
    return true;
  }

  /** Whether a stored value is the head of the kept game. */
  isStoredAs(name) {
    return this.#kept !== null && name === kept.headName(this.game.game);
  }

  /** Remove the game, including the moves made offline. */
  forget() {
    if (this.#kept) kept.remove(this.game.game);
    this.leave();
  }

  /** Forget the game on this page. It stays in storage until its player logs in again. */
  leave() {
    this.#kept = null;
    this.#tell();
  }

  /** Go on with a game that no server knows. */
  open(found, draws = randomDraws) {
    this.#kept = found;
    this.#draws = draws;
    this.#moveTo(this.game);
    kept.saveHead(found);
    this.#tell();
  }

  /** Play a move; return a message like the server's. */
  play(direction, isComputers = false) {
    const { game } = this.#kept;
    if (isComputers) game.category = "computer";
    const rules = parseRules(game.rules.text);
    const slid = slide(game.board, direction, rules.merging);
    const spawn = slid.changed ? spawnOn(rules, slid.board, direction, this.#draws(game.ply)) : null;
    return this.#take({ direction, spawn });
  }

  /** Mark the game as assisted, unless a computer player has made a move. */
  help() {
    const { game } = this.#kept;
    if (game.category === "plain") game.category = "assisted";
  }

  /** Undo the last move; null if there is none, or if the server may know it. */
  undo() {
    const { game, record, sent } = this.#kept;
    if (record.length <= sent) return null;
    this.help();
    const turn = record.undo();
    const before = record.position(record.end);
    this.#moveTo(before);
    kept.saveHead(this.#kept);
    this.#tell();
    return { ...game, events: [{ kind: "undone", ...turn }] };
  }

  /** Redo the last undone move; null if there is none. */
  redo() {
    const { record } = this.#kept;
    return record.canRedo ? this.#take(record.redo(), true) : null;
  }

  #take(turn, isRedone = false) {
    const { game, record } = this.#kept;
    const rules = parseRules(game.rules.text);
    const { position, event } = playTurn(rules, game, turn);
    const [hadWon, won] = [game.won, { tile: rules.target }];
    const isTurn = event.spawn !== null || event.points !== 0;
    if (isTurn && !isRedone) record.append(game, turn);
    this.#moveTo(position);
    if (isTurn && !isRedone) kept.saveTurn(this.#kept);
    else kept.saveHead(this.#kept);
    this.#tell();
    /** @type {object[]} */
    const events = [{ ...event, redone: isRedone }];
    if (game.won && !hadWon) events.push({ kind: "won", ...won, say: _("You made {tile}: you win.", won) });
    if (game.outcome !== "playing") events.push({ kind: "over", say: `${_("Game over.")} ${scoreSentence(game.score)}` });
    return { ...game, events };
  }

  /**
   * The messages that bring the server from a state to this game.
   * @returns {?object[]} empty if the server has all turns; null if the game continued elsewhere
   */
  messages(state) {
    if (state.mode !== "casual" || !state.mine) return null;
    const { version } = state;
    if (this.#align(state)) return this.length ? [this.#piece(version)] : [];
    const steps = this.#wayBack(state);
    if (!steps) return null;
    const back = steps.map((type, index) => ({ type, number: version + 1 + index }));
    return [...back, this.#piece(version + steps.length)];
  }

  // Drop the turns that the server has; return false if its state is not among the positions.
  #align(state) {
    const board = JSON.stringify(state.board);
    let count = 0;
    for (const position of this.#kept.record.positions()) {
      if (position.score === state.score && JSON.stringify(position.board) === board) {
        this.#drop(count, state);
        return true;
      }
      count++;
    }
    return false;
  }

  #drop(count, { version, board, score, ply }) {
    this.#kept.record.drop(count);
    Object.assign(this.#kept, { start: { version, board, score, ply }, unanswered: [], sent: 0 });
    kept.removeTaken(this.#kept, count);
    kept.saveHead(this.#kept);
    this.#tell();
  }

  // The undos or redos that return the server to the start of the record, if it has performed
  // actions whose answers were lost; null if that is impossible.
  #wayBack({ version, ply }) {
    const { start, unanswered, record } = this.#kept;
    const done = version - start.version;
    const types = new Set(unanswered.filter((type) => type !== "hint"));
    if (done < 1 || done > unanswered.length || types.size !== 1 || !record.length) return null;
    const count = unanswered.includes("hint") ? Math.abs(ply - start.ply) : done;
    return Array(count).fill(types.has("undo") ? "redo" : "undo");
  }

  // The next turns for a server whose game is at this version.
  #piece(version) {
    const { text, count } = this.#kept.record.piece(MAX_CHARACTERS);
    this.#kept.sent = count;
    kept.saveHead(this.#kept);
    return { type: "offline", number: version + 1, turns: text, category: this.game.category };
  }

  #moveTo({ board, score, ply }) {
    const { game, record, sent } = this.#kept;
    const rules = parseRules(game.rules.text);
    const outcome = outcomeOf(rules, board);
    const legal = outcome === "playing" ? legalOn(board) : [];
    const help = { can_undo: game.mode === "casual" && record.length > sent, can_redo: record.canRedo, autoplay: null };
    Object.assign(game, { board, score, ply, outcome, won: hasTarget(rules, board), legal, ...help });
    game.best = Math.max(game.before ?? game.best, game.category === "computer" ? 0 : score);
    if (game.isLocal) write(`best ${game.rules.name}`, String(game.best));
  }

  // Store a game without turns, unless another tab has stored turns of it for the server.
  #save() {
    if (!kept.hasUnsent(this.game.game)) kept.saveHead(this.#kept);
  }

  // Remove other games from storage if they have no unsent turns.
  #removeOthers() {
    for (const id of kept.ids()) {
      if (id !== this.game.game && !kept.hasUnsent(id)) kept.remove(id);
    }
  }

  #tell() {
    this.#changed({ game: this.game?.game ?? null, unsent: this.length });
  }
}
