// Fetch documents and long lists from the server.
const PAGE_SIZE = 256;

/**
 * Fetch the document at an address; null if that fails.
 * @param {string} address
 * @param {RequestInit} [options]
 */
export async function fetched(address, options = {}) {
  try {
    const answer = await fetch(address, options);
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    return null;
  }
}

/**
 * A long list, fetched page by page.
 * @template Page
 */
export class Pages {
  #address;
  #pages = new Map();

  constructor(address) {
    this.#address = address;
  }

  /**
   * The page that contains an index, and the position on that page.
   * @returns {Promise<{page: Page, at: number}>}
   */
  async at(index) {
    const number = Math.floor(index / PAGE_SIZE);
    if (!this.#pages.has(number)) {
      const page = this.#fetch(number);
      page.catch(() => this.#pages.delete(number));
      this.#pages.set(number, page);
    }
    return { page: await this.#pages.get(number), at: index % PAGE_SIZE };
  }

  /** @returns {Promise<Page>} */
  async #fetch(number) {
    const answer = await fetch(`${this.#address}?from=${number * PAGE_SIZE}&limit=${PAGE_SIZE}`);
    if (answer.status === 429) {
      const seconds = Number(answer.headers.get("Retry-After")) || 1;
      await new Promise((done) => setTimeout(done, 1000 * seconds));
      return this.#fetch(number);
    }
    if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
    return answer.json();
  }
}
