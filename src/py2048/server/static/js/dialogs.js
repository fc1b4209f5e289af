// The dialogs for a new game and for games in progress.
import { $, button, element, find, openDialog, put } from "./elements.js";
import { _, grouped } from "./language.js";
import { readJson, write, writeJson } from "./storage.js";
import { KINDS, lastMode, presetOf } from "./view.js";

// The style sheet and the texts that the first move does not need. Without a server, the page has them.
const sheet = find("link[disabled]");
if (sheet) {
  const { lang } = document.documentElement;
  const styled = new Promise((done) => Object.assign(sheet, { onload: done, onerror: done, disabled: false }));
  await Promise.all([styled, lang !== "en" && import(`./messages-${lang}-later.js`)]);
}

const FIELDS = ["rows", "columns", "start", "spawn", "merging", "scoring", "target"];
const CHECK_PAUSE_MS = 200;

export class NewGameDialog {
  #play;
  #timer = 0;
  #asked = 0;

  /** @param {(rules: string, mode: string) => void} play starts a game */
  constructor(play) {
    this.#play = play;
    $("new-form").addEventListener("input", () => this.#update());
    $("new-form").addEventListener("submit", (event) => this.#submitted(event));
    this.#fill(readJson("own-rules") ?? {});
  }

  /**
   * Open the dialog.
   * @param {string} warning consequences for the game on the board; may be empty
   * @param {?{rules?: {name: string}, mode?: string}} game the game on the board
   */
  open(warning, game) {
    const known = game && presetOf(game.rules.name);
    if (known) known.selected = true;
    if (game) $("rules").value = known?.closest("#course") ? "courses" : (known?.value ?? "own");
    $("new-form").mode.value = game && game.mode !== "daily" ? game.mode : lastMode();
    put("new-warning", warning);
    $("new-warning").hidden = !warning;
    this.#update();
    openDialog("new-dialog");
    $("new-play").focus({ preventScroll: true });
  }

  #update() {
    const isOwn = $("rules").value === "own";
    $("rules-choice").hidden = $("new-form").mode.value === "daily";
    $("own").hidden = !isOwn;
    $("course").hidden = $("rules").value !== "courses";
    clearTimeout(this.#timer);
    if (isOwn) this.#timer = setTimeout(() => this.#check(), CHECK_PAUSE_MS);
    else this.#say(chosen().dataset.summary, false);
  }

  async #check() {
    const asked = ++this.#asked;
    try {
      const answer = await fetch(`/api/rules/check?text=${encodeURIComponent(ownText())}`);
      const rules = await answer.json();
      if (asked !== this.#asked) return;
      this.#say(answer.ok ? rules.summary : (rules.error ?? ""), answer.status === 422);
    } catch {
      // No connection. The server checks the rules again when the game starts.
      this.#say("", false);
    }
  }

  #say(text, isWrong) {
    put("rules-said", text);
    $("rules-said").classList.toggle("error", isWrong);
    $("new-play").disabled = isWrong;
  }

  #submitted(event) {
    if (event.submitter?.value !== "play") return;
    const mode = $("new-form").mode.value;
    write("mode", mode);
    const isOwn = $("rules").value === "own";
    if (isOwn) writeJson("own-rules", ownFields());
    const rules = isOwn ? ownText() : chosen().value;
    this.#play(mode === "daily" ? "classic" : rules, mode);
  }

  #fill({ ends = false, ...fields }) {
    $("own-ends").checked = ends === true;
    for (const [name, value] of Object.entries(fields)) {
      if ($(`own-${name}`)) $(`own-${name}`).value = value;
    }
  }
}

const chosen = () => $($("rules").value === "courses" ? "course" : "rules").selectedOptions[0];

/** @returns {{[name: string]: any}} */
function ownFields() {
  const fields = Object.fromEntries(FIELDS.map((name) => [name, $(`own-${name}`).value.trim()]));
  return { name: $("own-name").value.trim() || "own", ...fields, ends: $("own-ends").checked };
}

// The form as full rules text, as in records and on the command line.
function ownText() {
  const { name, rows, columns, start, spawn, merging, scoring, target, ends } = ownFields();
  const end = ends ? "target" : "stuck";
  const [size, tiles] = [`${rows}x${columns}`, spawn.toLowerCase()];
  const parts = { size, start, spawn: tiles, merging, scoring, target: target.toLowerCase() || "none", end };
  return `${name}:${Object.entries(parts).map((part) => part.join("="))}`;
}

/**
 * Show the player's other games in progress.
 * @param {Protocol.OpenGameInfo[]} games
 * @param {string | undefined} current the game on the board
 * @param {(game: string) => void} open continues a game
 */
export function showGames(games, current, open) {
  const others = games.filter(({ game }) => game !== current);
  $("games-list").replaceChildren(...others.map((each) => gameLine(each, open)));
  $("games-none").hidden = others.length > 0;
  openDialog("games-dialog");
}

function gameLine({ game, rules, mode, score, ply }, open) {
  const values = { rules: rules.name, mode: KINDS[mode], points: grouped(score), moves: grouped(ply) };
  const said = _("{rules}, {mode}: {points} points, {moves} moves", values);
  const choose = button(_("Play on"), () => {
    $("games-dialog").close();
    open(game);
  });
  choose.setAttribute("aria-label", `${_("Play on")}: ${said}`);
  return element("li", {}, choose, ` ${said}`);
}
