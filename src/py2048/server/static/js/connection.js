// A WebSocket that comes back by itself.
import { _ } from "./language.js";

const FIRST_DELAY = 500;
const LAST_DELAY = 10_000;
const QUIET = 20_000;
const TIMEOUT_MS = 5_000;
const OPENING = 10_000; // browsers themselves would wait for minutes
const SIGN_IN = 1008;

/** What a page says while it has no connection, and why. */
export const AWAY = _("The server is away; trying again.");
export const LOGGED_OUT = _("You are logged out. Load the page again to go on as a guest.");

/** Reasons why a server refuses what it may grant after a while. */
export const LATER = ["busy", "rate", "storage"];

/** After how many milliseconds to try again, for the n-th time in a row. */
export function delay(attempt, chance = Math.random()) {
  return Math.min(FIRST_DELAY * 2 ** attempt, LAST_DELAY) * (0.75 + chance / 2);
}

export class Connection {
  #address;
  #listener;
  #socket = null;
  #attempt = 0;
  #retry = 0;
  #heartbeat = 0;
  #deadline = 0;
  #isGreeted = false;

  /** Whether the server refuses this browser: its session has ended. */
  isLoggedOut = false;

  /**
   * @param {string} path the path of the socket on this server
   * @param {{message: (message: object) => void, lost: () => void}} listener
   */
  constructor(path, listener) {
    const address = new URL(path, location.href);
    address.protocol = address.protocol.replace("http", "ws");
    this.#address = address;
    this.#listener = listener;
    addEventListener("online", () => this.#reconnectNow());
    addEventListener("pageshow", (event) => event.persisted && this.#reconnectNow());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.check();
    });
    this.#open();
  }

  /** Whether messages can be sent. */
  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Send a message; say whether it left. */
  send(message) {
    if (!this.isOpen) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** See whether the server is still there; if it does not answer soon, connect again. */
  check() {
    if (!this.isOpen) this.#reconnectNow();
    else if (!this.#deadline) {
      this.send({ type: "ping" });
      this.#deadline = setTimeout(() => this.#drop(), TIMEOUT_MS);
    }
  }

  #open() {
    clearTimeout(this.#retry);
    const socket = new WebSocket(this.#address);
    this.#socket = socket;
    this.#isGreeted = false;
    this.#deadline = setTimeout(() => this.#drop(), OPENING);
    socket.addEventListener("open", () => socket === this.#socket && this.#rest());
    socket.addEventListener("message", ({ data }) => this.#heard(socket, data));
    socket.addEventListener("close", ({ code }) => this.#closed(socket, code));
  }

  #heard(socket, data) {
    if (socket !== this.#socket) return;
    this.#attempt = 0;
    this.#isGreeted = true;
    this.isLoggedOut = false;
    this.#rest();
    const message = JSON.parse(data);
    if (message.type !== "pong") this.#listener.message(message);
  }

  #rest() {
    clearTimeout(this.#deadline);
    clearTimeout(this.#heartbeat);
    this.#deadline = 0;
    this.#heartbeat = setTimeout(() => this.check(), QUIET);
  }

  #drop() {
    const socket = this.#socket;
    socket.close();
    this.#closed(socket);
  }

  #closed(socket, code) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    clearTimeout(this.#deadline);
    clearTimeout(this.#heartbeat);
    this.#deadline = 0;
    this.isLoggedOut = code === SIGN_IN;
    this.#listener.lost();
    // Another tab may have logged in again meanwhile; if not, the same cookie is always refused.
    if (this.isLoggedOut && !this.#isGreeted) return;
    this.#retry = setTimeout(() => this.#open(), delay(this.#attempt++));
  }

  #reconnectNow() {
    if (this.#socket) return;
    this.#attempt = 0;
    this.#open();
  }
}
