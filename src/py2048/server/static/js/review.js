// The review of a finished game: wait for it, step through its mistakes, find them in the replay.
import { isTaken } from "./input.js";
import { grouped } from "./numbers.js";

const $ = (id) => document.getElementById(id);
const PAUSE = 1500;

export class ReviewSteps {
  #replay;
  #address;

  /**
   * @param {{index: number, seek: (index: number) => Promise<void>, speech: object}} replay
   * @param {string} game the game's id
   * @param {(act: () => Promise<void>) => () => Promise<void>} by stops the replay and acts
   */
  constructor(replay, game, by) {
    this.#replay = replay;
    this.#address = `/api/games/${encodeURIComponent(game)}/review?limit=1`;
    $("previous-mistake").addEventListener("click", by(() => this.#step(-1)));
    $("next-mistake").addEventListener("click", by(() => this.#step(1)));
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || isTaken(event)) return;
      if (event.code === "KeyN") $("next-mistake").click();
      if (event.code === "KeyP") $("previous-mistake").click();
    });
    this.by = by;
    this.#offer();
  }

  /** Mark a place of the replay in the graph and in the list. */
  mark(index) {
    const graph = $("review-graph");
    if (!graph) return;
    const { left, right, last } = numbers(graph);
    $("review-cursor").style.left = `${100 * (left + ((right - left) * Math.min(index, last)) / last)}%`;
    $("review-cursor").hidden = false;
    for (const item of this.#mistakes) {
      if (Number(item.dataset.turn) === index) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
    }
  }

  get #mistakes() {
    const turn = ({ dataset }) => Number(dataset.turn);
    return [...document.querySelectorAll(".mistakes > li")].sort((a, b) => turn(a) - turn(b));
  }

  // What the section offers in its present state.
  #offer() {
    const { state } = $("review")?.dataset ?? {};
    if (state === "waiting" || state === "running") setTimeout(() => this.#look(), PAUSE);
    $("mistake-buttons").hidden = this.#mistakes.length === 0;
    for (const item of this.#mistakes) {
      const button = item.querySelector(".show");
      button.hidden = false;
      button.addEventListener("click", this.by(() => this.#show(item)));
    }
    $("review-graph")?.addEventListener("click", (event) => this.by(() => this.#find(event))());
    this.mark(this.#replay.index);
  }

  async #look() {
    try {
      const answer = await fetch(this.#address);
      if (answer.ok) await this.#progress(await answer.json());
      else setTimeout(() => this.#look(), PAUSE * 4);
    } catch {
      setTimeout(() => this.#look(), PAUSE * 4);
    }
  }

  async #progress({ state, ahead, done, total }) {
    if (state !== "waiting" && state !== "running") {
      await this.#renew();
      return;
    }
    const first = ahead ? `Games that come first: ${ahead}.` : "This game is next.";
    const moves = `${grouped(done)} of ${grouped(total)} moves are reviewed.`;
    if (state === "waiting") $("review-progress").textContent = first;
    else if (done) $("review-progress").textContent = moves;
    $("review-share").value = done;
    setTimeout(() => this.#look(), PAUSE);
  }

  async #renew() {
    const page = await (await fetch(location.pathname)).text();
    const fresh = new DOMParser().parseFromString(page, "text/html").getElementById("review");
    $("review").replaceWith(fresh);
    this.#offer();
    if (fresh.dataset.state === "done") this.#replay.speech.announce("The review is there.");
  }

  async #step(by) {
    const place = this.#replay.index;
    const turn = (item) => Number(item.dataset.turn);
    const item =
      by > 0
        ? this.#mistakes.find((each) => turn(each) > place)
        : this.#mistakes.findLast((each) => turn(each) < place);
    if (item) await this.#show(item, false);
    else this.#say(by > 0 ? "No mistake comes after this." : "No mistake comes before this.");
  }

  async #show(item, scroll = true) {
    await this.#replay.seek(Number(item.dataset.turn));
    if (scroll) $("board").scrollIntoView({ block: "center" });
    this.#say(item.querySelector(".verdict").textContent);
  }

  // Go to the place of the graph that was clicked.
  async #find(event) {
    const graph = $("review-graph");
    const { left, right, last } = numbers(graph);
    const box = graph.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width - left) / (right - left);
    await this.#replay.seek(Math.round(share * last));
  }

  #say(text) {
    $("status").textContent = text;
  }
}

// Where the first and the last move are on the graph, as shares of its width, and the last place.
function numbers(graph) {
  const { left, right, last } = graph.dataset;
  return { left: Number(left), right: Number(right), last: Math.max(Number(last), 1) };
}
