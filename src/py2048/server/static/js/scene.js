// A game on the screen: board, scores, badges and messages, for players and those who watch.
import { BoardView } from "./board.js";
import { $, put } from "./elements.js";
import { _, grouped, signed } from "./language.js";
import { RISE, moves } from "./motion.js";
import { parseRules, scoreOf, slide } from "./rules.js";
import { Speech } from "./speech.js";

const SHINES = 128;

export class Scene {
  #ahead = null;
  #hasLeaned = false;

  constructor() {
    this.view = new BoardView($("board"));
    this.speech = new Speech($("live"));
    this.game = null;
  }

  /** Whether a slide is shown whose answer has not come. */
  get isAhead() {
    return this.#ahead !== null;
  }

  /** Take a whole state; `fresh` says that another game is on the table. */
  state(state) {
    const fresh = this.game?.game !== state.game;
    this.game = state;
    this.#ahead = null;
    if (!fresh) this.view.correct(state.board);
    else if (state.ply === 0) this.view.appear(state.board);
    else this.view.show(state.board);
    this.#write();
    if (fresh && state.say) this.speech.announce(state.say);
    return fresh;
  }

  /** Show what a move is certain to do; the tile that appears, and all words, come with its answer. */
  slide(direction) {
    const { merging, scoring } = parseRules(this.game.rules.text);
    const slid = slide(this.game.board, direction, merging);
    if (!slid.changed) {
      this.#hasLeaned = true;
      this.view.lean(direction);
      return;
    }
    const points = scoreOf(scoring, slid);
    this.#ahead = { ...slid, direction, hasRisen: Boolean(points) };
    this.view.move({ motions: slid.motions, spawn: null }, slid.board);
    if (!points) return;
    rise(points);
    put("score", grouped(this.game.score + points));
  }

  /** Take a slide back whose move is not made. */
  retract() {
    if (!this.#ahead) return;
    const motions = this.#ahead.motions.map(({ source, target }) => ({ source: target, target: source }));
    this.#ahead = null;
    this.view.unmove({ motions }, this.game.board);
    this.#write();
  }

  /** Take what happened: the changed parts of the state, and the events to show. */
  events(message) {
    const follows = message.version <= this.game.version + 1;
    const ahead = this.#ahead;
    const largest = this.game.largest ?? most(this.game.board);
    this.#ahead = null;
    this.game = { ...this.game, ...message, largest: Math.max(largest, most(message.board)) };
    const turns = message.events.filter((each) => each.motions);
    const isAhead = ahead && follows && turns.length === 1 && leadsTo(ahead, turns[0], message.board);
    if (isAhead) this.view.add(turns[0].spawn, message.board);
    else if (ahead) this.view.correct(message.board);
    else if (follows && turns.length === 1) this.#show(turns[0], message.board);
    else if (turns.length || !follows) this.view.correct(message.board);
    for (const event of message.events) this.#tell(event, isAhead && ahead.hasRisen);
    this.#hasLeaned = false;
    const made = turns.length && this.game.largest > largest && this.game.largest >= SHINES;
    if (made) this.view.shine(this.game.largest, message.events.some(({ kind }) => kind === "won"));
    this.#write();
  }

  /** A short line for the eyes; `say` is for the ears. */
  note(text, kind = "") {
    const line = $("status");
    line.textContent = text;
    line.className = `status ${kind}`;
  }

  /** The line that is shown. */
  get noted() {
    return $("status").textContent;
  }

  #show(event, board) {
    if (event.kind === "undone") this.view.unmove(event, board);
    else this.view.move(event, board);
  }

  #tell(event, hasRisen) {
    if (event.points && event.kind !== "undone" && !hasRisen) rise(event.points);
    if (event.kind === "won" || event.kind === "over") this.speech.announce(event.say);
    else this.speech.say(event.say);
    if (event.kind === "nothing_moved" && !this.#hasLeaned) this.view.lean(event.direction);
    this.note(event.kind === "nothing_moved" ? _("Nothing moves that way.") : "");
  }

  #write() {
    const game = this.game;
    put("score", grouped(game.score));
    put("moves", grouped(game.ply));
    if ($("best")) put("best", grouped(game.best));
    if ($("largest")) put("largest", grouped(most(game.board)));
    if (game.secret) revealed(game.secret);
  }
}

// Whether a slide that is shown becomes, with the tile that appeared, the board after a turn.
function leadsTo({ board, direction }, { kind, direction: played, spawn }, after) {
  if (kind !== "moved" || played !== direction || !spawn) return false;
  const isSpawn = (row, column) => row === spawn.cell[0] && column === spawn.cell[1];
  return after.every((line, row) =>
    line.every((tile, column) => tile === (isSpawn(row, column) ? spawn.tile : board[row][column])),
  );
}

const most = (board) => Math.max(...board.flat());

function revealed(secret) {
  if (!$("secret")) return;
  $("secret").textContent = secret;
  $("secret-term").hidden = $("secret-value").hidden = false;
}

const RISING = [
  { translate: "0 0.25rem", opacity: 0 },
  { translate: "0 0", opacity: 1, offset: 0.1 },
  { translate: "0 0", opacity: 1, offset: 0.7 },
  { translate: "0 -0.25rem", opacity: 0 },
];

let rising = null;

/** Show the points of a move in the corner of the score's card; where nothing may move they stay. */
export function rise(points) {
  put("rise", signed(points));
  rising?.cancel();
  if (moves()) rising = $("rise").animate(RISING, RISE);
}
