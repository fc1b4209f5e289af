// The play page.
import { AWAY, Connection, LOGGED_OUT, RETRYABLE } from "./connection.js";
import { $, badge, find, findAll, openDialog, press, toBoard } from "./elements.js";
import { isTaken, hasLetterKeys, meaning, onSwipe, toggleLetterKeys } from "./input.js";
import { _, grouped, ngettext } from "./language.js";
import { moves as mayMove, toggleMotion } from "./motion.js";
import { OfflineGame } from "./offline.js";
import { nextTheme } from "./page.js";
import { ActionQueue, MAX_ACTIONS } from "./queue.js";
import { Scene } from "./scene.js";
import { initial, reduce } from "./session.js";
import { scoreSentence, spoken } from "./speech.js";
import { nameOf, read, write } from "./storage.js";
import { GameView, isRacing, lastMode } from "./view.js";

const SLOW_ANSWER_MS = 4000;
const SILENT_SERVER_MS = 5000;
const RETRY_MS = 1000;
const LEAVE_MS = 250;
// Help and dialogs load after the first move, or after this time without a move.
const LAZY_LOAD_MS = 3000;
const NO_CONNECTION = { isOpen: false, isLoggedOut: false, send: () => false, check() {} };

const NEEDS_CASUAL = _("Undo, hints and autoplay need a casual game.");
const CHANGED = _("The board has changed.");
const NOTHING = {
  undo: _("There is nothing to undo."),
  redo: _("There is nothing to redo."),
  hint: _("The game is over."),
};

/** Connects the session with the board, the dialogs, the action queue and the server. */
export class PlayPage {
  #slow = 0;
  #retry = 0;
  #rivals = null;
  /** @type {?Promise<void>} */
  #loading = null;

  // Null until they are loaded:
  /** @type {?import("./help.js").Help} */
  help = null;
  /** @type {?import("./dialogs.js").NewGameDialog} */
  newGame = null;
  /** @type {?import("./result.js").ResultDialog} */
  result = null;
  /** @type {?import("./local.js").LocalGames} only on a page without a server */
  local = null;

