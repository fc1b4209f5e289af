// A game on the screen: board, scores, badges and messages, for players and those who watch.
import { BoardView } from "./board.js";
import { RISE, moves } from "./motion.js";
import { grouped, signed } from "./numbers.js";
import { parseRules, scoreOf, slide } from "./rules.js";
import { Speech } from "./speech.js";

const $ = (id) => document.getElementById(id);

export class Scene {
  #ahead = null;

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
    if (!slid.changed) return;
    const points = scoreOf(scoring, slid);
    this.#ahead = { ...slid, direction, hasRisen: Boolean(points) };
    this.view.move({ motions: slid.motions, spawn: null }, slid.board);
    if (!points) return;
    rise(points);
    $("score").textContent = grouped(this.game.score + points);
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
    this.#ahead = null;
    this.game = { ...this.game, ...message };
    const turns = message.events.filter((each) => each.motions);
    const isAhead = ahead && follows && turns.length === 1 && leadsTo(ahead, turns[0], message.board);
    if (isAhead) this.view.add(turns[0].spawn, message.board);
    else if (ahead) this.view.correct(message.board);
    else if (follows && turns.length === 1) this.#show(turns[0], message.board);
    else if (turns.length || !follows) this.view.correct(message.board);
    for (const event of message.events) this.#tell(event, isAhead && ahead.hasRisen);
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
    this.note(event.kind === "nothing_moved" ? "Nothing moves that way." : "");
  }

  #write() {
    const game = this.game;
    $("score").textContent = grouped(game.score);
    $("moves").textContent = grouped(game.ply);
    if ($("best")) $("best").textContent = grouped(game.best);
    if ($("largest")) $("largest").textContent = Math.max(...game.board.flat());
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

function revealed(secret) {
  $("secret").textContent = secret;
  $("secret-term").hidden = $("secret-value").hidden = false;
}

/** Let the points of a move rise over the score. */
export function rise(points) {
  const place = $("rise");
  place.replaceChildren();
  if (!moves()) return;
  const up = document.createElement("span");
  up.textContent = signed(points);
  place.append(up);
  const frames = [
    { translate: "0 0", opacity: 1 },
    { translate: "0 -3rem", opacity: 0 },
  ];
  up.animate(frames, { duration: RISE, easing: "ease-in", fill: "forwards" }).finished.then(
    () => up.remove(),
    () => {},
  );
}
