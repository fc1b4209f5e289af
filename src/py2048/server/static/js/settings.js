// What a person has chosen, kept in this browser where it allows that.

/** The value kept under a name, or the fallback. */
export function read(name, fallback = "") {
  try {
    return localStorage.getItem(name) ?? fallback;
  } catch {
    return fallback;
  }
}

/** Keep a value under a name; an empty one is forgotten. */
export function write(name, value) {
  try {
    if (value === "") localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // Private windows may refuse; the choice then lasts as long as the page.
  }
}
