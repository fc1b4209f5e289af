// The page on which one plays.
import { Computer, showHint, wordOn } from "./computer.js";
import { AWAY, Connection, LATER, LOGGED_OUT } from "./connection.js";
import { KINDS, NewGameDialog, openDialog, showGames, toBoard } from "./dialogs.js";
import { $, button, link, put } from "./elements.js";
import { keepPage } from "./install.js";
import { isTaken, meaning, onSwipe } from "./input.js";
import { _, grouped, ngettext } from "./language.js";
import { moves as mayMove, toggleMotion } from "./motion.js";
import { OfflineGame } from "./offline.js";
import { ActionQueue, MOST } from "./queue.js";
import { ResultDialog } from "./result.js";
import { Scene } from "./scene.js";
import { fetched } from "./server.js";
import { read, write } from "./settings.js";
import { spoken } from "./speech.js";
import { nextTheme } from "./page.js";

const SLOW = 1000;
const LOST = 5000;
const LEFT = 250;
const PAUSE = 400;
const LESSONS = 3;
/** Whether this page came from a server: one from a disk, or from a site of files, plays without. */
const HAS_SERVER = !("alone" in document.body.dataset);
const NOWHERE = { isOpen: false, isLoggedOut: false, send: () => false };

class Table {
  #slow = 0;
  #autoplay = null;
  #rivals = null;
  #unanswered = [];
  #current; // the server's word, once it has greeted
  #isSyncing = false;
  #hasState = false;
  #retry = 0;
  #coached = null; // what a hint said of the board on the table
  #pause = 0;
  #wantsHint = false;

  constructor() {
    this.offline = new OfflineGame();
    this.scene = new Scene();
    this.result = new ResultDialog({
      do: (command) => this.do(command),
      move: (direction) => this.move(direction),
      leave: (address) => this.leave(address),
    });
    this.newGame = new NewGameDialog((rules, mode) => this.start(rules, mode));
    this.computer = new Computer(() => {
      if (this.#autoplay) this.#letPlay(this.computer.player);
      if (!$("menu-dialog").open) this.#announce(this.computer.pace);
    });
    this.queue = new ActionQueue(
      (message) => this.connection.send(message),
      () => this.#waiting(),
    );
    const listener = { message: (message) => this.#hear(message), lost: () => this.#lost() };
    this.connection = HAS_SERVER ? new Connection("/ws", listener) : NOWHERE;
    if (!HAS_SERVER) {
      if (this.offline.game) this.#showKept();
      else this.start("classic");
      return;
    }
    // A connection that swallows everything is found dead much later.
    if (!location.search) setTimeout(() => this.#current === undefined && this.#lost(), LOST);
  }

  get game() {
    return this.scene.game;
  }

  /** Whether leaving the game would leave something. */
  get isInProgress() {
    return this.game !== null && this.game.outcome === "playing" && this.game.ply > 0;
  }

  start(rules, mode) {
    if (!HAS_SERVER) this.#startAlone(rules);
    else if (!this.connection.send({ type: "new", rules, mode })) this.#cannot(_("A new game needs it."));
  }

  move(direction) {
    if (this.game && !this.#isOver()) this.#push({ type: "move", direction });
    else if (this.game && !this.result.isUp) this.#end(false);
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
    casual: () => this.start("classic", "casual"),
    rules: () => this.#choose(),
    games: () => HAS_SERVER && (this.connection.send({ type: "games" }) || this.#cannot(_("Your other games need it."))),
    read: () => this.game && this.scene.speech.announce(spoken(this.game.board)),
    more: () => openDialog("menu-dialog"),
    player: () => {
      openDialog("menu-dialog");
      $("player-choice").querySelector("input:checked, input").focus();
    },
    coach: () => this.#toggleCoach(),
    pad: () => showPad(document.querySelector(".pad").hidden),
    faster: () => this.computer.changeSpeed(1),
    slower: () => this.computer.changeSpeed(-1),
    theme: () => this.#announce(_("Theme: {theme}.", { theme: nextTheme() })),
    motion: () => {
      this.#announce(toggleMotion() ? _("Animation on.") : _("Animation off."));
      press("motion", mayMove());
    },
  };

  #act(type, can, more = {}) {
    if (!this.game) return;
    if (!can) {
      this.#announce(this.#isCasual() ? NOTHING[type] : NEEDS_CASUAL);
      return;
    }
    this.scene.view.finish();
    this.#wantsHint = type === "hint";
    if (this.#isAlone) this.#helpAlone(type);
    else this.#push({ type, ...more });
  }

  // Send an action; what a move is certain to do is shown before the server answers.
  #push(action) {
    if (this.#isAlone) {
      this.#autoplayed(null);
      this.#showAlone(this.offline.play(action.direction));
      return;
    }
    if (this.#autoplay) this.#letPlay(null);
    if (!this.queue.push(action)) {
      this.#unsent();
      return;
    }
    this.result.lower();
    if (this.queue.length === 1) this.#showAhead();
  }

  #showAhead() {
    const { head } = this.queue;
    if (this.scene.isAhead || this.game.outcome !== "playing") return;
    if (head?.type === "move") this.scene.slide(head.direction);
  }

  // Whether the game continues without the server.
  get #isAlone() {
    const isKept = this.game !== null && this.game.game === this.offline.game?.game;
    return isKept && this.queue.isPaused && !this.#isSyncing && !this.connection.isLoggedOut;
  }

  #startAlone(rules) {
    const { value, dataset } = this.#presetOf(rules);
    this.#autoplayed(null);
    this.result.lower();
    showHint(null);
    this.offline.begin({ name: value, text: dataset.text, summary: dataset.summary });
    this.#showKept();
  }

  #presetOf(rules) {
    return [...$("rules").options].find(({ value, dataset }) => rules === value || rules === dataset.text);
  }

  // What hints by the small network for the rules of the game; null where there is none.
  async #adviser() {
    const address = this.#presetOf(this.game.rules.text)?.dataset.network;
    return address ? import("./network.js").then((it) => it.adviserAt(address)).catch(() => null) : null;
  }

