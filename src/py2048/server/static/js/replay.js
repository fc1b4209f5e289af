// The page of a finished game, which steps through its moves.
import { BoardView } from "./board.js";
import { $, put } from "./elements.js";
import { hasModifier, isTaken, keyName } from "./input.js";
import { toggleMotion } from "./motion.js";
import { _, grouped } from "./language.js";
import { check } from "./proof.js";
import { ReviewSteps } from "./review.js";
import { rise } from "./scene.js";
import { Pages, fetched } from "./server.js";
import { Speech, spoken, spokenTurn } from "./speech.js";

/** The turns of a finished game, in pages of the server's `TurnsAnswer`. */
function turnsOf(game) {
  /** @type {Pages<Protocol.TurnsAnswer>} */
  const pages = new Pages(`/api/games/${encodeURIComponent(game)}/turns`);
  const turns = {
    total: 0,
    /** The turn at an index, with the board and the score after it. */
    async turn(index) {
      const { page, at } = await pages.at(index);
      turns.total = page.total;
      return { ...page.turns[at], millis: page.times[at] ?? 0, start: page.start };
    },
    /** The position before the turn at an index. */
    async position(index) {
      const turn = await turns.turn(Math.max(index - 1, 0));
      return index ? turn : { board: turn.start, score: 0 };
    },
  };
  return turns;
}

/** The review of a finished game, whose moves come in pages of the server's `ReviewAnswer`. */
function reviewOf(game) {
  const address = `/api/games/${encodeURIComponent(game)}/review`;
  return Object.assign(new Pages(address), {
    state: () => fetch(`${address}?limit=1`).then((answer) => (answer.ok ? answer.json() : null), () => null),
    page: () => fetched(location.pathname),
    offerLevels(form) {
      form.addEventListener("change", () => form.requestSubmit());
      form.querySelector("button").remove();
    },
  });
}

const JUMP = 10;
const MAX_WAIT_MS = 3000;

class Replay {
  #timer = 0;
  #wanted = 0;
  #seeking = null;

  constructor(turns) {
    this.turns = turns;
    this.view = new BoardView($("board"));
    this.speech = new Speech($("live"));
    this.index = 0;
    this.board = [];
    /** Called with the place whenever it changes.
     * @type {(index: number) => void} */
    this.placed = () => {};
  }

  get isRunning() {
    return $("run").getAttribute("aria-pressed") === "true";
  }

