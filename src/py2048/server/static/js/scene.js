// A game on the screen: board, scores, badges and what is said, whoever plays it.
import { BoardView } from "./board.js";
import { RISE, moves } from "./motion.js";
import { grouped, signed } from "./numbers.js";
import { Speech } from "./speech.js";

const $ = (id) => document.getElementById(id);

export class Scene {
  constructor() {
    this.view = new BoardView($("board"));
    this.speech = new Speech($("live"));
    this.game = null;
  }

  /** Take a whole state; `fresh` says that another game is on the table. */
  state(state) {
    const fresh = this.game?.game !== state.game;
    this.game = state;
    if (fresh && state.ply === 0) this.view.appear(state.board);
    else this.view.show(state.board);
    this.#write();
    if (fresh && state.say) this.speech.announce(state.say);
    return fresh;
  }

  /** Take what happened: the changed parts of the state, and the events to show. */
  events(message) {
    const follows = message.version <= this.game.version + 1;
    this.game = { ...this.game, ...message };
    const turns = message.events.filter((each) => each.motions);
    if (follows && turns.length === 1) this.#show(turns[0], message.board);
    else if (turns.length || !follows) this.view.show(message.board);
    for (const event of message.events) this.#tell(event);
    this.#write();
  }

  /** A short line for the eyes; `say` is for the ears. */
  note(text, kind = "") {
    const line = $("status");
    line.textContent = text;
    line.className = `status ${kind}`;
  }

  #show(event, board) {
    if (event.kind === "undone") this.view.unmove(event, board);
    else this.view.move(event, board);
  }

  #tell(event) {
    if (event.points && event.kind !== "undone") rise(event.points);
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
