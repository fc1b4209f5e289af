// The review of a finished game: waits for the review, steps through the costliest mistakes, explains
// what each move lost, shows typical lines, and lets the player try again.
import { $, find, findAll, pause, press, put } from "./elements.js";
import { meaning, onSwipe } from "./input.js";
import { _, grouped } from "./language.js";
import { WAYS, isMistake, markEdge, wayLine } from "./ways.js";

/**
 * Where a review comes from. `state` and `page` give null without a connection.
 * @typedef {object} Source
 * @property {(turn: number) => Promise<{page: any, at: number}>} at the page of its moves with a turn
 * @property {() => Promise<?any>} state how far it is
 * @property {() => Promise<?Document | DocumentFragment>} page the parts of this page, with the review
 * @property {(form: HTMLFormElement) => void} offerLevels reviews again for a level chosen in a form
 */

const LOOK_MS = 1500;
const LINE_MS = 700;
const PARTS = ["review", "graph-card", "review-more"];

export class ReviewSteps {
  #replay;
  #source;
  /** @type {?Protocol.ReviewedMove & Partial<Protocol.Moment>} */
  #move = null;
  #isTrying = false;
  /** @type {?object} identifies the lines that are being shown */
  #lines = null;
  /** @type {?number[]} indexes of the moves that a drill asks for */
  #drill = null;

