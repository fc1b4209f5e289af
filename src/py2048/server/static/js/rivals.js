// The remaining time in a battle, and all players' scores and boards.
import { smallBoard } from "./board.js";
import { $, element } from "./elements.js";
import { _, grouped } from "./language.js";
import { spoken } from "./speech.js";

const TICK_MS = 250;
const MINUTE_MS = 60_000;
/** Whether this is the battle page, which also shows the player's own board. */
const isPage = Boolean($("battle"));

export class Rivals {
  #place;
  #announce;
  #ticked;
  #starts = 0;
  #ends = 0;
  #stage = "";
  #said = new Set();
  #timer = 0;
  #time = element("p", { class: "rivals-time", role: "timer" });
  #list = element("ol", { class: "rivals-list" });
  #end = element("p", { class: "buttons" });

  /**
   * @param {HTMLElement} place for the list
   * @param {(text: string) => void} announce announces a text to screen readers
   * @param {(time: string) => void} ticked called with the time left
   */
  constructor(place, announce, ticked = () => {}) {
    this.#place = place;
    this.#announce = announce;
    this.#ticked = ticked;
    if (!isPage) place.replaceChildren(element("h2", {}, _("Battle")));
    place.append(this.#time, this.#list, this.#end);
  }

  /** The remaining time as text. */
  get time() {
    return this.#time.textContent;
  }

  /**
   * Show the battle described by a message.
   * @param {Protocol.BattleMessage} message
   */
  show(message) {
    const now = performance.now();
    this.#starts = now + (message.starts_ms ?? 0);
    this.#ends = now + (message.ends_ms ?? 0);
    this.#stage = message.stage;
    const { battle, you, players } = message;
    this.#list.replaceChildren(...players.map((player) => row(player, player.seat === you, message.stage)));
    this.#lead(`/battle/${battle}`, message.stage === "over" ? _("Result and rematch") : _("Battle page"));
    this.#place.hidden = false;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#tick();
    if (message.stage === "over") this.#say(`${_("The battle is over.")} ${result(players, you)}`);
  }

  /** Hide the list. */
  hide() {
    clearInterval(this.#timer);
    this.#place.hidden = true;
  }

  #tick() {
    const now = performance.now();
    if (this.#stage === "over") {
      clearInterval(this.#timer);
      this.#tell(_("The battle is over"));
    } else if (now < this.#starts) {
      this.#tell(_("Starts in {n} s", { n: Math.ceil((this.#starts - now) / 1000) }));
      this.#say(_("The battle starts in a moment."));
    } else {
      const left = Math.max(this.#ends - now, 0);
      this.#tell(left ? _("{time} left", { time: clock(left) }) : _("Time is up"));
      this.#say(left ? _("Play.") : _("Time is up."));
      if (left && left < MINUTE_MS) this.#say(_("One minute left."));
    }
  }

  // Keep an unchanged link, because it may have the focus.
  #lead(page, label) {
    const link = element("a", { class: "button", href: page }, label);
    if (location.pathname === page || this.#end.firstChild?.isEqualNode(link)) return;
    this.#end.replaceChildren(link);
  }

  #tell(time) {
    this.#time.textContent = time;
    this.#ticked(time);
  }

  // Announce each sentence only once.
  #say(text) {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    this.#announce(text);
  }
}

function clock(ms) {
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function row(player, isMe, stage) {
  const { name, score, place, has_left: hasLeft, is_over: isOver, board } = player;
  const state = hasLeft ? _("left") : isOver && stage === "running" ? _("no move left") : "";
  const word = (kind, text) => (text ? [element("span", { class: kind }, text)] : []);
  const after = [...word("muted small", state), ...word("rival-score", grouped(score))];
  const line = element("p", {}, ...word("muted", `${place}.`), avatar(name), element("strong", {}, isMe ? _("you") : name), ...after);
  return element("li", { class: isMe ? "me" : "" }, line, board && (isPage || !isMe) ? smallBoard(board, `${name}: ${spoken(board)}`) : "");
}

/** A player's initials on the colour of a tile, as in the server's macro `avatar`. */
export function avatar(name) {
  const initials = name.match(/[^\W_]+/g)?.slice(0, 2).map((word) => word[0]) ?? [];
  const face = 3 + (new TextEncoder().encode(name).reduce((sum, byte) => sum + byte, 0) % 6);
  return element("span", { class: `avatar rank-${face}`, "aria-hidden": "true" }, initials.join("").toUpperCase());
}

function result(players, you) {
  const [{ name, seat, score }, second] = players;
  const n = grouped(score - second.score);
  if (score === second.score) return _("A draw.");
  return seat === you ? _("You won by {n}.", { n }) : _("{name} won by {n}.", { name, n });
}
