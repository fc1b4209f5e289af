// Games on a page without a server: they begin here, and the date determines the tiles of a daily game.
import { findAll, put } from "./elements.js";
import { spawnOn } from "./game.js";
import * as kept from "./kept.js";
import { dated, grouped } from "./language.js";
import { randomDraws } from "./offline.js";
import { parseRules } from "./rules.js";
import { read } from "./storage.js";
import { presetOf } from "./view.js";

/** @import { Draws } from "./game.js" */
/** @import { PlayPage } from "./play.js" */

const GOLDEN = 0x9e3779b97f4a7c15n;
const START = 2n ** 63n; // counter of the first start draw
const LOW_HALF = 0xffffffffn;

const MAX_GAMES = 10;
const DAILY = "daily ";

const today = () => new Date().toISOString().slice(0, 10);

const to64 = (value) => BigInt.asUintN(64, value);

function mix(value) {
  let mixed = to64(value);
  mixed = to64((mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n);
  mixed = to64((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
  return mixed ^ (mixed >> 31n);
}

/**
 * The draws of a seed, as in `core/rng.py`. The high half of a word is drawn first, then the low half.
 * @param {string} seed
 * @returns {Draws}
 */
function seededDraws(seed) {
  const key = mix(BigInt(seed) + GOLDEN);
  return (counter) => {
    const word = mix(key + (BigInt(counter) + 1n) * GOLDEN);
    const halves = [word >> 32n, word & LOW_HALF];
    return (choices) => Number((halves.shift() * BigInt(choices)) >> 32n);
  };
}

// The seed of a daily game is its date without dashes.
const drawsOf = (day) => (day ? seededDraws(day.replaceAll("-", "")) : randomDraws);

/**
 * Draw the board of a new game.
 * @param {import("./rules.js").Rules} rules
 * @param {Draws} draws
 */
export function startOn({ rows, columns, start }, draws) {
  const board = Array.from({ length: rows }, () => Array(columns).fill(0));
  const [least, most = least] = start.counts;
  const spawn = { kind: "random", weights: start.weights };
  let counter = START;
  for (let left = least + draws(counter)(most - least + 1); left > 0; left--) {
    const { tile, cell } = spawnOn({ spawn }, board, null, draws(++counter));
    board[cell[0]][cell[1]] = tile;
  }
  return board;
}

/**
 * Begin a game that no server knows.
 * @param {{name: string, text: string, summary: string}} rules
 * @param {{board?: ?number[][], day?: ?string}} [options] a position to start from, or the date of a daily game
 */
export function begun(rules, { board = null, day = null } = {}) {
  const parsed = parseRules(rules.text);
  return kept.keptFrom({
    game: day ? DAILY + day : String(Date.now()), day, mode: day ? "daily" : "casual",
    version: 0, mine: true, isLocal: true, category: board ? "position" : "plain",
    board: board ?? startOn(parsed, drawsOf(day)), score: 0, ply: 0,
    before: Number(read(`best ${rules.name}`)) || 0, rules: { ...rules, target: parsed.target },
  });
}

export class LocalGames {
  #page;

  /** @param {PlayPage} page */
  constructor(page) {
    this.#page = page;
  }

  /** Open the game that the address asks for; by default, go on with the last casual game. */
  enter() {
    const asked = new URLSearchParams(location.search);
    const { game, record } = kept.loadLast() ?? {};
    const casual = kept.ids().findLast((id) => !id.startsWith(DAILY));
    if (asked.get("new") === "daily") this.start("classic", "daily");
    else if (game && asked.has("turn")) {
      const { board } = record.position(Math.min(Number(asked.get("turn")), record.length));
      this.start(game.rules.text, "casual", board);
    } else if (!this.open(casual)) this.start("classic");
  }

  /** Start a game, perhaps from a position; go on with a daily game that has been started. */
  start(rules, mode = "casual", board = null) {
    const { value, dataset } = presetOf(rules);
    const day = mode === "daily" ? today() : null;
    if (day && this.open(DAILY + day)) return;
    this.#tidy();
    this.#show(begun({ name: value, text: dataset.text, summary: dataset.summary }, { board, day }));
  }

  /** The games in storage. */
  get games() {
    return kept.ids().map((id) => kept.load(id)?.game).filter(Boolean);
  }

  /** Go on with a game in storage; return whether it is there. */
  open(id) {
    const found = kept.load(id);
    if (found) this.#show(found);
    return found !== null;
  }

  /** Show in the menu and on the day's card whether today's game is open, started or finished. */
  showToday() {
    const game = kept.load(DAILY + today())?.game;
    const isHere = this.#page.game?.day === today();
    const state = !game ? "new" : game.outcome !== "playing" ? "done" : isHere ? "here" : "begun";
    put("daily-day", dated(today()));
    put("daily-score", grouped(game?.score ?? 0));
    const isShown = (link) => link.search === location.search;
    for (const each of findAll("header nav a:not(:last-child)")) each.ariaCurrent = isShown(each) ? "page" : null;
    for (const each of findAll("[data-daily]")) each.hidden = !each.dataset.daily.includes(state);
  }

  #show(found) {
    const { help, result, offline } = this.#page;
    help?.autoplayed(null);
    help?.reset();
    result?.lower();
    offline.open(found, drawsOf(found.game.day));
    this.#page.resume();
    // A reload opens the same game again.
    history.replaceState(null, "", found.game.day === today() ? "?new=daily" : location.pathname);
    this.showToday();
  }

  // Remove games that are over, and the oldest ones. Today's daily game stays.
  #tidy() {
    const isOpen = ({ ply, outcome }) => ply > 0 && outcome === "playing";
    const open = this.games.filter(isOpen).slice(-MAX_GAMES).map(({ game }) => game);
    const staying = [...open, DAILY + today()];
    for (const id of kept.ids()) if (!staying.includes(id)) kept.remove(id);
  }
}
