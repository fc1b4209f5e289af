// A WebSocket that reconnects by itself.
import { _ } from "./language.js";

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
const HEARTBEAT_MS = 20_000;
const PONG_TIMEOUT_MS = 5_000;
const OPEN_TIMEOUT_MS = 10_000; // browsers would wait for minutes
const LOGGED_OUT_CODE = 1008;

/** Message shown while there is no connection. */
export const AWAY = _("Cannot reach the server; retrying.");
export const LOGGED_OUT = _("You are logged out. Reload the page to continue as a guest.");

/** Rejection reasons after which a retry may succeed. */
export const RETRYABLE = ["busy", "rate", "storage"];

/** Milliseconds to wait after a number of consecutive failed attempts, with jitter. */
export function delay(attempt, chance = Math.random()) {
  return Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS) * (0.75 + chance / 2);
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

  /** Whether the server has rejected this browser because its session has ended. */
  isLoggedOut = false;

  /**
   * @param {string} path path of the WebSocket on this server
   * @param {{message: (message: Protocol.ServerMessage) => void, lost: () => void}} listener
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

  /**
   * Send a message; return whether it was sent.
   * @param {Protocol.PageMessage} message
   */
  send(message) {
    if (!this.isOpen) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** Ping the server, and reconnect if it does not answer soon. */
  check() {
    if (!this.isOpen) this.#reconnectNow();
    else if (!this.#deadline) {
      this.send({ type: "ping" });
      this.#deadline = setTimeout(() => this.#drop(), PONG_TIMEOUT_MS);
    }
  }

  #open() {
    clearTimeout(this.#retry);
    const socket = new WebSocket(this.#address);
    this.#socket = socket;
    this.#isGreeted = false;
    this.#deadline = setTimeout(() => this.#drop(), OPEN_TIMEOUT_MS);
    socket.addEventListener("open", () => socket === this.#socket && this.#startHeartbeat());
    socket.addEventListener("message", ({ data }) => this.#receive(socket, data));
    socket.addEventListener("close", ({ code }) => this.#closed(socket, code));
  }

  #receive(socket, data) {
    if (socket !== this.#socket) return;
    this.#attempt = 0;
    this.#isGreeted = true;
    this.isLoggedOut = false;
    this.#startHeartbeat();
    const message = JSON.parse(data);
    if (message.type !== "pong") this.#listener.message(message);
  }

  #startHeartbeat() {
    clearTimeout(this.#deadline);
    clearTimeout(this.#heartbeat);
    this.#deadline = 0;
    this.#heartbeat = setTimeout(() => this.check(), HEARTBEAT_MS);
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
    this.isLoggedOut = code === LOGGED_OUT_CODE;
    this.#listener.lost();
    // Retry once, because another tab may have logged in again. A second retry with the same cookie
    // would be useless.
    if (this.isLoggedOut && !this.#isGreeted) return;
    this.#retry = setTimeout(() => this.#open(), delay(this.#attempt++));
  }

  #reconnectNow() {
    if (this.#socket) return;
    this.#attempt = 0;
    this.#open();
  }
}
