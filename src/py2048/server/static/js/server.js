// What pages fetch from the server.
const PAGE = 256;

/** The document at an address; null if it cannot be had. */
export async function fetched(address, options = {}) {
  try {
    const answer = await fetch(address, options);
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    return null;
  }
}

/** A long list, fetched in pages as they are needed. */
export class Pages {
  #address;
  #pages = new Map();

  constructor(address) {
    this.#address = address;
  }

  /** The page that has the entry of an index, and where on it that is. */
  async at(index) {
    const number = Math.floor(index / PAGE);
    if (!this.#pages.has(number)) {
      const page = this.#fetch(number);
      page.catch(() => this.#pages.delete(number));
      this.#pages.set(number, page);
    }
    return { page: await this.#pages.get(number), at: index % PAGE };
  }

  async #fetch(number) {
    const answer = await fetch(`${this.#address}?from=${number * PAGE}&limit=${PAGE}`);
    if (answer.status === 429) {
      const seconds = Number(answer.headers.get("Retry-After")) || 1;
      await new Promise((done) => setTimeout(done, 1000 * seconds));
      return this.#fetch(number);
    }
    if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
    return answer.json();
  }
}
