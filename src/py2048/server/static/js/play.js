// The page on which one plays.
import { Computer, showLosses } from "./computer.js";
import { Connection } from "./connection.js";
import { GamesDialog } from "./games.js";
import { isTaken, meaning } from "./keys.js";
import { toggleMotion } from "./motion.js";
import { NewGameDialog } from "./newgame.js";
import { grouped } from "./numbers.js";
import { Overlay, button, link } from "./overlay.js";
import { ActionQueue } from "./queue.js";
import { Scene } from "./scene.js";
import { spoken } from "./speech.js";
import { onSwipe } from "./swipe.js";
import { nextTheme } from "./theme.js";

const $ = (id) => document.getElementById(id);
const SLOW = 1000;
const LOST = 5000;
const LEFT = 250;

class Table {
  #slow = 0;
  #autoplay = null;

  constructor() {
    this.scene = new Scene();
    this.overlay = new Overlay($("board"));
    this.newGame = new NewGameDialog((rules, mode) => this.start(rules, mode));
    this.games = new GamesDialog((game) => this.connection.send({ type: "open", game }));
    this.computer = new Computer(() => this.#autoplay && this.#letPlay(this.computer.player));
    this.queue = new ActionQueue(
      (message) => this.connection.send(message),
      () => this.#waiting(),
    );
    this.connection = new Connection("/ws", {
      message: (message) => this.#hear(message),
      lost: () => this.#lost(),
    });
  }

  get game() {
    return this.scene.game;
  }

  /** Whether leaving the game would leave something. */
  get isInProgress() {
    return this.game !== null && this.game.outcome === "playing" && this.game.ply > 0;
  }

  start(rules, mode) {
    if (!this.connection.send({ type: "new", rules, mode })) {
      this.scene.note("The server is away; a new game needs it.", "warn");
    }
  }

  move(direction) {
    if (!this.game) return;
    this.scene.view.finish();
    if (this.#isOver()) return;
    this.overlay.lower();
    if (this.#autoplay) this.#letPlay(null);
    this.queue.push({ type: "move", direction });
  }

  /** Do what a key or a button says. */
  do(command) {
    this.#commands[command]?.();
  }

  #commands = {
    undo: () => this.#act("undo", this.game?.can_undo || (this.#isCasual() && this.queue.length > 0)),
    redo: () => this.#act("redo", this.game?.can_redo),
    hint: () => this.#act("hint", this.#isCasual() && !this.#isOver(), { player: this.computer.player }),
    auto: () => this.#toggleAutoplay(),
    new: () => this.#again(),
    rules: () => this.#choose(),
    games: () => this.connection.send({ type: "games" }),
    read: () => this.game && this.scene.speech.announce(spoken(this.game.board)),
    player: () => $("player").focus(),
    faster: () => this.computer.changeSpeed(1),
    slower: () => this.computer.changeSpeed(-1),
    theme: () => this.#announce(`Theme: ${nextTheme($("theme")).replace("Theme: ", "")}.`),
    motion: () => this.#announce(toggleMotion() ? "Animation on." : "Animation off."),
  };

  #act(type, can, more = {}) {
    if (!this.game) return;
    if (!can) {
      this.#announce(this.#isCasual() ? NOTHING[type] : NEEDS_CASUAL);
      return;
    }
    this.scene.view.finish();
    this.overlay.lower();
    if (this.#autoplay) this.#letPlay(null);
    this.queue.push({ type, ...more });
  }

  // The same game again where nothing is lost; otherwise ask.
  #again() {
    if (this.isInProgress || !this.game || this.game.mode === "daily") this.#choose();
    else this.start(this.game.rules.text, this.game.mode);
  }

  #choose() {
    const warning = this.isInProgress
      ? `A game is in progress, with ${grouped(this.game.score)} points. It is kept: “Games” takes it up again.`
      : "";
    this.newGame.open(warning, this.game);
  }

