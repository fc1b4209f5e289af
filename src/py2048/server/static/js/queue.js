// Actions on their way to the server: in order, numbered, none done twice, none done blind.
//
// Each leaves at once, so that quick keys need one round trip together. Those that leave before the
// answers to others are a chain: the server drops the rest of it when one cannot be done or somebody
// else has acted, and so does this queue. Nothing waits for a connection that is away: what has no
// answer then is forgotten, and the game's version says afterwards whether it was done.

/**
 * @typedef {{type: string, direction?: string, player?: string}} Action
 */

/** The most actions that may be on their way. */
export const MOST = 32;

export class ActionQueue {
  #send;
  #changed;
  #flying = [];
  #later = null;
  #ready = false;
  #timer = 0;
  #chain = 0;

  /**
   * @param {(message: object) => boolean} send sends a message; says whether it left
   * @param {() => void} changed called when the number of actions on their way has changed
   */
  constructor(send, changed = () => {}) {
    this.#send = send;
    this.#changed = changed;
    this.version = 0;
  }

  /** How many actions have not been answered yet. */
  get length() {
    return this.#flying.length + (this.#later ? 1 : 0);
  }

  /** The action that is answered next: the server does it on the board that this page knows. */
  get head() {
    return this.#flying[0] ?? null;
  }

  /** Whether no game is on the table, or the connection to it is away. */
  get isPaused() {
    return !this.#ready && !this.#later;
  }

  /** Whether a refusal is of actions that are forgotten already. */
  isStale({ chain }) {
    return chain !== undefined && (chain !== this.#chain || !this.#flying.length);
  }

  /** Send an action; say whether it left. */
  push(action) {
    if (!this.#ready || this.#flying.length >= MOST) return false;
    if (!this.#flying.length) this.#chain++;
    const number = this.version + this.#flying.length + 1;
    if (!this.#send({ ...action, number, chain: this.#chain })) return false;
    this.#flying.push(action);
    this.#changed();
    return true;
  }

  /** A game is on the table, or the same again after the connection was away. */
  restart(version) {
    this.version = version;
    this.drop();
    this.#ready = true;
  }

  /** The connection is gone; return the actions that have no answer. */
  pause() {
    const unanswered = this.#later ? [this.#later] : this.#flying;
    this.drop();
    this.#ready = false;
    return unanswered;
  }

  /** Forget what has not been answered; return how many actions that were. */
  drop() {
    const count = this.length;
    this.#flying = [];
    this.#forgetLater();
    this.#changed();
    return count;
  }

  /** The server told the whole game; return how many actions are dropped for it. */
  state(version) {
    if (version === this.version) return 0;
    this.version = version;
    return this.drop();
  }

  /** The game changed; return how many actions are dropped because somebody else did it. */
  events(version, events) {
    const follows = version <= this.version + 1;
    const head = this.head ?? this.#later; // the store may have had what was to be tried again
    const isMine = follows && head !== null && answers(head, events[0]);
    const grew = version > this.version;
    this.version = version;
    if (isMine) this.#answered();
    return grew && !isMine ? this.drop() : 0;
  }

  /** A hint was shown, which is an action of its own. */
  hinted(version) {
    this.version = version;
    if (this.head?.type === "hint") this.#answered();
  }

  /**
   * The server refused an action; return how many are dropped.
   * @param {object} message the refusal
   * @param {boolean} isKnown whether the board is the one that the page knows
   */
  refused({ reason, of, state, retry_ms, chain }, isKnown = false) {
    if (chain === undefined && of) return 0;
    const moved = state !== null && state.version !== this.version;
    const actions = this.#flying;
    const made = moved ? Math.max(0, state.version - this.version) : 0;
    if (state) this.version = state.version;
    const count = this.drop();
    if (reason === "storage" && actions.length) {
      // The store may have some, though it did not say so: which, attempts that move nothing hide.
      if (moved) return Math.max(0, count - made);
      this.#wait(actions[0], retry_ms ?? 1000);
      return count - 1;
    }
    if (reason !== "gap" || !moved || !isKnown) return count;
    for (const action of actions) this.push(action); // only the number was wrong
    return 0;
  }

  #answered() {
    this.#flying.shift();
    this.#forgetLater();
    this.#changed();
  }

  #forgetLater() {
    clearTimeout(this.#timer);
    if (this.#later) this.#ready = true;
    this.#later = null;
  }

  // What could not be written goes again alone: it is the only one meant for this board.
  #wait(action, milliseconds) {
    this.#ready = false;
    this.#later = action;
    this.#timer = setTimeout(() => {
      this.#forgetLater();
      this.push(action);
    }, milliseconds);
  }
}

/** Whether an event is what an action asks for. */
function answers({ type, direction }, event) {
  const isMove = type === "move" && direction === event?.direction;
  if (event?.kind === "undone") return type === "undo";
  return event?.redone ? type === "redo" : isMove;
}
