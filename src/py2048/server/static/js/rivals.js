// How a battle goes: the time, and everybody's score and board.
import { rank } from "./board.js";
import { element } from "./cells.js";
import { grouped } from "./numbers.js";
import { spoken } from "./speech.js";

const STYLES = ["review", "battle"];
const TICK = 250;
const MINUTE = 60_000;

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
   * @param {HTMLElement} place where it is shown
   * @param {(text: string) => void} announce says something aloud
   * @param {(time: string) => void} ticked is told the time that is left
   */
  constructor(place, announce, ticked = () => {}) {
    this.#place = place;
    this.#announce = announce;
    this.#ticked = ticked;
    for (const name of STYLES) addStyle(new URL(`../css/${name}.css`, import.meta.url).pathname);
    place.replaceChildren(element("h2", {}, "Battle"), this.#time, this.#list, this.#end);
  }

  /** The time that is left, in words. */
  get time() {
    return this.#time.textContent;
  }

  /** Take a message about the battle. */
  show(message) {
    const now = performance.now();
    this.#starts = now + (message.starts_ms ?? 0);
    this.#ends = now + (message.ends_ms ?? 0);
    this.#stage = message.stage;
    const { battle, you, players } = message;
    const columns = players.find((player) => player.board)?.board[0].length;
    if (columns) this.#list.style.setProperty("--columns", columns); // so wide is each board
    this.#list.replaceChildren(...players.map((player) => row(player, player.seat === you, message.stage)));
    this.#lead(`/battle/${battle}`, message.stage === "over" ? "Result and rematch" : "Page of the battle");
    this.#place.hidden = false;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#tick(), TICK);
    this.#tick();
    if (message.stage === "over") this.#say(`The battle is over. ${result(players, you)}`);
  }

  /** Show nothing any more. */
  hide() {
    clearInterval(this.#timer);
    this.#place.hidden = true;
  }

  #tick() {
    const now = performance.now();
    if (this.#stage === "over") {
      clearInterval(this.#timer);
      this.#tell("The battle is over");
    } else if (now < this.#starts) {
      this.#tell(`Starts in ${Math.ceil((this.#starts - now) / 1000)} s`);
      this.#say("The battle starts in a moment.");
    } else {
      const left = Math.max(this.#ends - now, 0);
      this.#tell(left ? `${clock(left)} left` : "Time is up");
      this.#say(left ? "Play!" : "Time is up.");
      if (left && left < MINUTE) this.#say("One minute left.");
    }
  }

  // A link that is there already stays, with the focus that may be on it.
  #lead(page, label) {
    const link = element("a", { class: "button", href: page }, label);
    if (location.pathname === page || this.#end.firstChild?.isEqualNode(link)) return;
    this.#end.replaceChildren(link);
  }

  #tell(time) {
    this.#time.textContent = time;
    this.#ticked(time);
  }

  // Each thing is said once.
  #say(text) {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    this.#announce(text);
  }
}

function addStyle(address) {
  if (document.querySelector(`link[href^="${address}"]`)) return;
  document.head.append(element("link", { rel: "stylesheet", href: address }));
}

function clock(ms) {
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function row(player, isMe, stage) {
  const { name, score, place, has_left: hasLeft, is_over: isOver, board } = player;
  const state = hasLeft ? "left" : isOver && stage === "running" ? "no move left" : "";
  const line = element(
    "p",
    {},
    element("span", { class: "rival-place" }, `${place}.`),
    element("strong", {}, name),
    isMe ? element("span", { class: "badge" }, "you") : "",
    state ? element("span", { class: "muted" }, state) : "",
    element("span", { class: "rival-score" }, grouped(score)),
  );
  return element("li", {}, line, board && !isMe ? small(board, name) : "");
}

function small(board, name) {
  const rows = board.map((tiles) =>
    element(
      "div",
      { class: "mini-row" },
      ...tiles.map((tile) => {
        const kind = tile ? ` rank-${rank(tile)} mini-${Math.min(String(tile).length, 9)}` : "";
        return element("span", { class: `mini-cell${kind}` }, tile ? String(tile) : "");
      }),
    ),
  );
  return element("div", { class: "mini", role: "img", "aria-label": `${name}: ${spoken(board)}` }, ...rows);
}

function result(players, you) {
  const mine = players.find((each) => each.seat === you);
  const best = players.filter((each) => each.place === 1).map((each) => each.name);
  return mine ? `You are in place ${mine.place} of ${players.length}.` : `${best.join(" and ")} won.`;
}
