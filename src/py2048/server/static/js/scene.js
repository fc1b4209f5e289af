// A game on the screen, for players and spectators: board, scores and messages.
import { BoardView } from "./board.js";
import { $, put } from "./elements.js";
import { _, grouped, signed } from "./language.js";
import { RISE, moves } from "./motion.js";
import { parseRules, scoreOf, slide } from "./rules.js";
import { Speech, spokenTurn } from "./speech.js";

/** @import { Game } from "./session.js" */

// Smaller tiles are not highlighted when they are made for the first time.
const MIN_SHINING_TILE = 128;

export class Scene {
  #ahead = null;
  #hasLeaned = false;
  #largest = 0;

  constructor() {
    this.view = new BoardView($("board"));
    this.speech = new Speech($("live"));
  }

  /** Whether a slide is shown whose response has not arrived yet. */
  get isAhead() {
    return this.#ahead !== null;
  }

  /**
   * Show a complete position.
   * @param {Game} game
   * @param {boolean} isFresh whether another game was on the screen before
   * @param {boolean} [isBack] whether the connection was lost before, so that screen readers hear of its return
   */
  show(game, isFresh, isBack = false) {
    this.#ahead = null;
    this.#largest = largest(game.board);
    if (!isFresh) this.view.correct(game.board);
    else if (game.ply === 0) this.view.appear(game.board);
    else this.view.show(game.board);
    if (isFresh) rise(0);
    this.#write(game);
    if ((isFresh || isBack) && game.say) this.speech.announce(game.say);
  }

  /**
   * Show a move's slide before the response, which contains the new tile and the messages.
   * @param {Game} game
   * @param {string} direction
   */
  slide(game, direction) {
    const { merging, scoring } = parseRules(game.rules.text);
    const slid = slide(game.board, direction, merging);
    if (!slid.changed) {
      this.#hasLeaned = true;
      this.view.lean(direction);
      return;
    }
    const points = scoreOf(scoring, slid);
    this.#ahead = { ...slid, direction, hasRisen: Boolean(points) };
    this.view.move({ motions: slid.motions, spawn: null }, slid.board);
    rise(points);
    put("score", grouped(game.score + points));
  }

  /**
   * Revert a slide whose move was rejected.
   * @param {Game} game
   */
  retract(game) {
    if (!this.#ahead) return;
    this.view.unmove(this.#ahead, game.board);
    this.#ahead = null;
    this.#write(game);
  }

  /**
   * Show events.
   * @param {Game} before the game on the screen
   * @param {Game} game after the events
   * @param {any[]} events
   */
  play(before, game, events) {
    const { board } = game;
    const follows = game.version <= before.version + 1;
    const ahead = this.#ahead;
    const largestBefore = this.#largest;
    this.#ahead = null;
    this.#largest = Math.max(largestBefore, largest(board));
    const turns = events.filter(movesTiles);
    const turn = follows && turns.length === 1 ? withMotions(turns[0], before.board, board, game.rules) : null;
    const isAhead = ahead && turn && leadsTo(ahead, turn, board);
    if (isAhead) this.view.add(turn.spawn, board);
    else if (ahead) this.view.correct(board);
    else if (turn) this.view[turn.kind === "undone" ? "unmove" : "move"](turn, board);
    else if (turns.length || !follows) this.view.correct(board);
    const last = turn ?? events.findLast((each) => each.direction);
    if (last) this.speech.say(spokenTurn(last, game.score, turn && before.board));
    for (const event of events) this.#tell(event, isAhead && ahead.hasRisen);
    this.#hasLeaned = false;
    const isNew = turns.length && this.#largest > largestBefore && this.#largest >= MIN_SHINING_TILE;
    if (isNew) this.view.shine(this.#largest, events.some(({ kind }) => kind === "won"));
    this.#write(game);
  }

  /** Show a short line under the board. Screen readers get their texts from `speech` instead. */
  note(text, kind = "") {
    const line = $("status");
    line.textContent = text;
    line.className = `status ${kind}`;
  }

  /** The line under the board. */
  get noted() {
    return $("status").textContent;
  }

  #tell(event, hasRisen) {
    if ((movesTiles(event) || event.points) && !hasRisen) rise(event.kind === "undone" ? 0 : event.points);
    if (event.say) this.speech.announce(event.say);
    if (event.kind === "nothing_moved" && !this.#hasLeaned) this.view.lean(event.direction);
    this.note(event.kind === "nothing_moved" ? _("Nothing moves that way.") : "");
  }

  #write(game) {
    put("score", grouped(game.score));
    put("moves", grouped(game.ply));
    if ($("best")) put("best", grouped(game.best));
    if ($("largest")) put("largest", grouped(largest(game.board)));
    if (game.secret) reveal(game.secret);
  }
}

/** Whether an event plays or undoes a turn that moved tiles. */
export const movesTiles = ({ kind }) => kind === "moved" || kind === "undone";

// An event with the motions of its slide, which starts from the board before a turn, or after its undo.
function withMotions(event, before, after, rules) {
  const { merging } = parseRules(rules.text);
  return { ...event, motions: slide(event.kind === "undone" ? after : before, event.direction, merging).motions };
}

// Whether the slide on the screen plus the new tile is the board after a turn.
function leadsTo({ board, direction }, { kind, direction: played, spawn }, after) {
  if (kind !== "moved" || played !== direction || !spawn) return false;
  const isSpawn = (row, column) => row === spawn.cell[0] && column === spawn.cell[1];
  return after.every((line, row) =>
    line.every((tile, column) => tile === (isSpawn(row, column) ? spawn.tile : board[row][column])),
  );
}

const largest = (board) => Math.max(...board.flat());

function reveal(secret) {
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

/** Show a move's points in the corner of the score card. Without animation, they stay until the next move. */
export function rise(points) {
  put("rise", points ? signed(points) : "");
  rising?.cancel();
  if (moves()) rising = $("rise").animate(RISING, RISE);
}
