// The dialog that lists my games in progress.
import { button } from "./overlay.js";
import { element } from "./cells.js";
import { grouped } from "./numbers.js";

const $ = (id) => document.getElementById(id);

export class GamesDialog {
  #open;

  /** @param {(game: string) => void} open takes a game up again */
  constructor(open) {
    this.#open = open;
  }

  /** Show a list of games, without the one on the table. */
  show(games, current) {
    const others = games.filter(({ game }) => game !== current);
    $("games-list").replaceChildren(...others.map((each) => this.#line(each)));
    $("games-none").hidden = others.length > 0;
    if (!$("games-dialog").open) $("games-dialog").showModal();
  }

  #line({ game, rules, mode, score, ply }) {
    const said = `${rules.name}, ${mode}: ${grouped(score)} points, ${grouped(ply)} moves`;
    const choose = button("Play on", () => {
      $("games-dialog").close();
      this.#open(game);
    });
    choose.setAttribute("aria-label", `Play on: ${said}`);
    return element("li", {}, choose, ` ${said}`);
  }
}
