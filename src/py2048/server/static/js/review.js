// The review of a finished game: waits for the review, steps through the mistakes, explains what
// each move lost, and lets the player try again.
import { $, find, findAll, put } from "./elements.js";
import { meaning, onSwipe } from "./input.js";
import { _, grouped } from "./language.js";
import { Pages, fetched } from "./server.js";
import { WAYS, markEdge, wayLine } from "./ways.js";

const LOOK_MS = 1500;
const PARTS = ["review", "graph-card", "review-more"];

export class ReviewSteps {
  #replay;
  #address;
  /** @type {Pages<Protocol.ReviewAnswer>} */
  #pages;
  /** @type {?Protocol.ReviewedMove} */
  #move = null;
  #isTrying = false;

  /**
   * @param {any} replay the replay of the game
   * @param {string} game the game's id
   * @param {(act: () => Promise<void>) => () => Promise<void>} by makes a function stop the replay first
   */
  constructor(replay, game, by) {
    this.#replay = replay;
    this.#address = `/api/games/${encodeURIComponent(game)}/review`;
    this.#pages = new Pages(this.#address);
    $("previous-mistake").addEventListener("click", by(() => this.#step(-1)));
    $("next-mistake").addEventListener("click", by(() => this.#step(1)));
    $("try").addEventListener("click", by(async () => this.#ask(true)));
    $("tries").addEventListener("click", ({ target }) => this.#answer(target.dataset.direction));
    onSwipe($("board"), (direction) => this.#answer(direction), () => null);
    this.by = by;
    this.#offer();
  }

  /** Index of the first mistake, where the replay starts. */
  async first() {
    if (!this.#isDone) return 0;
    await this.#replay.turns.position(0); // loads the number of turns
    return (await this.#mistake(0, 1)) ?? 0;
  }

  /** Mark the replay's current move in the graph and the list, and show its review. */
  mark(index) {
    this.#show(null);
    const graph = $("review-graph");
    if (!graph) return;
    const last = lastOf(graph);
    $("review-cursor").style.left = `${(100 * Math.min(index, last)) / last}%`;
    $("review-cursor").hidden = false;
    find(".mistakes > [aria-current]")?.removeAttribute("aria-current");
    itemOf(index)?.setAttribute("aria-current", "true");
    this.#find(index).then((move) => {
      if (this.#replay.index === index && move) this.#show(move);
    });
  }

  /** Handle a key as the answer to "Your move"; return whether it was an answer. */
  takes(event) {
    const { move } = (this.#isTrying && meaning(event)) || {};
    if (!this.#isTrying || !(move || event.code === "Escape")) return false;
    event.preventDefault();
    if (move) this.#answer(move);
    else this.#show(this.#move);
    return true;
  }

  get #isDone() {
    return $("review")?.dataset.state === "done";
  }

  // Show the controls for the review's current state.
  #offer() {
    const { state } = $("review")?.dataset ?? {};
    if (state === "waiting" || state === "running") setTimeout(() => this.#look(), LOOK_MS);
    const items = findAll(".mistakes > li");
    for (const id of ["previous-mistake", "next-mistake"]) $(id).hidden = !items.length;
    for (const item of items) {
      const button = item.querySelector(".show");
      button.hidden = false;
      button.addEventListener("click", this.by(() => this.#visit(Number(item.dataset.turn), true)));
    }
    const go = (event) => event.buttons && this.by(() => this.#point(event))();
    $("review-graph")?.addEventListener("pointerdown", go);
    $("review-graph")?.addEventListener("pointermove", go);
  }

  async #look() {
    const answer = await fetch(`${this.#address}?limit=1`).catch(() => null); // no connection
    if (answer?.ok) await this.#progress(await answer.json());
    else setTimeout(() => this.#look(), 4 * LOOK_MS);
  }

  async #progress({ state, ahead, done, total }) {
    if (state !== "waiting" && state !== "running") {
      await this.#renew();
      return;
    }
    const first = ahead ? _("Games that come first: {n}.", { n: ahead }) : _("This game is next.");
    const counts = { done: grouped(done), total: grouped(total) };
    const moves = _("{done} of {total} moves are reviewed.", counts);
    if (state === "waiting") put("review-progress", first);
    else if (done) put("review-progress", moves);
    $("review-share").value = done;
    setTimeout(() => this.#look(), LOOK_MS);
  }

  async #renew() {
    const fresh = await fetched(location.pathname);
    if (!fresh) {
      setTimeout(() => this.#look(), 4 * LOOK_MS);
      return;
    }
    for (const id of PARTS) $(id).replaceWith(fresh.getElementById(id));
    this.#offer();
    const { index } = this.#replay;
    const first = index || (await this.first());
    if (first !== index) await this.by(() => this.#replay.seek(first))();
    else this.mark(index);
    if (this.#isDone) this.#replay.speech.announce(_("The review is there."));
  }

  // The review of the move at an index; null if there is none.
  async #find(turn) {
    if (!this.#isDone) return null;
    try {
      const { page, at } = await this.#pages.at(turn);
      // If attempts that move nothing count as turns, turn and move numbers differ.
      return page.total === this.#replay.turns.total ? page.moves[at] : null;
    } catch {
      return null; // the replay works without it
    }
  }

  // Index of the next mistake in a direction; null if there is none.
  async #mistake(from, by) {
    for (let turn = from; turn >= 0 && turn < this.#replay.turns.total; turn += by) {
      const move = await this.#find(turn);
      if (move ? isMistake(move) : itemOf(turn)) return turn;
    }
    return null;
  }

  // Show the review of a move, or nothing for null.
  #show(move) {
    this.#ask(false);
    this.#move = move;
    const mistake = move !== null && isMistake(move);
    const badge = $("badge");
    badge.hidden = !move;
    badge.textContent = move?.badge ?? "";
    badge.className = `tag ${move?.grade ?? ""}`;
    put("headline", move?.headline ?? "");
    put("why", move?.why ?? "");
    $("try").hidden = !mistake;
    $("options").replaceChildren(...(move ? ranked(move).map((way) => this.#option(way)) : []));
    markEdge(move?.best, mistake && move.played);
    this.#weigh(move);
  }

  #option(way) {
    const { value, losses, played, best } = this.#move;
    const worst = Math.max(...Object.values(losses), Math.abs(value) / 10) || 1;
    return wayLine(way, {
      lost: way === best ? _("best") : this.#loss(way),
      share: 1 - (0.6 * losses[way]) / worst, // so that differences are visible
      isPlayed: way === played && way !== best,
    });
  }

  #loss(way) {
    const shown = amount(this.#move.losses[way]);
    return shown === amount(0) ? _("as good") : `−${shown}`;
  }

  // Update the bar beside the board and the line above the graph.
  #weigh(move) {
    const graph = $("review-graph");
    if (!graph) return;
    const percent = move ? Math.round(100 * Math.min(Math.max(move.value / (graph.dataset.most || 1), 0), 1)) : 0;
    const bar = $("chances");
    bar.style.setProperty("--share", `${percent}%`);
    bar.classList.toggle("low", percent < 6);
    bar.lastElementChild.textContent = move ? percent : "";
    const after = move && move.value - move.losses[move.played];
    const values = move && { ply: grouped(move.ply), before: amount(move.value), after: amount(after) };
    put("graph-said", move ? _("move {ply} · {before} → {after}", values) : "");
  }

  // Hide the answer and ask for a move, or show it again.
  #ask(is) {
    this.#isTrying = is;
    $("tries").hidden = !is;
    $("options").hidden = is;
    if (!is) return;
    markEdge();
    $("badge").hidden = $("try").hidden = true;
    put("headline", _("Your move."));
    put("why", _("You went {way}. Find a better one.", { way: WAYS[this.#move.played].toLowerCase() }));
    this.#replay.speech.say(_("Your move."));
    $("tries").querySelector("button").focus();
  }

  #answer(way) {
    if (!this.#isTrying || !way) return;
    const move = this.#move;
    const words = { move: WAYS[way], best: WAYS[move.best] };
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
    put("headline", said);
    $("badge").hidden = true;
    this.#replay.speech.announce(said);
    (isRight ? $("next-mistake") : $("try")).focus();
  }

  async #step(by) {
    const turn = await this.#mistake(this.#replay.index + by, by);
    if (turn !== null) await this.#visit(turn);
    else this.#say(by > 0 ? _("No mistake comes after this.") : _("No mistake comes before this."));
  }

  async #visit(turn, scroll = false) {
    await this.#replay.seek(turn);
    if (scroll) $("board").scrollIntoView({ block: "center" });
    const move = await this.#find(turn);
    const said = move && [move.badge, move.headline, move.why].join(" ");
    this.#replay.speech.announce(said ?? itemOf(turn).querySelector(".verdict").textContent);
  }

  // Go to the move under the pointer in the graph.
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

const isMistake = ({ grade }) => !["best", "good"].includes(grade);

// The item of a move in the list of the worst mistakes.
const itemOf = (turn) => find(`.mistakes > [data-turn="${turn}"]`);

// The directions, the best first.
const ranked = ({ losses, best }) =>
  Object.keys(losses).sort((a, b) => Number(b === best) - Number(a === best) || losses[a] - losses[b]);

const amount = (value) =>
  $("review-graph").dataset.unit === "chance" ? `${grouped(100 * value, 1)} %` : grouped(value);

// Index at the right end of the graph.
const lastOf = (graph) => Math.max(Number(graph.dataset.last), 1);