  #toggleAutoplay() {
    if (this.#autoplay) this.#letPlay(null);
    else if (!this.#isCasual()) this.#announce(NEEDS_CASUAL);
    else if (!this.#isOver()) {
      this.overlay.lower();
      this.#letPlay(this.computer.player);
    }
  }

  #letPlay(player) {
    this.connection.send({ type: "autoplay", player, delay: this.computer.delay });
  }

  #isCasual() {
    return this.game?.mode === "casual";
  }

  #isOver() {
    return this.game !== null && this.game.outcome !== "playing" && this.queue.length === 0;
  }

  #announce(text, kind = "") {
    this.scene.note(text, kind);
    this.scene.speech.announce(text);
  }

  #hear(message) {
    const heard = {
      hello: () => this.#greeted(message),
      state: () => this.#state(message),
      events: () => this.#events(message),
      hint: () => this.#hinted(message),
      compiling: () => message.game === this.game?.game && this.scene.note(message.say),
      autoplay: () => message.game === this.game?.game && this.#autoplayed(message.player),
      games: () => this.games.show(message.games, this.game?.game),
      refused: () => this.#refused(message),
    };
    heard[message.type]?.();
  }

  #greeted({ current }) {
    const wish = new URLSearchParams(location.search);
    const game = this.game?.game ?? wish.get("game") ?? current;
    if (!this.game && wish.get("new") === "daily") this.start("classic", "daily");
    else if (game) this.connection.send({ type: "open", game });
    else this.start("classic", this.newGame.mode === "daily" ? "casual" : this.newGame.mode);
    this.scene.note("");
  }

  #state(state) {
    const known = this.game?.game === state.game;
    const awaited = !this.queue.isReady;
    const fresh = this.scene.state(state);
    if (fresh) this.queue.restart(state.version);
    else if (awaited) this.queue.resume(state.version);
    else this.queue.state(state.version);
    if (!known && location.search) history.replaceState(null, "", "/");
    if (fresh) this.scene.note("");
    showLosses();
    this.overlay.lower();
    this.#autoplayed(state.autoplay);
    this.#render();
    if (state.outcome !== "playing") this.#end(false);
  }

  #events(message) {
    if (message.game !== this.game?.game) return;
    this.scene.events(message);
    this.queue.events(message.version, message.events);
    if (message.events.length) {
      showLosses();
      this.overlay.lower();
    }
    this.#autoplayed(message.autoplay);
    this.#render();
    const won = message.events.find((each) => each.kind === "won");
    if (message.events.some((each) => each.kind === "over")) this.#end(true);
    else if (won) this.#won(won);
  }

  #hinted(message) {
    if (message.game !== this.game?.game) return;
    this.queue.hinted(message.version);
    if (message.version !== this.queue.version) return;
    this.game.version = message.version;
    if (message.category) this.game.category = message.category;
    showLosses(message.values, message.direction);
    this.scene.note(
      message.instead_of
        ? `Quick hint: ${message.direction}. ${message.instead_of} is being compiled, once per installation.`
        : `${message.player} would go ${message.direction}. ${message.outlook}`.trimEnd(),
      "good",
    );
    this.scene.speech.announce(message.say ?? `Hint: ${message.direction}.`);
    this.#render();
  }

  #refused(message) {
    if (message.state) this.scene.state(message.state);
    this.queue.refused(message);
    if (message.reason === "unknown_game" || message.reason === "not_yours") {
      history.replaceState(null, "", "/");
      if (!this.game) this.start("classic", "casual");
    }
    if (message.state) this.#autoplayed(message.state.autoplay);
    // What is tried again and again is said once, and stands there until it works.
    const isKnown = message.reason === "storage" && $("status").textContent === message.message;
    if (message.reason !== "gap" && !isKnown) this.#announce(message.message, "warn");
    if (this.game) this.#render();
  }

  #lost() {
    this.queue.pause();
    this.#autoplayed(null);
    this.#waiting();
  }

  // Say it when moves wait; and when an answer is late, see whether the server is still there.
  #waiting() {
    const { length } = this.queue;
    clearTimeout(this.#slow);
    document.body.classList.toggle("away", !this.connection?.isOpen);
    if (!this.connection?.isOpen && this.game) {
      const moves = length ? ` ${length} ${length === 1 ? "move waits" : "moves wait"} for it.` : "";
      this.scene.note(`The server is away; trying again.${moves}`, "warn");
    } else if (this.queue.isFlying) {
      this.#slow = setTimeout(() => this.#late(), LOST - SLOW);
    }
  }

  #late() {
    this.scene.note("The server is slow to answer …", "warn");
    this.connection.check();
  }

  #autoplayed(player) {
    this.#autoplay = player;
    $("auto").setAttribute("aria-pressed", String(Boolean(player)));
    $("auto").textContent = player ? "Stop" : "Auto";
  }

  #render() {
    const { rules, mode, category, can_undo, can_redo, commitment, game, day } = this.game;
    const over = this.game.outcome !== "playing";
    $("rules-name").textContent = rules.name;
    $("rules-summary").textContent = rules.summary;
    badge("mode", mode === "daily" && day ? `daily ${day}` : mode);
    badge("category", category === "plain" ? "" : category);
    disable("undo", !can_undo);
    disable("redo", !can_redo);
    disable("hint", mode !== "casual" || over);
    disable("auto", mode !== "casual" || over);
    $("computer-note").hidden = mode === "casual";
    $("honesty").hidden = !commitment;
    $("commitment").textContent = commitment ?? "";
    $("permanent").href = `/game/${game}`;
    document.title = over ? "2048" : `${grouped(this.game.score)} · 2048`;
  }

  // A game that can be undone becomes a record when its player has left it.
  #replayLink(game) {
    const made = link("Replay", `/game/${game}`);
    made.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.connection.send({ type: "leave" });
      setTimeout(() => location.assign(made.href), LEFT);
    });
    return made;
  }

  #won({ tile }) {
    this.scene.note(`You made ${tile}!`, "good");
    const on = button("Play on", () => this.overlay.lower(), "primary");
    const again = button("New game", () => this.#choose());
    this.overlay.raise(
      { title: "You win!", text: `You made ${tile}. Any move plays on.`, won: true, actions: [on, again] },
      true,
    );
  }

  #end(soon) {
    const { outcome, score, best, game, can_undo } = this.game;
    const won = outcome === "won" || this.game.won;
    const record = score > 0 && score >= best ? " It is your best." : "";
    const actions = [
      button("New game", () => this.#again(), "primary"),
      this.#replayLink(game),
      ...(can_undo ? [button("Undo", () => this.do("undo"))] : []),
    ];
    const title = won ? "You win!" : "Game over";
    this.overlay.raise({ title, text: `${grouped(score)} points.${record}`, won, actions }, soon);
  }
}