  constructor() {
    this.session = initial(wishOf(location.search), !("alone" in document.body.dataset));
    this.scene = new Scene();
    this.view = new GameView();
    this.queue = new ActionQueue((message) => this.send(message), () => this.#watchAnswers());
    this.offline = new OfflineGame((kept) => this.dispatch({ type: "kept", ...kept }));
    this.connection = this.hasServer ? this.#connect() : NO_CONNECTION;
    if (!this.hasServer) this.#enterAlone();
    if (!this.hasServer || read("coach") === "on") this.load();
  }

  /** Load what the first move does not need, then let the service worker cache the page. */
  load() {
    this.#loading ??= Promise.all([
      import("./dialogs.js"),
      import("./help.js"),
      import("./install.js"),
      import("./result.js"),
    ]).then(
      ([{ NewGameDialog }, { Help }, { keepPage }, { ResultDialog }]) => {
        this.newGame = new NewGameDialog((rules, mode) => this.start(rules, mode));
        this.result = new ResultDialog({
          do: (command) => this.do(command),
          move: (direction) => this.move(direction),
          leave: (address) => this.leave(address),
          refresh: () => (this.local ? this.local.showToday() : this.game && this.view.lookBeside(this.game)),
        });
        this.help = new Help(this);
        if (this.hasServer) keepPage();
      },
      () => {
        this.#loading = null; // the server is unreachable; the next move retries
      },
    );
    return this.#loading;
  }

  // Call `act` once help and dialogs are loaded, synchronously if they already are.
  async #whenLoaded(act) {
    if (!this.help) await this.load();
    if (this.help) act();
    else this.announce(AWAY, "warn");
  }

  #connect() {
    // The connection itself would detect an unresponsive server much later.
    if (!location.search) {
      setTimeout(() => this.session.current === undefined && this.#lose(), SILENT_SERVER_MS);
    }
    return new Connection("/ws", { message: (message) => this.#hear(message), lost: () => this.#lose() });
  }

  // What the page knows

  get game() {
    return this.session.game;
  }

  get hasServer() {
    return this.session.hasServer;
  }

  /** Whether the game continues without the server. */
  get isAlone() {
    return this.session.phase === "alone";
  }

  get isCasual() {
    return this.game?.mode === "casual";
  }

  /** Whether the game is over and no action is pending. */
  get isOver() {
    return this.game !== null && this.game.outcome !== "playing" && this.queue.length === 0;
  }

  /** Whether a new game would interrupt this one. */
  get isInProgress() {
    return this.game !== null && this.game.outcome === "playing" && this.game.ply > 0;
  }

  // What the player does

  start(rules, mode) {
    if (this.local) this.local.start(rules, mode);
    else if (!this.send({ type: "new", rules, mode })) this.#tellCannot(_("A new game needs it."));
  }

  move(direction) {
    if (this.game && !this.isOver) this.push({ type: "move", direction });
    else if (this.game && !this.result?.isUp) this.#showEnd(false);
  }

  /** Run the command of a key or a button. */
  do(command) {
    this.#commands[command]?.();
  }

  #commands = {
    undo: () => this.#act("undo", this.game?.can_undo || (this.isCasual && this.queue.length > 0)),
    redo: () => this.#act("redo", this.game?.can_redo),
    hint: () => this.#act("hint", this.isCasual && !this.isOver),
    auto: () => this.#whenLoaded(() => this.help.toggleAutoplay()),
    new: () => this.#again(),
    casual: () => this.start("classic", "casual"),
    rules: () => this.#choose(),
    games: () =>
      this.local ? this.#showGames(this.local.games) : this.send({ type: "games" }) || this.#tellCannot(_("Your other games need it.")),
    read: () => this.game && this.scene.speech.announce(spoken(this.game.board)),
    more: () => {
      openDialog("menu-dialog");
      this.load();
    },
    player: () =>
      this.#whenLoaded(() => {
        openDialog("menu-dialog");
        $("player-choice").querySelector("input:checked, input").focus();
      }),
    coach: () => this.#whenLoaded(() => this.help.toggleCoach()),
    milestones: () => {
      if (!this.hasServer) return;
      write("milestones", isRacing() ? "" : "on");
      this.announce(isRacing() ? _("Milestones are shown.") : _("Milestones are hidden."));
      if (this.game) this.#render();
    },
    pad: () => this.view.showPad(find(".pad").hidden),
    letters: () => {
      this.announce(toggleLetterKeys() ? _("Letter keys on.") : _("Letter keys off."));
      press("letters-line", hasLetterKeys());
    },
    faster: () => this.#whenLoaded(() => this.help.computer.changeSpeed(1)),
    slower: () => this.#whenLoaded(() => this.help.computer.changeSpeed(-1)),
    theme: () => this.announce(_("Theme: {theme}.", { theme: nextTheme() })),
    motion: () => {
      this.announce(toggleMotion() ? _("Animation on.") : _("Animation off."));
      press("motion", mayMove());
    },
  };

  /** Go to another page. Leaving a finished game makes it final; until then, it can be undone. */
  leave(address) {
    this.send({ type: "leave" });
    setTimeout(() => location.assign(address), LEAVE_MS);
  }

  /** Show moves that another tab has played offline. */
  follow() {
    if (!this.isAlone || !this.offline.follow()) return;
    this.resume();
    if (this.hasServer) this.scene.note(this.#awayText(), "warn");
  }

  #act(type, can) {
    if (!this.game) return;
    if (!can) {
      if (this.session.phase === "loggedOut") this.#tellUnsent();
      else this.announce(this.isCasual ? NOTHING[type] : NEEDS_CASUAL);
      return;
    }
    this.scene.view.finish();
    if (type === "hint") {
      this.#whenLoaded(() => this.help.ask());
      return;
    }
    if (this.help) this.help.isAsked = false;
    if (this.isAlone) this.#takeBackAlone(type);
    else this.push({ type });
  }

  /**
   * Send an action, or make a move offline. The slide of a move is shown immediately.
   * @param {import("./queue.js").Action} action
   */
  push(action) {
    if (this.isAlone && action.type === "move") {
      this.help?.autoplayed(null);
      this.playAlone(action.direction);
      return;
    }
    if (this.help?.isAutoplaying) this.help.letPlay(null);
    if (!this.queue.push(action)) {
      this.#tellUnsent();
      return;
    }
    this.result?.lower();
    if (this.queue.length === 1) this.#showAhead();
  }

  /**
   * Send a message; return whether it was sent.
   * @param {Protocol.PageMessage} message
   */
  send(message) {
    return this.connection.send(message);
  }

  /** Make a move offline. */
  playAlone(direction, isComputers = false) {
    this.dispatch({ type: "played", message: this.offline.play(direction, isComputers) });
  }

  #takeBackAlone(type) {
    this.help?.autoplayed(null);
    const message = this.offline[type]();
    if (message) this.dispatch({ type: "played", message });
    else this.tellNoHelp();
  }

  async #enterAlone() {
    const { LocalGames } = await import("./local.js");
    this.local = new LocalGames(this);
    this.local.enter();
  }

  // Restart the same kind of game if that interrupts nothing; otherwise ask.
  #again() {
    if (this.isInProgress || !this.game || ["daily", "battle"].includes(this.game.mode)) this.#choose();
    else this.start(this.game.rules.text, this.game.mode);
  }

  #choose() {
    const points = grouped(this.game?.score ?? 0);
    const warning = _("A game is in progress, with {points} points. To continue it later, open “Games in progress”.", { points });
    this.#whenLoaded(() => this.newGame.open(this.isInProgress ? warning : "", this.game));
  }

  // What the connection and the server say

  /** @param {Protocol.ServerMessage} message */
  #hear(message) {
    if (message.type === "hello") this.#followBeforeEntering();
    if (message.type === "refused" && this.queue.isStale(message)) return;
    const isShown = "game" in message && message.game === this.game?.game;
    if (message.type === "compiling") isShown && this.help?.isShowing && this.scene.note(message.say);
    else if (message.type === "autoplay") isShown && this.#whenLoaded(() => this.help.autoplayed(message.player));
    else if (message.type === "games") this.#showGames(message.games);
    else if (message.type === "battle") this.#follow(message);
    else this.dispatch(message);
  }

  async #showGames(games) {
    const { showGames } = await import("./dialogs.js");
    showGames(games, this.game?.game, (game) => (this.local ? this.local.open(game) : this.send({ type: "open", game })));
  }

  #lose() {
    const unanswered = this.queue.pause().map(({ type }) => type);
    this.dispatch({ type: "lost", isLoggedOut: this.connection?.isLoggedOut ?? false, unanswered });
  }

  #followBeforeEntering() {
    if (this.game && this.game.game === this.offline.game?.game) this.offline.follow();
  }

  // The session and its effects

  /** Update the session and run the effects. */
  dispatch(message) {
    const { state, effects } = reduce(this.session, message);
    this.session = state;
    for (const effect of effects) this.#effects[effect.type](effect);
  }

  /** @type {{[type: string]: (effect: any) => void}} */
  #effects = {
    send: ({ message }) => this.send(message),
    start: ({ rules, mode }) => this.start(rules, mode),
    startUsual: () => this.start("classic", lastMode()),
    reconcile: ({ state }) => {
      const messages = this.offline.messages(state);
      const { saved, length: unsent } = this.offline;
      this.dispatch({ type: "reconciled", state, messages, saved, unsent });
    },
    forget: () => this.offline.forget(),
    leaveKept: () => this.offline.leave(),
    resume: () => this.resume(),
    retryLater: ({ ms = RETRY_MS }) => {
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => {
        this.#followBeforeEntering();
        this.dispatch({ type: "retry" });
      }, ms);
    },
    stopRetry: () => clearTimeout(this.#retry),
    restartQueue: ({ version }) => this.queue.restart(version),
    correctQueue: ({ version }) => this.#tellDropped(this.queue.state(version), CHANGED),
    pauseQueue: () => this.queue.pause(),
    clearAddress: () => clearAddress(),
    clearNote: () => this.scene.note(""),
    note: ({ text }) => this.scene.note(text, "warn"),
    tellUnmade: ({ count }) => this.#tellDropped(count, _("The connection was lost.")),
    tellSaved: ({ count }) =>
      this.announce(ngettext("Connected again: {n} move saved.", "Connected again: {n} moves saved.", count)),
    tellLost: ({ count, why = _("The game has changed") }) =>
      this.announce(`${why}: ${ngettext("{n} move lost.", "{n} moves lost.", count)}`, "warn"),
    tellAway: (effect) => this.#tellAway(effect),
    tellLoggedOut: () => this.#tellLoggedOut(),
    stopAutoplay: () => this.help?.autoplayed(null),
    draw: ({ isFresh, isBack }) => this.scene.show(this.game, isFresh, isBack),
    retract: () => this.game && this.scene.retract(this.game),
    welcome: ({ isFresh }) => this.#welcome(isFresh),
    animate: (effect) => this.#animate(effect),
    animateAlone: (effect) => this.#animateAlone(effect),
    showHint: ({ hint }) => this.#showHint(hint),
    refuse: (effect) => this.#refuse(effect),
  };

  // Show everything around a board that the server has described.
  #welcome(isFresh) {
    if (isFresh) {
      clearAddress();
      this.scene.note("");
    }
    this.help?.reset();
    this.result?.lower();
    this.help?.autoplayed(this.game.autoplay);
    if (this.game.autoplay) this.load();
    else setTimeout(() => this.load(), LAZY_LOAD_MS);
    this.#render();
    this.offline.keep(this.game);
    if (this.game.outcome !== "playing") this.#showEnd(false);
    this.#followBattle();
    this.help?.watch();
    if (isFresh) this.view.lookBeside(this.game);
  }

  #animate({ before, message }) {
    const { events, version, autoplay, outcome } = message;
    this.scene.play(before, this.game, events);
    this.offline.keep(this.game);
    const dropped = this.queue.events(version, events);
    if (events.length) {
      this.result?.lower();
      this.help?.comment(events);
    }
    this.help?.autoplayed(autoplay);
    this.#render();
    this.#tellDropped(dropped, CHANGED);
    if (outcome !== "playing") this.#tellDropped(this.queue.drop(), _("The game is over."));
    this.#tellEnd(events);
    this.#showAhead();
    this.help?.watch();
    this.load();
  }

  #animateAlone({ before, message: { events } }) {
    this.result?.lower();
    this.scene.play(before, this.game, events);
    this.help?.comment(events);
    this.#render();
    if (this.hasServer && events[0].kind !== "nothing_moved") this.scene.note(this.#awayText(), "warn");
    this.#tellEnd(events);
    this.help?.watch();
    this.load();
  }

  #showHint(hint) {
    this.queue.hinted(hint.version);
    if (!this.isAlone) this.offline.keep(this.game);
    this.#whenLoaded(() => this.help.show(hint));
    this.#render();
    this.#showAhead();
  }

  #refuse({ before, message }) {
    const { reason, of, state } = message;
    const isKnown = state && JSON.stringify(state.board) === JSON.stringify(before?.board);
    const dropped = this.queue.refused(message, Boolean(isKnown));
    if (state) this.scene.show(state, before?.game !== state.game);
    else if (!this.queue.head && before) this.scene.retract(before);
    if (state) this.help?.autoplayed(state.autoplay);
    // Announce a repeated reason only once. The note is shown until the action succeeds.
    const isTold = RETRYABLE.includes(reason) && this.scene.noted === message.message;
    const isQuiet = of === "hint" && this.help?.isAsked === false;
    if (reason === "gap") this.#tellDropped(dropped, CHANGED);
    else if (!isTold && !isQuiet) this.announce(message.message, "warn");
    if (!this.game) return;
    this.#render();
    if (reason === "over" && this.game.outcome !== "playing") this.#showEnd(false);
    this.#showAhead();
  }

  #showAhead() {
    const { head } = this.queue;
    if (this.scene.isAhead || this.game.outcome !== "playing") return;
    if (head?.type === "move") this.scene.slide(this.game, head.direction);
  }

  /** Show the kept game without the server. */
  resume() {
    this.dispatch({ type: "resumed", game: { ...this.offline.game, say: scoreSentence(this.offline.game.score) } });
    this.#render();
    if (this.game.outcome !== "playing") this.#showEnd(false);
  }

  // Show or hide the boards of the other players in a battle.
  async #followBattle() {
    const { game, mode } = this.game;
    const isOn = mode === "battle";
    if (isOn) {
      const [{ Rivals }] = await Promise.all([import("./rivals.js"), this.load()]);
      const announce = (text) => this.scene.speech.announce(text);
      this.#rivals ??= new Rivals($("rivals"), announce, (time) => badge("mode", time));
    } else {
      this.#rivals?.hide();
    }
    if (this.#rivals) this.send({ type: "battle", game: isOn ? game : null });
  }

  // Show a battle's standings. A result that is open names the winner once all games have ended.
  #follow(message) {
    this.#rivals?.show(message);
    if (message.stage === "over" && this.result?.isUp) this.#showEnd(false);
  }

  // Check whether the server is still reachable if a response is late.
  #watchAnswers() {
    clearTimeout(this.#slow);
    if (this.queue.head) this.#slow = setTimeout(() => this.#checkServer(), SLOW_ANSWER_MS);
  }

  #checkServer() {
    this.scene.note(_("The server is slow to answer …"), "warn");
    this.connection.check();
  }

  #showEnd(soon) {
    this.#whenLoaded(() => {
      if (this.game.outcome !== "playing") this.result.end(this.game, soon, this.hasServer);
    });
  }

  #render() {
    this.view.render(this.game, this.#rivals?.time);
  }

  // What the page says

  /** Show a line and announce it to screen readers. */
  announce(text, kind = "") {
    this.scene.note(text, kind);
    this.scene.speech.announce(text);
  }

  /** Tell the player that help requires a casual game. */
  tellNeedsCasual() {
    this.announce(NEEDS_CASUAL);
  }

  /** Tell the player why there is no help offline. */
  tellNoHelp() {
    const why = this.hasServer ? `${AWAY} ${_("Undo, hints and autoplay need it.")}` : _("There are no hints on this board.");
    this.announce(why, "warn");
  }

  #tellAway({ isNews, unanswered }) {
    if (!this.game) return;
    this.offline.lost(this.game, unanswered);
    if (isNews) this.announce(this.#awayText(), "warn");
    else if (!this.scene.noted) this.scene.note(this.#awayText(), "warn");
  }

  #awayText() {
    if (!this.isAlone) return AWAY;
    const { length } = this.offline;
    const unsent = length ? ngettext("{n} move not sent yet.", "{n} moves not sent yet.", length) : "";
    return [AWAY, this.isOver ? "" : _("You can play on."), unsent].filter(Boolean).join(" ");
  }

  #tellLoggedOut() {
    if (this.result?.isUp && this.scene.noted === LOGGED_OUT) return;
    this.announce(LOGGED_OUT, "warn");
    this.#whenLoaded(() => this.result.showLoggedOut(this.offline.length));
  }

  #tellCannot(why) {
    this.scene.note(this.session.phase === "loggedOut" ? LOGGED_OUT : `${AWAY} ${why}`, "warn");
  }

  #tellUnsent() {
    if (this.session.phase !== "online") this.#tellCannot(_("Keys pressed until then are ignored."));
    else if (this.queue.length >= MAX_ACTIONS) this.scene.note(_("Too fast: wait for the board."), "warn");
  }

  // Announce that actions were dropped because they referred to another board.
  #tellDropped(count, why) {
    if (count) this.announce(`${why} ${ngettext("{n} move was not made.", "{n} moves were not made.", count)}`, "warn");
  }

  #tellEnd(events) {
    const won = events.find(({ kind }) => kind === "won");
    if (events.some(({ kind }) => kind === "over")) this.#showEnd(true);
    else if (won) this.#whenLoaded(() => this.scene.note(this.result.celebrate(this.game, won.tile), "good"));
  }
}

