// Actions that the server has not answered yet. They are numbered, so that the server performs each
// of them at most once, and only on the board that the player saw.
//
// Every action is sent immediately, so fast key presses share one round trip. Actions sent before
// earlier ones are answered form a chain. If an action of a chain cannot be performed, or if
// another client has acted, both the server and this queue drop the rest of the chain. No action is
// kept when the connection is lost; afterwards the game's version tells how many were performed.

/**
 * @typedef {{type: "move", direction: string} | {type: "undo" | "redo"} | {type: "hint", player: string}} Action
 */

/** Maximum number of unanswered actions. */
export const MAX_ACTIONS = 32;

const STORAGE_RETRY_MS = 1000;

export class ActionQueue {
  #send;
  #changed;
  /** @type {Action[]} */
  #sent = [];
  /** @type {?Action} the action that will be sent again when the store works */
  #later = null;
  #isOpen = false;
  #timer = 0;
  #chain = 0;

  /**
   * @param {(message: any) => boolean} send sends a message and returns whether it was sent
   * @param {() => void} changed called when the number of unanswered actions has changed
   */
  constructor(send, changed = () => {}) {
    this.#send = send;
    this.#changed = changed;
    this.version = 0;
  }

  /** Number of unanswered actions. */
  get length() {
    return this.#sent.length + (this.#later ? 1 : 0);
  }

  /** The action that will be answered next; its board is known. */
  get head() {
    return this.#sent[0] ?? null;
  }

  /** Whether a rejection refers to actions that were already dropped. */
  isStale({ chain }) {
    return chain !== undefined && (chain !== this.#chain || !this.#sent.length);
  }

  /** Send an action; return whether it was sent. */
  push(action) {
    if (!this.#isOpen || this.#sent.length >= MAX_ACTIONS) return false;
    if (!this.#sent.length) this.#chain++;
    const number = this.version + this.#sent.length + 1;
    if (!this.#send({ ...action, number, chain: this.#chain })) return false;
    this.#sent.push(action);
    this.#changed();
    return true;
  }

  /** Start with a game at a version, or continue with it after a lost connection. */
  restart(version) {
    this.version = version;
    this.drop();
    this.#isOpen = true;
  }

  /** Stop accepting actions because the connection is lost; return the unanswered ones. */
  pause() {
    const unanswered = this.#later ? [this.#later] : this.#sent;
    this.drop();
    this.#isOpen = false;
    return unanswered;
  }

  /** Drop the unanswered actions; return how many there were. */
  drop() {
    const count = this.length;
    this.#sent = [];
    this.#forgetLater();
    this.#changed();
    return count;
  }

  /** Adopt the version of a complete state; return how many actions are dropped. */
  state(version) {
    if (version === this.version) return 0;
    this.version = version;
    return this.drop();
  }

  /**
   * Take over the version after some events; return how many actions are dropped because the events
   * are somebody else's.
   * @param {number} version
   * @param {Protocol.PlayedEvent[]} events
   */
  events(version, events) {
    const follows = version <= this.version + 1;
    const head = this.head ?? this.#later; // the store may have saved an action before it failed
    const isMine = follows && head !== null && isAnswer(events[0], head);
    const grew = version > this.version;
    this.version = version;
    if (isMine) this.#answered();
    return grew && !isMine ? this.drop() : 0;
  }

  /** Adopt the version after a hint, which counts as an action. */
  hinted(version) {
    this.version = version;
    if (this.head?.type === "hint") this.#answered();
  }

  /**
   * Handle a rejected action; return how many actions are dropped.
   * @param {Pick<Protocol.RejectedMessage, "reason" | "of" | "state" | "retry_ms" | "chain">} message
   * @param {boolean} isKnown whether the board in the refusal is the one on the page
   */
  refused({ reason, of, state, retry_ms: retryMs = STORAGE_RETRY_MS, chain }, isKnown = false) {
    if (chain === undefined && of) return 0;
    const moved = state !== null && state.version !== this.version;
    const actions = this.#sent;
    const made = moved ? Math.max(0, state.version - this.version) : 0;
    if (state) this.version = state.version;
    const count = this.drop();
    if (reason === "storage" && actions.length) {
      // Some actions may have been saved although the store failed. It is unknown which ones,
      // because attempts that move nothing cannot be told apart.
      if (moved) return Math.max(0, count - made);
      this.#sendLater(actions[0], retryMs);
      return count - 1;
    }
    if (reason !== "gap" || !moved || !isKnown) return count;
    for (const action of actions) this.push(action); // only the numbers were wrong
    return 0;
  }

  #answered() {
    this.#sent.shift();
    this.#forgetLater();
    this.#changed();
  }

  #forgetLater() {
    clearTimeout(this.#timer);
    if (this.#later) this.#isOpen = true;
    this.#later = null;
  }

  // Only the first action of a chain is sent again, because the others referred to later boards.
  #sendLater(action, ms) {
    this.#isOpen = false;
    this.#later = action;
    this.#timer = setTimeout(() => {
      this.#forgetLater();
      this.push(action);
    }, ms);
  }
}

/**
 * Whether an event is the response to an action.
 * @param {Protocol.PlayedEvent | undefined} event
 * @param {Action} action
 */
function isAnswer(event, action) {
  if (event?.kind === "undone") return action.type === "undo";
  if (event?.kind === "moved" && event.redone) return action.type === "redo";
  const isTurn = event?.kind === "moved" || event?.kind === "nothing_moved";
  return isTurn && action.type === "move" && action.direction === event.direction;
}