  async #hintAlone() {
    const { game, version } = this.game;
    const hintOn = await this.#adviser();
    const isThere = hintOn && this.#isAlone && this.game.game === game && this.game.outcome === "playing";
    return isThere ? { ...hintOn(this.game), game, version } : null;
  }

  async #helpAlone(type) {
    this.#autoplayed(null);
    const found = type === "hint" ? await this.#hintAlone() : this.offline[type]();
    if (!found) this.#helpIsAway();
    else if (type === "hint") this.#hinted(found);
    else this.#showAlone(found);
  }

  async #watchAlone() {
    const run = {};
    this.#autoplayed(run);
    while (this.#autoplay === run) {
      const hint = await this.#hintAlone();
      if (this.#autoplay !== run) return;
      if (hint) this.#showAlone(this.offline.play(hint.direction, true));
      else this.#helpIsAway();
      if (!hint || this.result.isUp) this.#autoplayed(null);
      await new Promise((done) => setTimeout(done, this.computer.delay));
    }
  }

  #helpIsAway() {
    const why = HAS_SERVER ? `${AWAY} ${_("Undo, hints and autoplay need it.")}` : _("There are no hints on this board.");
    this.#announce(why, "warn");
  }

  #showAlone(message) {
    this.result.lower();
    this.scene.events(message);
    showHint(null);
    this.#judge(message.events);
    this.#render();
    if (HAS_SERVER && message.events[0].kind !== "nothing_moved") this.scene.note(this.#away(), "warn");
    this.#ended(message.events);
    this.#watchOver();
  }

  #away() {
    if (!this.#isAlone) return AWAY;
    const { length } = this.offline;
    const unsent = length ? ngettext("{n} move to be sent.", "{n} moves to be sent.", length) : "";
    return `${AWAY} ${_("You can play on.")} ${unsent}`.trimEnd();
  }

  // Send the server what was played without it; say whether it has all, or wants nothing of it.
  #sync(state) {
    const messages = this.offline.messages(state);
    this.#isSyncing = Boolean(messages?.length);
    for (const message of messages ?? []) this.connection.send(message);
    if (this.#isSyncing) return "";
    this.#unanswered = [];
    const { saved, length } = this.offline;
    this.offline.forget();
    if (!messages) return lost(_("The game has changed meanwhile"), length);
    return ngettext("Connected again: {n} move saved.", "Connected again: {n} moves saved.", saved);
  }

  #syncRefused({ reason, retry_ms, message }) {
    if (reason === "gap" || LATER.includes(reason)) {
      this.#enterLater(retry_ms);
      if (reason !== "gap") this.scene.note(message, "warn");
      return;
    }
    const { game, length } = this.offline;
    this.#isSyncing = false;
    if (reason === "not_yours") this.offline.leave(); // till the player of them logs in again
    else {
      this.offline.forget();
      this.#announce(lost(message, length), "warn");
    }
    if (NOT_OURS.includes(reason)) this.#beginAnew();
    else this.#open(game.game);
  }

  #cannot(why) {
    this.scene.note(this.connection.isLoggedOut ? LOGGED_OUT : `${AWAY} ${why}`, "warn");
  }

  #unsent() {
    if (this.queue.isPaused) this.#cannot(_("Keys pressed until then are not kept."));
    else if (this.queue.length >= MOST) this.scene.note(_("Too fast: wait for the board."), "warn");
  }

  // Actions that were meant for another board than there is are not done, and that is said.
  #dropped(count, why) {
    if (count) this.#announce(`${why} ${ngettext("{n} move is not made.", "{n} moves are not made.", count)}`, "warn");
  }

  // The same game again where nothing is lost; otherwise ask.
  #again() {
    if (this.isInProgress || !this.game || ["daily", "battle"].includes(this.game.mode)) this.#choose();
    else this.start(this.game.rules.text, this.game.mode);
  }

  #choose() {
    const points = grouped(this.game?.score ?? 0);
    const warning = HAS_SERVER
      ? _("A game is in progress, with {points} points. It is kept: “Open games” takes it up again.", { points })
      : _("A game is in progress, with {points} points. The new one takes its place.", { points });
    this.newGame.open(this.isInProgress ? warning : "", this.game);
  }

  #toggleAutoplay() {
    if (this.#autoplay) this.#letPlay(null);
    else if (!this.#isCasual()) this.#announce(NEEDS_CASUAL);
    else if (!this.#isOver()) {
      this.result.lower();
      this.#letPlay(this.computer.player);
    }
  }

  #toggleCoach() {
    if (!this.#isCasual() && !this.#isCoached) {
      this.#announce(NEEDS_CASUAL);
      return;
    }
    write("coach", this.#isCoached ? "" : "on");
    this.#showCoach(_("A word after each move"));
    this.#watchOver();
  }

  get #isCoached() {
    return read("coach") === "on";
  }

  #showCoach(word) {
    for (const id of ["coach", "coach-line"]) press(id, this.#isCoached);
    put("coach", this.#isCoached ? _("Turn off") : _("Turn on"));
    put("coach-word", word);
  }

  // The coach looks at the board when its player pauses before it: play never waits for it.
  #watchOver() {
    clearTimeout(this.#pause);
    const isOn = this.#isCoached && this.#isCasual() && !this.#autoplay;
    if (!isOn || this.game.outcome !== "playing" || this.#coached) return;
    this.#pause = setTimeout(() => {
      if (this.#isAlone) this.#hintAlone().then((hint) => hint && this.#hinted(hint));
      else if (!this.queue.length) this.queue.push({ type: "hint", player: this.computer.player });
    }, PAUSE);
  }

  // Say what the coach thinks of a move, if it had looked at the board.
  #judge(events) {
    const turns = events.filter(({ motions }) => motions);
    if (!turns.length) return;
    const word = this.#coached && turns[0].kind === "moved" ? wordOn(turns[0].direction, this.#coached) : "";
    this.#coached = null;
    if (!this.#isCoached) return;
    this.#showCoach(word || _("A word after each move"));
    if (word) this.scene.speech.say(word);
  }

  #open(game) {
    this.connection.send({ type: "open", game });
  }

  #letPlay(player) {
    if (!this.#isAlone) this.connection.send({ type: "autoplay", player, delay: this.computer.delay });
    else if (player === null) this.#autoplayed(null);
    else this.#watchAlone();
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
      games: () => showGames(message.games, this.game?.game, (game) => this.#open(game)),
      refused: () => this.#refused(message),
      battle: () => this.#rivals?.show(message),
    };
    heard[message.type]?.();
  }

  #greeted({ current }) {
    this.#current = current;
    this.#enter();
    this.scene.note("");
  }

  // Go to the game that this page is about.
  #enter() {
    if (this.game?.game === this.offline.game?.game) this.offline.follow();
    const wish = new URLSearchParams(location.search);
    const unsent = this.offline.length ? this.offline.game.game : null;
    const shown = this.#hasState ? this.game?.game : null; // a game that was only kept was not asked for
    const game = unsent ?? shown ?? wish.get("game") ?? this.#current;
    this.#isSyncing = unsent !== null;
    const mode = ["daily", "ranked"].find((name) => name === wish.get("new"));
    const rules = (mode === "ranked" && wish.get("rules")) || "classic";
    if (!unsent && !shown && mode) this.start(rules, mode);
    else if (game) this.#open(game);
    else this.start("classic", this.newGame.mode === "daily" ? "casual" : this.newGame.mode);
  }

  #enterLater(milliseconds = 1000) {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#enter(), milliseconds);
  }

  #state(state) {
    let synced = "";
    this.#hasState = true;
    clearTimeout(this.#retry);
    if (this.offline.length && state.game === this.offline.game.game) {
      synced = this.#sync(state);
      if (!synced) return;
    }
    const unanswered = this.#unanswered.length;
    const made = Math.min(state.version - this.queue.version, unanswered);
    const fresh = this.scene.state(state);
    if (fresh && location.search) history.replaceState(null, "", "/");
    if (fresh) this.scene.note("");
    this.#unanswered = [];
    if (fresh) this.queue.restart(state.version);
    else if (!this.queue.isPaused) this.#dropped(this.queue.state(state.version), CHANGED);
    else {
      this.queue.restart(state.version);
      this.#dropped(unanswered - made, _("The connection was lost."));
    }
    showHint(null);
    this.#coached = null;
    this.#showCoach(_("A word after each move"));
    this.result.lower();
    this.#autoplayed(state.autoplay);
    this.#render();
    this.offline.keep(this.game);
    if (synced) this.#announce(synced);
    if (state.outcome !== "playing") this.#end(false);
    this.#battle();
    this.#watchOver();
    if (fresh) this.#lookBeside();
  }

  // What stands beside the board comes when the board is there.
  async #lookBeside() {
    const rules = encodeURIComponent(this.game.rules.text);
    const fresh = await fetched(`/today?rules=${rules}`);
    if (!fresh) return;
    $("today").replaceChildren(...fresh.body.childNodes);
    const { days } = document.querySelector(".streak").dataset;
    $("streak-chip").hidden = !days;
    $("streak-chip").lastElementChild.textContent = days ?? "";
  }

  // In a battle everybody's board is beside one's own.
  async #battle() {
    const isOn = this.game.mode === "battle";
    if (isOn) {
      const { Rivals } = await import("./rivals.js");
      this.#rivals ??= new Rivals(
        $("rivals"),
        (text) => this.scene.speech.announce(text),
        (time) => badge("mode", time),
      );
    } else {
      this.#rivals?.hide();
    }
    if (this.#rivals) this.connection.send({ type: "battle", game: isOn ? this.game.game : null });
  }

  #events(message) {
    if (message.game !== this.game?.game || this.#isSyncing) return;
    this.scene.events(message);
    this.offline.keep(this.game);
    const dropped = this.queue.events(message.version, message.events);
    if (message.events.length) {
      showHint(null);
      this.result.lower();
      this.#judge(message.events);
    }
    this.#autoplayed(message.autoplay);
    this.#render();
    this.#dropped(dropped, CHANGED);
    if (message.outcome !== "playing") this.#dropped(this.queue.drop(), _("The game is over."));
    this.#ended(message.events);
    this.#showAhead();
    this.#watchOver();
  }

  #ended(events) {
    const won = events.find((each) => each.kind === "won");
    if (events.some((each) => each.kind === "over")) this.#end(true);
    else if (won) this.#won(won);
  }

  #hinted(message) {
    if (message.game !== this.game?.game) return;
    this.queue.hinted(message.version);
    this.game.version = message.version;
    if (message.category) this.game.category = message.category;
    if (!this.#isAlone) {
      this.offline.keep(this.game);
      this.#adviser().then(keepPage); // who asks for hints has them without the server, too
    }
    this.#coached = message;
    // The coach asks in silence; a better answer takes the place of a quick one.
    if (this.#wantsHint || $("hint-card").classList.contains("shown")) {
      this.#wantsHint = false;
      showHint(message);
      this.scene.note(`${message.headline}.`, "good");
      this.scene.speech.announce(message.say);
    }
    this.#render();
    this.#showAhead();
  }

  #refused(message) {
    if (this.#isSyncing) {
      this.#syncRefused(message);
      return;
    }
    if (this.queue.isStale(message)) return;
    const isKnown = JSON.stringify(message.state?.board) === JSON.stringify(this.game?.board);
    const dropped = this.queue.refused(message, isKnown);
    if (message.state) this.scene.state(message.state);
    else if (!this.queue.head) this.scene.retract();
    if (NOT_OURS.includes(message.reason)) {
      history.replaceState(null, "", "/");
      const isOfOther = ["open", "battle"].includes(message.of);
      if (this.queue.isPaused || !isOfOther) this.#beginAnew();
    } else if (this.queue.isPaused && LATER.includes(message.reason)) {
      this.#enterLater(message.retry_ms); // no game came
    }
    if (message.state) this.#autoplayed(message.state.autoplay);
    // What is tried again and again is said once, and stands there until it works.
    const isSaid = LATER.includes(message.reason) && $("status").textContent === message.message;
    const isQuiet = message.of === "hint" && !this.#wantsHint;
    if (message.reason === "gap") this.#dropped(dropped, CHANGED);
    else if (!isSaid && !isQuiet) this.#announce(message.message, "warn");
    if (!this.game) return;
    this.#render();
    if (message.reason === "over" && this.game.outcome !== "playing") this.#end(false);
    this.#showAhead();
  }

  #lost() {
    const isNews = this.connection && !document.body.classList.contains("away");
    if (!this.queue.isPaused) this.#autoplayed(null);
    this.#unanswered.push(...this.queue.pause());
    this.#isSyncing = false;
    clearTimeout(this.#retry);
    this.scene.retract();
    if (this.connection?.isLoggedOut) {
      this.#loggedOut();
      return;
    }
    if (!this.game && this.offline.game) this.#showKept();
    if (!this.game) return;
    this.offline.lost(this.game, this.#unanswered.map(({ type }) => type));
    if (isNews) this.#announce(this.#away(), "warn");
    else if (!this.scene.noted) this.scene.note(this.#away(), "warn");
  }

  // Nothing that is played now would reach anybody.
  #loggedOut() {
    if (this.result.isUp && this.scene.noted === LOGGED_OUT) return; // said, and seen
    this.#announce(LOGGED_OUT, "warn");
    const { length } = this.offline;
    const text = length
      ? ngettext("{n} move still to be sent: log in to keep it.", "{n} moves still to be sent: log in to keep them.", length)
      : "";
    const actions = [
      link(_("Log in"), "/account", "primary"),
      button(_("Go on as a guest"), () => location.reload()),
    ];
    this.result.raise({ title: _("You are logged out"), text, won: false, actions }, false);
  }

  /** Show what another tab has played without the server. */
  follow() {
    if (!this.#isAlone || !this.offline.follow()) return;
    this.#showKept();
    this.scene.note(this.#away(), "warn");
  }

  // Without the server: the game as this browser has it.
  #showKept() {
    this.scene.state(this.offline.game);
    this.#render();
    if (this.game.outcome !== "playing") this.#end(false);
  }

  // The game that the page wants is not there, or not ours.
  #beginAnew() {
    this.queue.pause();
    this.offline.forget();
    this.scene.game = null;
    if (this.#current) this.#open(this.#current);
    else this.start("classic", "casual");
    this.#current = null;
  }

  // When an answer is late, see whether the server is still there.
  #waiting() {
    clearTimeout(this.#slow);
    document.body.classList.toggle("away", !this.connection?.isOpen);
    if (this.queue.head) this.#slow = setTimeout(() => this.#late(), LOST - SLOW);
  }

  #late() {
    this.scene.note(_("The server is slow to answer …"), "warn");
    this.connection.check();
  }

  #autoplayed(player) {
    this.#autoplay = player;
    press("auto", Boolean(player));
    $("stop").hidden = !player;
    $("hint").hidden = Boolean(player);
  }

  #render() {
    const { rules, mode, category, can_undo, can_redo, game, day } = this.game;
    const over = this.game.outcome !== "playing";
    put("rules-name", rules.name);
    const { target } = rules;
    put("rules-summary", target ? _("Join equal tiles. Make {target}.", { target }) : rules.summary);
    const kind = mode === "battle" ? this.#rivals?.time : day && _("daily {day}", { day });
    badge("mode", kind || (mode === "casual" ? "" : KINDS[mode]));
    badge("category", KINDS[category]);
    disable("undo", !can_undo);
    disable("redo", !can_redo);
    disable("hint", mode !== "casual" || over);
    disable("auto", mode !== "casual" || over);
    for (const id of ["coach", "coach-line"]) disable(id, mode !== "casual");
    put("next", 2 * Math.max(...this.game.board.flat()));
    // After a few moves a player knows how the tiles slide.
    if (!read("steps") && this.game.ply >= LESSONS) write("steps", LESSONS);
    document.querySelector(".play").classList.toggle("first-steps", !read("steps"));
    $("permanent").href = `/game/${game}`;
    document.title = over ? "2048" : `${grouped(this.game.score)} · 2048`;
  }

  /** Go elsewhere: a game that can be undone becomes a record when its player has left it. */
  leave(address) {
    this.connection.send({ type: "leave" });
    setTimeout(() => location.assign(address), LEFT);
  }

  #won({ tile }) {
    const mine = this.#isMine();
    this.scene.note(mine ? _("You made {tile}.", { tile }) : _("{tile} is made.", { tile }), "good");
    const on = button(_("Keep playing"), () => this.result.lower(), "primary");
    const again = button(_("New game"), () => this.#choose());
    const title = mine ? _("You made {tile}", { tile }) : _("{tile} is made", { tile });
    const text = _("Any move plays on.");
    this.result.raise({ title, text, won: true, actions: [on, again] }, true);
  }

  // Whom a computer player helped with its moves has not won.
  #isMine() {
    return this.game.category !== "computer";
  }

  #end(soon) {
    const { outcome, score } = this.game;
    const won = this.#isMine() && (outcome === "won" || this.game.won);
    const title = won ? _("You win") : _("Game over");
    const actions = [button(_("New game"), () => this.#again(), "primary")];
    const text = ngettext("{n} point.", "{n} points.", score);
    const content = { title, text, won: false, actions };
    if (HAS_SERVER) this.result.end(this.game, content, soon).then(() => this.#lookBeside());
    else this.result.raise({ ...content, actions: [...actions, button(_("Undo the last move"), () => this.do("undo"))] }, soon);
  }
}

const NOT_OURS = ["unknown_game", "not_yours"];
const CHANGED = _("The board has changed meanwhile.");
const NEEDS_CASUAL = _("Undo, hints and autoplay need a casual game.");
const NOTHING = { undo: _("There is nothing to undo."), redo: _("There is nothing to redo."), hint: _("The game is over.") };

const lost = (why, count) => `${why}: ${ngettext("{n} move lost.", "{n} moves lost.", count)}`;

function badge(id, text) {
  put(id, text);
  $(id).hidden = !text;
}

// A button that cannot be used now stays in reach of the keyboard, so that no focus is lost.
function disable(id, is) {
  $(id).disabled = false;
  $(id).setAttribute("aria-disabled", String(is));
}

// A switch that is on or off.
function press(id, is) {
  $(id).setAttribute("aria-pressed", String(is));
}

function showPad(is) {
  write("pad", is ? "on" : "");
  document.querySelector(".pad").hidden = !is;
  press("pad-line", is);
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

addEventListener("storage", () => table.follow());

onSwipe($("board"), (direction) => table.move(direction));

for (const arrow of document.querySelectorAll(".pad button")) {
  arrow.addEventListener("click", () => table.move(arrow.dataset.direction));
}
const STAYING = ["motion", "theme", "pad"]; // what one sees of them is the page itself
for (const each of document.querySelectorAll(":is(.play, #menu-dialog) [data-do]")) {
  each.addEventListener("click", (event) => {
    const menu = each.closest("#menu-dialog");
    if (menu && !STAYING.includes(each.dataset.do)) menu.close();
    else if (!menu && event.detail) toBoard(); // from a pointer: the next key is for the board
    table.do(each.dataset.do);
  });
}
$("permanent").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  table.leave(event.currentTarget.href);
});
showPad(read("pad") === "on");
press("motion", mayMove());
if (HAS_SERVER) keepPage();