function wishOf(search) {
  const asked = new URLSearchParams(search);
  return { game: asked.get("game"), mode: asked.get("new"), rules: asked.get("rules") };
}

function clearAddress() {
  if (location.search) history.replaceState(null, "", location.pathname);
}

// For the console and the tests. The server does not trust anything that the page sends.
const page = (globalThis.py2048 = new PlayPage());

document.addEventListener("keydown", (event) => {
  if (isTaken(event)) return;
  const meant = meaning(event);
  if (!meant) return;
  event.preventDefault();
  // A held key repeats only as fast as the server responds.
  if (event.repeat && page.queue.length > 1) return;
  if (meant.move) page.move(meant.move);
  else if (meant.look) page.scene.view.look(meant.look);
  else page.do(meant.command);
});

addEventListener("storage", ({ key }) => {
  if (page.offline.isStoredAs(nameOf(key))) page.follow();
});

onSwipe($("board"), (direction) => page.move(direction));

for (const arrow of findAll(".pad button")) {
  arrow.addEventListener("click", () => page.move(arrow.dataset.direction));
}
const STAYING = ["motion", "theme", "pad", "letters"]; // effect visible while the menu is open
for (const each of findAll(":is(.play, #menu-dialog) [data-do]")) {
  each.addEventListener("click", (event) => {
    const menu = each.closest("#menu-dialog");
    if (menu && !STAYING.includes(each.dataset.do)) menu.close();
    else if (!menu && event.detail) toBoard(); // after a click, the next key is for the board
    page.do(each.dataset.do);
  });
}
$("permanent").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  page.leave(event.currentTarget.href);
});
page.view.showPad(read("pad") === "on");
press("motion", mayMove());
press("letters-line", hasLetterKeys());
