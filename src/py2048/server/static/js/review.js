// The review of a finished game: wait for it, step through its mistakes, say what each move lost, and
// let one try again.
import { isTaken, meaning, onSwipe } from "./input.js";
import { _ } from "./language.js";
import { grouped } from "./numbers.js";

const $ = (id) => document.getElementById(id);
const PAUSE = 1500;
const PAGE = 256;
const PARTS = ["review", "graph-card", "review-more"];
const ARROWS = { up: "↑", down: "↓", left: "←", right: "→" };

export class ReviewSteps {
  #replay;
  #address;
  #pages = new Map();
  #move = null;
  #isTrying = false;

  /**
   * @param {{index: number, seek: (index: number) => Promise<void>, speech: object}} replay
   * @param {string} game the game's id
   * @param {(act: () => Promise<void>) => () => Promise<void>} by stops the replay and acts
   */
  constructor(replay, game, by) {
    this.#replay = replay;
    this.#address = `/api/games/${encodeURIComponent(game)}/review`;
    $("previous-mistake").addEventListener("click", by(() => this.#step(-1)));
    $("next-mistake").addEventListener("click", by(() => this.#step(1)));
    $("try").addEventListener("click", by(async () => this.#ask(true)));
    $("tries").addEventListener("click", ({ target }) => this.#answer(target.dataset.direction));
    onSwipe($("board"), (direction) => this.#answer(direction), () => null);
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || isTaken(event)) return;
      if (event.code === "KeyN") $("next-mistake").click();
      if (event.code === "KeyP") $("previous-mistake").click();
    });
    this.by = by;
    this.#offer();
  }

  /** Where to begin: at the first mistake. */
  get first() {
    return Number(this.#mistakes[0]?.dataset.turn ?? 0);
  }

  /** Mark a place of the replay in the graph, in the list and on the board. */
  mark(index) {
    this.#ask(false);
    this.#show(null);
    const graph = $("review-graph");
    if (!graph) return;
    const last = lastOf(graph);
    $("review-cursor").style.left = `${(100 * Math.min(index, last)) / last}%`;
    $("review-cursor").hidden = false;
    for (const item of this.#mistakes) {
      if (Number(item.dataset.turn) === index) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
    }
    this.#find(index).then((move) => {
      if (this.#replay.index === index && move) this.#show(move);
    });
  }

  /** Take a key for the move that is asked for; say whether it was one. */
  takes(event) {
    const { move } = (this.#isTrying && meaning(event)) || {};
    if (!this.#isTrying || !(move || event.code === "Escape")) return false;
    event.preventDefault();
    if (move) this.#answer(move);
    else this.#show(this.#move);
    return true;
  }

  get #mistakes() {
    const turn = ({ dataset }) => Number(dataset.turn);
    return [...document.querySelectorAll(".mistakes > li")].sort((a, b) => turn(a) - turn(b));
  }

  // What the section offers in its present state.
  #offer() {
    const { state } = $("review")?.dataset ?? {};
    if (state === "waiting" || state === "running") setTimeout(() => this.#look(), PAUSE);
    for (const id of ["previous-mistake", "next-mistake"]) $(id).hidden = !this.#mistakes.length;
    for (const item of this.#mistakes) {
      const button = item.querySelector(".show");
      button.hidden = false;
      button.addEventListener("click", this.by(() => this.#visit(item)));
    }
    const go = (event) => event.buttons && this.by(() => this.#point(event))();
    $("review-graph")?.addEventListener("pointerdown", go);
    $("review-graph")?.addEventListener("pointermove", go);
  }

  async #look() {
    try {
      const answer = await fetch(`${this.#address}?limit=1`);
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
    const first = ahead ? _("Games that come first: {n}.", { n: ahead }) : _("This game is next.");
    const counts = { done: grouped(done), total: grouped(total) };
    const moves = _("{done} of {total} moves are reviewed.", counts);
    if (state === "waiting") $("review-progress").textContent = first;
    else if (done) $("review-progress").textContent = moves;
    $("review-share").value = done;
    setTimeout(() => this.#look(), PAUSE);
  }

  async #renew() {
    const page = await (await fetch(location.pathname)).text();
    const fresh = new DOMParser().parseFromString(page, "text/html");
    for (const id of PARTS) $(id).replaceWith(fresh.getElementById(id));
    this.#offer();
    const { index } = this.#replay;
    if (index === 0 && this.first) await this.by(() => this.#replay.seek(this.first))();
    else this.mark(index);
    if ($("review").dataset.state === "done") this.#replay.speech.announce(_("The review is there."));
  }

  // The move that was played at a place of the replay, if it is reviewed.
  async #find(turn) {
    if ($("review").dataset.state !== "done") return null;
    const number = Math.floor(turn / PAGE);
    if (!this.#pages.has(number)) {
      const page = fetch(`${this.#address}?from=${number * PAGE}&limit=${PAGE}`).then((answer) =>
        answer.ok ? answer.json() : Promise.reject(new Error(answer.status)),
      );
      page.catch(() => this.#pages.delete(number));
      this.#pages.set(number, page);
    }
    try {
      const { moves, total } = await this.#pages.get(number);
      // Where attempts that moved nothing count, places and moves have other numbers.
      return total === this.#replay.turns.total ? moves[turn % PAGE] : null;
    } catch {
      return null; // the board is there all the same
    }
  }

  // Say what is known of a move.
  #show(move) {
    this.#ask(false);
    this.#move = move;
    const mistake = move && !["best", "good"].includes(move.grade);
    const badge = $("badge");
    badge.hidden = !move;
    badge.textContent = move?.badge ?? "";
    badge.className = `tag ${move?.grade ?? ""}`;
    $("headline").textContent = move?.headline ?? "";
    $("why").textContent = move?.why ?? "";
    $("try").hidden = !mistake;
    $("options").replaceChildren(...(move ? ranked(move).map((way) => this.#option(way)) : []));
    if (move) $("board").dataset.best = move.best;
    else delete $("board").dataset.best;
    if (mistake) $("board").dataset.played = move.played;
    else delete $("board").dataset.played;
    this.#weigh(move);
  }

  #option(way) {
    const { value, losses, played, best } = this.#move;
    const worst = Math.max(...Object.values(losses), Math.abs(value) / 10) || 1;
    const item = document.createElement("li");
    item.innerHTML = '<span></span><span class="bar"></span><span class="number"></span>';
    const [name, bar, number] = item.children;
    name.textContent = ARROWS[way];
    name.setAttribute("role", "img");
    name.setAttribute("aria-label", NAMES()[way]);
    bar.style.setProperty("--share", 1 - (0.6 * losses[way]) / worst); // what differs is to be seen
    number.textContent = way === best ? _("best") : this.#loss(way);
    if (way === played && way !== best) item.setAttribute("aria-current", "true");
    return item;
  }

  #loss(way) {
    const lost = this.#move.losses[way];
    const shown = $("review-graph").dataset.unit === "chance" ? `${(100 * lost).toFixed(1)} %` : grouped(lost);
    return shown === "0" || shown === "0.0 %" ? _("as good") : `−${shown}`;
  }

  // The bar beside the board, and the line over the graph.
  #weigh(move) {
    const graph = $("review-graph");
    if (!graph) return;
    const percent = move ? Math.round(100 * Math.min(Math.max(move.value / (graph.dataset.most || 1), 0), 1)) : 0;
    const bar = $("chances");
    bar.style.setProperty("--share", `${percent}%`);
    bar.classList.toggle("low", percent < 6);
    bar.lastElementChild.textContent = move ? percent : "";
    const after = move && move.value - move.losses[move.played];
    const shown = (value) => (graph.dataset.unit === "chance" ? `${(100 * value).toFixed(1)} %` : grouped(value));
    const values = move && { ply: grouped(move.ply), before: shown(move.value), after: shown(after) };
    $("graph-said").textContent = move ? _("move {ply} · {before} → {after}", values) : "";
  }

  // Trying again: the answer is hidden, and a move is asked for.
  #ask(is) {
    this.#isTrying = is;
    $("tries").hidden = !is;
    $("options").hidden = is;
    if (!is) return;
    delete $("board").dataset.best;
    delete $("board").dataset.played;
    $("badge").hidden = $("try").hidden = true;
    $("headline").textContent = _("Your move.");
    $("why").textContent = _("You went {way}. Find a better one.", { way: NAMES()[this.#move.played].toLowerCase() });
    this.#replay.speech.say(_("Your move."));
    $("tries").querySelector("button").focus();
  }

  #answer(way) {
    if (!this.#isTrying || !way) return;
    const move = this.#move;
    const words = { move: NAMES()[way], best: NAMES()[move.best] };
    if (!(way in move.losses)) {
      this.#replay.view.lean(way);
      this.#say(_("Nothing moves that way."));
      return;
    }
    this.#show(move);
    const isRight = move.losses[way] <= 0.01 * Math.abs(move.value);
    let said = _("{move} loses {loss}. {best} is best.", { ...words, loss: this.#loss(way).slice(1) });
    if (way === move.best) said = _("Right: {move} is best.", words);
    else if (isRight) said = _("Good: {move} is nearly as good as {best}.", words);
    $("headline").textContent = said;
    $("badge").hidden = true;
    this.#replay.speech.announce(said);
    (isRight ? $("next-mistake") : $("try")).focus();
  }

  async #step(by) {
    const place = this.#replay.index;
    const turn = (item) => Number(item.dataset.turn);
    const item =
      by > 0
        ? this.#mistakes.find((each) => turn(each) > place)
        : this.#mistakes.findLast((each) => turn(each) < place);
    if (item) await this.#visit(item, false);
    else this.#say(by > 0 ? _("No mistake comes after this.") : _("No mistake comes before this."));
  }

  async #visit(item, scroll = true) {
    await this.#replay.seek(Number(item.dataset.turn));
    if (scroll) $("board").scrollIntoView({ block: "center" });
    this.#replay.speech.announce(item.querySelector(".verdict").textContent);
  }

  // Go to the place of the graph that was pointed at.
  async #point(event) {
    const graph = $("review-graph");
    const box = graph.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    await this.#replay.seek(Math.round(share * lastOf(graph)));
  }

  #say(text) {
    $("status").textContent = text;
  }
}

const NAMES = () => ({ up: _("Up"), down: _("Down"), left: _("Left"), right: _("Right") });

// The directions, the best first.
const ranked = ({ losses, best }) =>
  Object.keys(losses).sort((a, b) => (b === best) - (a === best) || losses[a] - losses[b]);

// The place of the replay at the right end of the graph.
const lastOf = (graph) => Math.max(Number(graph.dataset.last), 1);
