// Help in casual games: hints, the coach and autoplay. They come from the server's players or, while
// the server is away, from the coach in the browser.
import { chosenLevel, coachAt, offerLevels } from "./coach.js";
import { Computer, showHint, wordOn } from "./computer.js";
import { $, pause, press, put } from "./elements.js";
import { keepPage } from "./install.js";
import { _ } from "./language.js";
import { movesTiles } from "./scene.js";
import { read, write } from "./storage.js";
import { presetOf } from "./view.js";
import { hintOf } from "./words.js";

/** @import { Hint } from "./computer.js" */
/** @import { PlayPage } from "./play.js" */

// The coach analyses the board only when the player pauses, so that it never delays a move.
const COACH_PAUSE_MS = 400;

export class Help {
  #page;
  #autoplay = null; // the player's spec; offline, the local run
  /** @type {?Hint} a hint for the board on the screen */
  #hint = null;
  #pause = 0;
  /** Whether the player, and not only the coach, waits for a hint. */
  isAsked = false;

  /** @param {PlayPage} page */
  constructor(page) {
    this.#page = page;
    this.computer = new Computer(() => {
      if (this.isAutoplaying) this.letPlay(this.computer.player);
      if (!$("menu-dialog").open) page.announce(this.computer.pace);
    });
    if ($("level-choice")) offerLevels($("level-choice"));
    this.autoplayed(page.game?.autoplay ?? null);
    this.showCoach();
    this.watch();
  }

  /** Whether a computer player makes the moves. */
  get isAutoplaying() {
    return this.#autoplay !== null;
  }

  // Hints

  /** Request a hint; offline, show the network's hint. */
  async ask() {
    const page = this.#page;
    this.isAsked = true;
    if (!page.isAlone) {
      page.push({ type: "hint", player: this.computer.player });
      return;
    }
    this.autoplayed(null);
    if (!(await this.#hintAlone())) page.tellNoHelp();
  }

  /**
   * Show a hint if the player requested it; otherwise keep it for the coach.
   * @param {Hint} hint
   */
  show(hint) {
    this.#hint = hint;
    if (!this.#page.isAlone) this.#coach().then(keepPage); // load it for hints without the server
    // A better hint may follow a quick one and replaces it.
    if (!this.isAsked && !this.isShowing) return;
    this.isAsked = false;
    showHint(hint);
    this.#page.scene.note(`${hint.headline}.`, "good");
    this.#page.scene.speech.announce(hint.say);
  }

  /** Whether a hint is on the screen. */
  get isShowing() {
    return $("hint-card").classList.contains("shown");
  }

  // Autoplay

  /** Start or stop autoplay, or announce why it is not possible. */
  toggleAutoplay() {
    const page = this.#page;
    if (this.isAutoplaying) this.letPlay(null);
    else if (!page.isCasual) page.tellNeedsCasual();
    else if (!page.isOver) {
      page.result.lower();
      this.letPlay(this.computer.player);
    }
  }

  /** Let a computer player make the moves; null stops autoplay. */
  letPlay(player) {
    const page = this.#page;
    if (!page.isAlone) page.send({ type: "autoplay", player, delay: this.computer.delay });
    else if (player === null) this.autoplayed(null);
    else this.#playAlone();
  }

  /** Record and show whether a computer player makes the moves. */
  autoplayed(player) {
    this.#autoplay = player;
    press("auto", Boolean(player));
    $("stop").hidden = !player;
    $("hint").hidden = Boolean(player);
  }

  async #playAlone() {
    const run = {};
    const isOn = () => this.#autoplay === run;
    this.autoplayed(run);
    while (isOn()) {
      const coach = await this.#coach();
      const direction = await coach?.ask("move", { board: this.#page.game.board });
      if (!isOn()) return;
      if (direction) this.#page.playAlone(direction, true);
      else this.#page.tellNoHelp();
      if (!direction || this.#page.result.isUp) this.autoplayed(null);
      await pause(this.computer.delay);
    }
  }

  // The coach

  /** Turn the coach on or off. */
  toggleCoach() {
    if (!this.#page.isCasual && !this.#isCoached) {
      this.#page.tellNeedsCasual();
      return;
    }
    write("coach", this.#isCoached ? "" : "on");
    this.showCoach();
    this.watch();
  }

  /** Forget the hint, because the board has changed. */
  reset() {
    this.#hint = null;
    showHint(null);
    this.showCoach();
  }

  /** Let the coach analyse the board after a pause. */
  watch() {
    const page = this.#page;
    clearTimeout(this.#pause);
    const isOn = this.#isCoached && page.isCasual && !this.isAutoplaying;
    if (!isOn || page.game.outcome !== "playing" || this.#hint) return;
    this.#pause = setTimeout(() => {
      if (page.isAlone) this.#hintAlone();
      else if (!page.queue.length) page.queue.push({ type: "hint", player: this.computer.player });
    }, COACH_PAUSE_MS);
  }

  /**
   * Hide the hint, and comment on the moves among some events if the coach has looked at the board
   * before them.
   * @param {any[]} events
   */
  comment(events) {
    showHint(null);
    const turns = events.filter(movesTiles);
    if (!turns.length) return;
    const word = this.#hint && turns[0].kind === "moved" ? wordOn(turns[0].direction, this.#hint) : "";
    this.#hint = null;
    if (!this.#isCoached) return;
    this.showCoach(word);
    if (!word) return;
    this.#page.scene.note(word, "warn");
    this.#page.scene.speech.say(word);
  }

  /** Show the coach's buttons and its comment. */
  showCoach(word = "") {
    for (const id of ["coach", "coach-line"]) press(id, this.#isCoached);
    put("coach", this.#isCoached ? _("Turn off") : _("Turn on"));
    put("coach-word", word || _("Comments on each mistake"));
  }

  get #isCoached() {
    return read("coach") === "on";
  }

  // Load the coach in the browser for the game's rules; null if there is none.
  async #coach() {
    const { text } = this.#page.game.rules;
    const address = presetOf(text)?.dataset.network;
    return address ? coachAt(address, text).catch(() => null) : null;
  }

  // Show hints like the server's, the first from few games; return false if there is no coach.
  async #hintAlone() {
    const page = this.#page;
    const { game, version, board, ply } = page.game;
    const coach = await this.#coach();
    if (!coach) return false;
    const show = (judged) => {
      const isThere = page.isAlone && page.game.board === board;
      if (judged && isThere) page.offline.help();
      if (judged && isThere) page.dispatch({ type: "hint", ...hintOf(judged), game, version });
    };
    show(await coach.ask("hint", { position: { board, ply: ply + 1 }, level: chosenLevel() }, show));
    return true;
  }
}