const NEEDS_CASUAL = "Undo, hints and autoplay need a casual game.";
const NOTHING = {
  undo: "There is nothing to undo.",
  redo: "There is nothing to redo.",
  hint: "The game is over.",
};

function badge(id, text) {
  $(id).textContent = text;
  $(id).hidden = !text;
}

// A button that cannot be used now stays in reach of the keyboard, so that no focus is lost.
function disable(id, is) {
  $(id).disabled = false;
  $(id).setAttribute("aria-disabled", String(is));
}

// Within reach of the console and of the tests; the server believes nothing that is done with it.
const table = (window.py2048 = new Table());

document.addEventListener("keydown", (event) => {
  if (isTaken(event)) return;
  const meant = meaning(event);
  if (!meant) return;
  event.preventDefault();
  // A key that is held repeats itself only as fast as the server follows.
  if (event.repeat && table.queue.length > 1) return;
  if (meant.move) table.move(meant.move);
  else if (meant.look) table.scene.view.look(meant.look);
  else table.do(meant.command);
});

onSwipe($("board"), (direction) => table.move(direction));

for (const arrow of document.querySelectorAll(".pad button")) {
  arrow.addEventListener("click", () => table.move(arrow.dataset.direction));
}
for (const command of ["undo", "redo", "hint", "auto", "games"]) {
  $(command).addEventListener("click", () => table.do(command));
}
$("new").addEventListener("click", () => table.do("rules"));
