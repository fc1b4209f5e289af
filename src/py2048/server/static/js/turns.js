// The turns of a finished game, fetched in pages as they are needed.

const PAGE = 256;

export class Turns {
  #address;
  #pages = new Map();

  /** @param {string} game the game's id */
  constructor(game) {
    this.#address = `/api/games/${encodeURIComponent(game)}/turns`;
    this.total = 0;
  }

  /** The position after `index` turns: `{board, score}`. */
  async position(index) {
    if (index === 0) return { board: (await this.#page(0)).start, score: 0 };
    return this.turn(index - 1);
  }

  /** The turn that was played after `index` turns, with the board and the score after it. */
  async turn(index) {
    const page = await this.#page(Math.floor(index / PAGE));
    return { ...page.turns[index % PAGE], millis: page.times[index % PAGE] ?? 0 };
  }

  #page(number) {
    if (!this.#pages.has(number)) {
      const page = this.#fetch(number);
      page.catch(() => this.#pages.delete(number));
      this.#pages.set(number, page);
    }
    return this.#pages.get(number);
  }

  async #fetch(number) {
    const answer = await fetch(`${this.#address}?from=${number * PAGE}&limit=${PAGE}`);
    if (answer.status === 429) {
      const seconds = Number(answer.headers.get("Retry-After")) || 1;
      await new Promise((done) => setTimeout(done, 1000 * seconds));
      return this.#fetch(number);
    }
    if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
    const page = await answer.json();
    this.total = page.total;
    return page;
  }
}
