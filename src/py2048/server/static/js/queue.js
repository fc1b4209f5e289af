// Actions on their way to the server: in order, numbered, none lost and none done twice.
//
// One action is in flight at a time. Its number is the game's version + 1, so the server can tell
// a repetition from something new. After a broken connection the game's version says whether the
// action in flight was done; if not, it goes first.

/**
 * @typedef {{type: string, direction?: string, player?: string}} Action
 */

export class ActionQueue {
  #send;
  #changed;
  #waiting = [];
  #flying = null;
  #ready = false;
  #timer = 0;

  /**
   * @param {(message: object) => boolean} send sends a message; says whether it left
   * @param {() => void} changed called when the number of waiting actions has changed
   */
  constructor(send, changed = () => {}) {
    this.#send = send;
    this.#changed = changed;
    this.version = 0;
  }

  /** How many actions have not been answered yet. */
  get length() {
    return this.#waiting.length + (this.#flying ? 1 : 0);
  }

  /** Whether an action is with the server. */
  get isFlying() {
    return this.#flying !== null;
  }

  /** Whether actions may leave; not while the connection is away. */
  get isReady() {
    return this.#ready;
  }

  /** Add an action. */
  push(action) {
    this.#waiting.push(action);
    this.#next();
  }

  /** Another game is on the table: forget everything. */
  restart(version) {
    this.version = version;
    this.#waiting = [];
    this.#flying = null;
    this.#ready = true;
    this.#changed();
  }

  /** The connection is gone; what is here waits. */
  pause() {
    this.#ready = false;
  }

  /** The same game is open again, at a version. */
  resume(version) {
    this.version = version;
    this.#ready = true;
    if (this.#flying && this.#flying.number > version) this.#return();
    else this.#flying = null;
    this.#next();
  }

  /** The server told the game's version, perhaps because a number was done before. */
  state(version) {
    this.version = version;
    if (this.#flying && this.#flying.number <= version) this.#flying = null;
    this.#next();
  }

  /** The game changed, by this page or by another. */
  events(version, events) {
    const first = events[0];
    const mine = this.#flying && first && answers(this.#flying.action, first);
    const grew = version > this.version;
    this.version = version;
    if (mine) this.#flying = null;
    else if (grew && this.#flying && this.#flying.number <= version) this.#return();
    this.#next();
  }

  /** A hint was shown, which is an action of its own. */
  hinted(version) {
    this.version = version;
    if (this.#flying?.action.type === "hint") this.#flying = null;
    else if (this.#flying && this.#flying.number <= version) this.#return();
    this.#next();
  }

  /** The server refused what is in flight; some reasons pass. */
  refused({ reason, of, state, retry_ms }) {
    if (!this.#flying || (of && of !== this.#flying.action.type)) return;
    if (state) this.version = state.version;
    if (reason === "gap") {
      this.#return();
      this.#next();
    } else if (reason === "rate" || reason === "storage") {
      if (reason === "storage") this.#waiting = []; // they were meant for another board
      this.#return();
      this.#later(retry_ms ?? 1000);
    } else {
      this.#flying = null;
      if (reason === "over") this.#waiting = [];
      this.#next();
    }
  }

  /** Forget the actions that have not left yet. */
  clear() {
    this.#waiting = [];
    this.#changed();
  }

  #return() {
    this.#waiting.unshift(this.#flying.action);
    this.#flying = null;
  }

  #later(milliseconds) {
    this.#ready = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#ready = true;
      this.#next();
    }, milliseconds);
  }

  #next() {
    if (this.#ready && !this.#flying && this.#waiting.length) {
      const flying = { action: this.#waiting[0], number: this.version + 1 };
      if (this.#send({ ...flying.action, number: flying.number })) {
        this.#waiting.shift();
        this.#flying = flying;
      }
    }
    this.#changed();
  }
}

/** Whether an event is what an action asks for. */
function answers(action, event) {
  switch (event.kind) {
    case "moved":
      return event.redone
        ? action.type === "redo"
        : action.type === "move" && action.direction === event.direction;
    case "nothing_moved":
      return action.type === "move" && action.direction === event.direction;
    case "undone":
      return action.type === "undo";
    default:
      return false;
  }
}