  /** Go to an index without animation. During fetching, only the last request counts. */
  seek(index) {
    this.#wanted = Math.min(Math.max(index, 0), this.turns.total || index);
    this.#seeking ??= this.#arrive().finally(() => {
      this.#seeking = null;
      this.#wanted = this.index; // in case fetching failed
      $("place").value = this.index;
    });
    return this.#seeking;
  }

  async #arrive() {
    let place, found;
    do {
      place = this.#wanted;
      found = await this.turns.position(place);
    } while (place !== this.#wanted);
    this.index = place;
    $("place").max = this.turns.total;
    this.view.show(found.board);
    this.#write(found.board, found.score);
  }

  /** Go forward or back by a number of turns without animation, from the last requested index. */
  jump(by) {
    return this.seek(this.#wanted + by);
  }

  /** Play the next turn; return whether there was one. */
  async forward() {
    const from = this.index;
    if (from >= this.turns.total) return false;
    const turn = await this.turns.turn(from);
    if (this.index !== from) return true; // the button was pressed again meanwhile
    this.#wanted = ++this.index;
    if (turn.motions) this.view.move(turn, turn.board);
    if (turn.points) rise(turn.points);
    this.speech.say(spokenTurn(turn, turn.score, this.board));
    this.#write(turn.board, turn.score);
    return true;
  }

  /** Undo a turn. */
  async back() {
    const from = this.index;
    if (from === 0) return;
    const turn = await this.turns.turn(from - 1);
    const { board, score } = await this.turns.position(from - 1);
    if (this.index !== from) return;
    this.#wanted = --this.index;
    if (turn.motions) this.view.unmove(turn, board);
    else this.view.show(board);
    this.#write(board, score);
    this.speech.say(_("Back at move {ply}. Score {score}.", { ply: grouped(this.index), score: grouped(score) }));
  }

  /** Start or stop automatic playback. */
  async toggle() {
    if (!this.isRunning && this.index >= this.turns.total) await this.seek(0);
    this.run(!this.isRunning);
    this.#tick();
  }

  /** Show whether automatic playback is on. */
  run(is) {
    clearTimeout(this.#timer);
    $("run").setAttribute("aria-pressed", String(is));
    put("run-said", is ? _("Pause") : _("Play"));
  }

  async #tick() {
    if (!this.isRunning) return;
    if (!(await this.forward())) this.run(false);
    const next = this.index < this.turns.total ? await this.turns.turn(this.index) : null;
    if (this.isRunning) this.#timer = setTimeout(() => this.#tick(), this.#wait(next));
  }

  #wait(next) {
    const pace = $("pace").value;
    if (pace === "real") return Math.min(next?.millis ?? 0, MAX_WAIT_MS);
    return 1000 / Number(pace);
  }

  #write(board, score) {
    this.board = board;
    put("score", grouped(score));
    put("moves", grouped(this.index));
    $("place").value = this.index;
    put("ply", grouped(Math.min(this.index + 1, this.turns.total)));
    const place = { ply: this.index, count: this.turns.total };
    $("place").setAttribute("aria-valuetext", _("Move {ply} of {count}", place));
    this.placed(this.index);
  }
}

const { game } = $("game").dataset;
const { turns, review } = game ? { turns: turnsOf(game), review: reviewOf(game) } : (await import("./alone.js")).opened();
const replay = new Replay(turns);

function by(act) {
  return async () => {
    replay.run(false);
    await attempt(act);
  };
}

async function attempt(act) {
  try {
    $("status").textContent = "";
    await act();
  } catch {
    replay.run(false);
    $("status").textContent = _("Cannot reach the server; try again in a moment.");
  }
}

const acts = {
  first: by(() => replay.seek(0)),
  back: by(() => replay.back()),
  forward: by(() => replay.forward()),
  last: by(() => replay.seek(replay.turns.total)),
  run: () => attempt(() => replay.toggle()),
  jumpBack: by(() => replay.jump(-JUMP)),
  jumpForward: by(() => replay.jump(JUMP)),
  read: () => replay.speech.announce(spoken(replay.board)),
  motion: toggleMotion,
  next: () => $("next-mistake").click(),
  previous: () => $("previous-mistake").click(),
};
const KEYS = {
  Home: "first", ArrowLeft: "back", ArrowRight: "forward", End: "last", Space: "run",
  PageUp: "jumpBack", PageDown: "jumpForward", KeyB: "read", KeyX: "motion",
  KeyN: "next", KeyP: "previous",
};

for (const name of ["first", "back", "forward", "last", "run"]) {
  $(name).addEventListener("click", acts[name]);
}
$("place").addEventListener("input", by(() => replay.seek(Number($("place").value))));
document.addEventListener("keydown", (event) => {
  if (hasModifier(event) || isTaken(event) || steps.takes(event)) return;
  const name = keyName(event, KEYS);
  if (event.shiftKey && event.code.startsWith("Arrow")) {
    replay.view.look(event.code.slice("Arrow".length).toLowerCase());
    event.preventDefault();
  } else if (KEYS[name] && /** @type {HTMLInputElement} */ (event.target).type !== "range") {
    event.preventDefault();
    acts[KEYS[name]]();
  }
});

const steps = new ReviewSteps(replay, review, by);
replay.placed = (index) => steps.mark(index);
attempt(() => replay.seek(steps.first));
if ($("commitment") && $("secret").textContent) {
  check($("commitment").textContent, $("secret").textContent, $("proof"));
}