  /**
   * @param {any} replay the replay of the game
   * @param {Source} source of its review
   * @param {(act: () => Promise<void>) => () => Promise<void>} by makes a function stop the replay first
   */
  constructor(replay, source, by) {
    this.#replay = replay;
    this.#source = source;
    $("previous-mistake").addEventListener("click", by(() => this.#step(-1)));
    $("next-mistake").addEventListener("click", by(() => this.#step(1)));
    $("show-me").addEventListener("click", by(() => this.#toggleLines()));
    $("try").addEventListener("click", by(async () => this.#ask(true)));
    $("tries").addEventListener("click", ({ target }) => this.#answer(target.dataset.direction));
    onSwipe($("board"), (direction) => this.#answer(direction), () => null);
    this.by = by;
    this.#offer();
  }

  /** Index of the costliest mistake, where the replay starts. */
  get first() {
    return Number($("review")?.dataset.first ?? 0);
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
    if (isPending($("review")?.dataset ?? {})) setTimeout(() => this.#look(), LOOK_MS);
    const items = findAll(".mistakes > li");
    for (const id of ["previous-mistake", "next-mistake"]) $(id).hidden = !items.length;
    for (const item of items) {
      this.#reveal(item.querySelector(".show"), () => this.#visit(Number(item.dataset.turn), true));
    }
    for (const button of findAll(".drill")) {
      const turns = button.dataset.turns.split(" ").map(Number);
      this.#reveal(button, () => this.#begin(turns));
    }
    if ($("level")) this.#source.offerLevels($("level"));
    const go = (event) => event.buttons && this.by(() => this.#point(event))();
    $("review-graph")?.addEventListener("pointerdown", go);
    $("review-graph")?.addEventListener("pointermove", go);
  }

  #reveal(button, act) {
    button.hidden = false;
    button.addEventListener("click", this.by(act));
  }

  async #look() {
    const answer = await this.#source.state();
    if (answer && !isPending(answer)) {
      await this.#renew();
      return;
    }
    if (answer) this.#progress(answer);
    setTimeout(() => this.#look(), answer ? LOOK_MS : 4 * LOOK_MS);
  }

  #progress({ state, ahead, done, total }) {
    const first = ahead ? _("Games ahead in the queue: {n}.", { n: ahead }) : _("This game is next.");
    const counts = { done: grouped(done), total: grouped(total) };
    if (state === "waiting") put("review-progress", first);
    else if (done === total) put("review-progress", _("All moves judged. Simulating more games …"));
    else if (done) put("review-progress", _("{done} of {total} moves are reviewed.", counts));
    $("review-share").max = total;
    $("review-share").value = done;
  }

  async #renew() {
    const fresh = await this.#source.page();
    if (!fresh) {
      setTimeout(() => this.#look(), 4 * LOOK_MS);
      return;
    }
    for (const id of PARTS) $(id).replaceWith(fresh.getElementById(id));
    this.#offer();
    const { index } = this.#replay;
    const first = index || this.first;
    if (first !== index) await this.by(() => this.#replay.seek(first))();
    else this.mark(index);
    if (this.#isDone) this.#replay.speech.announce(_("The review is ready."));
  }

  // The review of the move at an index; null if there is none.
  async #find(turn) {
    if (!this.#isDone) return null;
    try {
      const { page, at } = await this.#source.at(turn);
      // If attempts that move nothing count as turns, turn and move numbers differ.
      const move = page.total === this.#replay.turns.total ? page.moves[at] : null;
      return move && { ...move, ...page.summary.moments.find(({ ply }) => ply === move.ply) };
    } catch {
      return null; // the replay works without it
    }
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
    $("show-me").hidden = !Object.keys(move?.lines ?? {}).length;
    const lines = (move?.options ?? []).map(({ direction, text: lost, share }) =>
      wayLine(direction, { lost, share, isPlayed: direction === move.played && mistake }),
    );
    $("options").replaceChildren(...lines);
    markEdge(move?.best, mistake && move.played);
    this.#weigh(move);
  }

  // Update the bar beside the board and the line above the graph, which show chances.
  #weigh(move) {
    const known = move?.goal ? move : null;
    const percent = Math.round(100 * (known?.values[known.best] ?? 0));
    const bar = $("chances");
    bar.style.setProperty("--share", `${percent}%`);
    bar.classList.toggle("low", percent < 6);
    bar.lastElementChild.textContent = known ? percent : "";
    const text = (way) => known.options.find(({ direction }) => direction === way).text;
    const said = known && { ply: grouped(known.ply), before: text(known.best), after: text(known.played) };
    if ($("graph-said")) put("graph-said", known ? _("move {ply} · {before} → {after}", said) : "");
  }

  // Show a typical line after the better move, then one after the played one; or stop.
  async #toggleLines() {
    const move = this.#move;
    const { view, board, speech } = this.#replay;
    if (this.#lines) {
      this.#show(move);
      return;
    }
    const lines = (this.#lines = {});
    press("show-me", true);
    markEdge();
    for (const way of new Set([move.best, move.played])) {
      const { turns, fear } = move.lines[way];
      const word = { way: WAYS[way], tile: fear };
      const said = fear ? _("After {way}. Keep an eye on the {tile}.", word) : _("After {way}.", word);
      put("headline", said);
      speech.announce(said);
      view.show(board);
      markTiles(fear);
      await pause(LINE_MS);
      for (const turn of turns) {
        if (this.#lines !== lines) return;
        view.move(turn, turn.board);
        markTiles(fear);
        await pause(LINE_MS);
      }
      await pause(LINE_MS);
      if (this.#lines !== lines) return;
    }
    this.#show(move);
  }

  #endLines() {
    if (!this.#lines) return;
    this.#lines = null;
    press("show-me", false);
    this.#replay.view.show(this.#replay.board);
  }

  // Hide the answer and ask for a move, or show it again.
  #ask(is) {
    this.#endLines();
    this.#isTrying = is;
    $("tries").hidden = !is;
    $("options").hidden = is;
    if (!is) return;
    markEdge();
    $("badge").hidden = $("try").hidden = $("show-me").hidden = true;
    put("headline", _("Your move."));
    put("why", _("You went {way}. Find a better one.", { way: WAYS[this.#move.played].toLowerCase() }));
    this.#replay.speech.say(_("Your move."));
    $("tries").querySelector("button").focus();
  }

  #answer(way) {
    if (!this.#isTrying || !way) return;
    const move = this.#move;
    const words = { move: WAYS[way], best: WAYS[move.best] };
    const option = move.options.find(({ direction }) => direction === way);
    if (!option) {
      this.#replay.view.lean(way);
      put("status", _("Nothing moves that way."));
      return;
    }
    this.#show(move);
    const isRight = way === move.best || !isMistake(option);
    let said = _("Not {move}: {best} is best.", words);
    if (way === move.best) said = _("Right: {move} is best.", words);
    else if (isRight) said = _("Good: {move} is nearly as good as {best}.", words);
    put("headline", said);
    $("badge").hidden = true;
    this.#replay.speech.announce(said);
    (isRight ? $("next-mistake") : $("try")).focus();
  }

  // Ask for better moves in some positions, one after the other.
  async #begin(turns) {
    await this.#visit(turns[0], true);
    this.#drill = turns;
    this.#ask(true);
  }

  async #step(by) {
    const drill = this.#drill;
    const turns = drill ?? findAll(".mistakes > li").map((item) => Number(item.dataset.turn));
    const isBeyond = (turn) => by * (turn - this.#replay.index) > 0;
    const turn = by > 0 ? turns.find(isBeyond) : turns.findLast(isBeyond);
    if (turn === undefined) {
      this.#drill = null;
      put("status", by > 0 ? _("No later mistakes.") : _("No earlier mistakes."));
      return;
    }
    await this.#visit(turn);
    this.#drill = drill;
    if (drill) this.#ask(true);
  }

  async #visit(turn, scroll = false) {
    this.#drill = null;
    await this.#replay.seek(turn);
    if (scroll) scrollTo({ top: 0 });
    const move = await this.#find(turn);
    this.#show(move);
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
}

const isPending = ({ state }) => state === "waiting" || state === "running";

// The item of a move in the list of moments.
const itemOf = (turn) => find(`.mistakes > [data-turn="${turn}"]`);

// Mark the tiles of a value on the board.
function markTiles(value) {
  for (const tile of findAll("#board .tile")) tile.classList.toggle("feared", tile.textContent === String(value));
}

// Index at the right end of the graph.
const lastOf = (graph) => Math.max(Number(graph.dataset.last), 1);
