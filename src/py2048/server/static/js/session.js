// What the page for playing knows of its connection and its game. `reduce` is a pure function of a
// state and a message; the page carries out the effects that it returns.
//
//   connecting  the server has not described the game on the board
//   online      the board shows the server's game, and actions go to the server
//   alone       the server is away, and the kept casual game goes on without it
//   syncing     the server verifies the moves that were made without it
//   loggedOut   the server refuses this browser's session
import { RETRYABLE } from "./connection.js";

/**
 * @typedef {"connecting" | "online" | "alone" | "syncing" | "loggedOut"} Phase
 *
 * @typedef {Partial<Protocol.StateMessage> & {isLocal?: boolean, before?: number}} Game
 *
 * @typedef {object} Session
 * @property {Phase} phase
 * @property {boolean} hasServer false for a page from a disk or a static site, which plays alone
 * @property {?Game} game the game on the board; only `reduce` changes it
 * @property {{game: ?string, unsent: number}} kept the game for offline play and its unsent moves
 * @property {{game?: ?string, mode?: ?string, rules?: ?string}} wish from the query of the page's address
 * @property {?string} [current] the game that the server suggests; undefined until it has greeted
 * @property {boolean} isConfirmed whether the server has described a game to this page
 * @property {boolean} isAway whether the connection has failed since the last state
 * @property {string[]} unanswered types of the actions that lost connections left without an answer
 *
 * @typedef {{type: string, [field: string]: any}} Message from the server or from the page
 * @typedef {{type: string, [field: string]: any}} Effect
 * @typedef {{state: Session, effects: Effect[]}} Step
 */

const NOT_OURS = ["unknown_game", "not_yours"];
const WISHED_MODES = ["daily", "ranked"];

/**
 * The initial session of a page.
 * @param {Session["wish"]} wish
 * @param {boolean} [hasServer]
 * @returns {Session}
 */
export function initial(wish, hasServer = true) {
  const kept = { game: null, unsent: 0 };
  const known = { isConfirmed: false, isAway: false, unanswered: [] };
  return { phase: "connecting", hasServer, game: null, kept, wish, ...known };
}

/**
 * Return the state after a message, and the effects for the page to run.
 * @param {Session} state
 * @param {Message} message
 * @returns {Step}
 */
export function reduce(state, message) {
  const handle = HANDLERS[message.type];
  const step = handle ? handle(state, message) : stay(state);
  return { ...step, state: settled(step.state) };
}

/**
 * Apply a message's changes to a game.
 * @param {Game} game
 * @param {any} message
 * @returns {Game}
 */
export function merged(game, { type, events, ...changes }) {
  return { ...game, ...changes };
}

/** @type {{[type: string]: (state: Session, message: any) => Step}} */
const HANDLERS = {
  // from the server
  hello: (state, { current }) => enter({ ...state, current }, [{ type: "clearNote" }]),
  state: (state, message) => {
    const confirmed = { ...state, isConfirmed: true };
    const isUnsent = state.kept.unsent && message.game === state.kept.game;
    if (!isUnsent) return arrive(confirmed, message);
    return step({ ...confirmed, phase: "syncing" }, { type: "stopRetry" }, { type: "reconcile", state: message });
  },
  events: (state, message) => {
    if (!isOnBoard(state, message) || state.phase === "syncing") return stay(state);
    const game = merged(state.game, message);
    return step({ ...state, game }, { type: "animate", before: state.game, message });
  },
  hint: (state, message) => {
    if (!isOnBoard(state, message)) return stay(state);
    const game = { ...state.game, version: message.version };
    return step({ ...state, game }, { type: "showHint", hint: message });
  },
  refused: (state, message) => (state.phase === "syncing" ? syncRefused(state, message) : refused(state, message)),

  // from the page
  lost,
  /** The retry timer has fired. */
  retry: (state) => enter(state),
  /** `messages` bring the server up to date; null means that the game was continued elsewhere. */
  reconciled: (state, { state: game, messages, saved, unsent }) => {
    if (messages?.length) return step(state, ...messages.map((message) => ({ type: "send", message })));
    const news = messages ? { type: "tellSaved", count: saved } : { type: "tellLost", count: unsent };
    return arrive({ ...state, unanswered: [] }, game, [{ type: "forget" }], [news]);
  },
  /** Another game is kept, or its number of unsent moves has changed. */
  kept: (state, { game, unsent }) => stay({ ...state, kept: { game, unsent } }),
  /** Put the kept game on the board. */
  resumed: (state, { game }) => {
    const isFresh = !isOnBoard(state, game);
    return step({ ...state, game: { ...game } }, { type: "draw", isFresh });
  },
  /** A move was made, undone or redone offline. */
  played: (state, { message }) => {
    const game = merged(state.game, message);
    return step({ ...state, game }, { type: "animateAlone", before: state.game, message });
  },
};

/**
 * @param {Session} state
 * @param {...Effect} effects
 * @returns {Step}
 */
function step(state, ...effects) {
  return { state, effects };
}

const stay = (state) => step(state);

const isOnBoard = (state, { game }) => state.game !== null && state.game.game === game;

// Without the server, only the kept game can continue.
function settled(state) {
  if (!["connecting", "alone"].includes(state.phase)) return state;
  const isKept = state.game !== null && state.game.game === state.kept.game;
  return { ...state, phase: isKept ? "alone" : "connecting" };
}

/**
 * Open the first game there is: one with unsent moves, the one on the board, the one in the address, or
 * the server's suggestion.
 * @param {Session} state
 * @param {Effect[]} effects
 */
function enter(state, effects = []) {
  const { kept, game, wish, current } = state;
  const unsent = kept.unsent ? kept.game : null;
  const shown = state.isConfirmed ? game?.game : null; // ignore kept games shown offline
  const next = { ...state, phase: /** @type {Phase} */ (unsent ? "syncing" : "connecting") };
  const mode = WISHED_MODES.find((name) => name === wish.mode);
  const wanted = unsent ?? shown ?? wish.game ?? current;
  const rules = (mode === "ranked" && wish.rules) || "classic";
  /** @type {Effect} */
  let ask = { type: "startUsual" };
  if (!unsent && !shown && mode) ask = { type: "start", rules, mode };
  else if (wanted) ask = open(wanted);
  return step(next, ask, ...effects);
}

const open = (game) => ({ type: "send", message: { type: "open", game } });

/**
 * Show the server's game and go online.
 * @param {Session} state
 * @param {Protocol.StateMessage} message
 * @param {Effect[]} before
 * @param {Effect[]} after
 */
function arrive(state, message, before = [], after = []) {
  const isFresh = !isOnBoard(state, message);
  const wasOnline = state.phase === "online";
  const effects = [...before, { type: "stopRetry" }, { type: "draw", isFresh, isBack: state.isAway }];
  if (isFresh || !wasOnline) effects.push({ type: "restartQueue", version: message.version });
  else effects.push({ type: "correctQueue", version: message.version });
  if (!isFresh && !wasOnline) {
    const made = Math.max(0, message.version - state.game.version);
    effects.push({ type: "tellUnmade", count: Math.max(0, state.unanswered.length - made) });
  }
  effects.push({ type: "welcome", isFresh }, ...after);
  const wish = isFresh ? {} : state.wish;
  return step({ ...state, phase: "online", game: message, wish, isAway: false, unanswered: [] }, ...effects);
}

/**
 * @param {Session} state
 * @param {{isLoggedOut: boolean, unanswered: string[]}} message
 */
function lost(state, { isLoggedOut, unanswered }) {
  const all = [...state.unanswered, ...unanswered];
  const phase = /** @type {Phase} */ (isLoggedOut ? "loggedOut" : "connecting");
  const effects = [{ type: "stopRetry" }, { type: "retract" }];
  if (state.phase === "online") effects.push({ type: "stopAutoplay" });
  if (isLoggedOut) effects.push({ type: "tellLoggedOut" });
  else {
    if (!state.game && state.kept.game) effects.push({ type: "resume" });
    effects.push({ type: "tellAway", isNews: !state.isAway, unanswered: all });
  }
  return step({ ...state, phase, isAway: true, unanswered: all }, ...effects);
}

/**
 * @param {Session} state
 * @param {Protocol.RejectedMessage} message
 */
function refused(state, message) {
  const { reason, of } = message;
  const isWaiting = state.phase !== "online";
  const game = message.state ?? state.game;
  /** @type {Effect[]} */
  const effects = [{ type: "refuse", before: state.game, message }];
  if (NOT_OURS.includes(reason)) {
    effects.push({ type: "clearAddress" });
    const isOfOther = ["open", "battle"].includes(of);
    if (isWaiting || !isOfOther) return beginAnew(state, effects);
    return step({ ...state, game, wish: {} }, ...effects);
  }
  if (isWaiting && RETRYABLE.includes(reason)) effects.push({ type: "retryLater", ms: message.retry_ms });
  return step({ ...state, game }, ...effects);
}

/**
 * Handle a rejection of moves made offline.
 * @param {Session} state
 * @param {Protocol.RejectedMessage} message
 */
function syncRefused(state, { reason, retry_ms: ms, message }) {
  if (reason === "gap") return step(state, { type: "retryLater", ms });
  if (RETRYABLE.includes(reason)) return step(state, { type: "retryLater", ms }, { type: "note", text: message });
  const { game, unsent } = state.kept;
  const next = { ...state, phase: /** @type {Phase} */ ("connecting") };
  // Another account's moves are kept until that player logs in again.
  const forget = [{ type: "forget" }, { type: "tellLost", count: unsent, why: message }];
  const effects = reason === "not_yours" ? [{ type: "leaveKept" }] : forget;
  return NOT_OURS.includes(reason) ? beginAnew(next, effects) : step(next, ...effects, open(game));
}

// Open another game, because this one no longer exists or belongs to somebody else.
function beginAnew(state, effects) {
  const ask = state.current ? open(state.current) : { type: "start", rules: "classic", mode: "casual" };
  const next = { ...state, phase: /** @type {Phase} */ ("connecting"), game: null, current: null, wish: {} };
  return step(next, ...effects, { type: "pauseQueue" }, { type: "forget" }, ask);
}
