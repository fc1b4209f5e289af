// Local storage, if the browser allows it.

// Prefix of all keys, because other applications may share the origin.
const PREFIX = "py2048.";

/** The value stored under a name, or the fallback. */
export function read(name, fallback = "") {
  try {
    return localStorage.getItem(PREFIX + name) ?? fallback;
  } catch {
    return fallback;
  }
}

/** Store a value under a name, or remove the name if the value is empty; return whether it worked. */
export function write(name, value) {
  try {
    if (value === "") localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
    return true;
  } catch {
    return false; // private windows may reject it, and storage may be full
  }
}

/** The object stored as JSON under a name; null if there is none or it is malformed. */
export function readJson(name) {
  try {
    const value = JSON.parse(read(name, "null"));
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Store an object as JSON under a name; return whether it worked. */
export function writeJson(name, value) {
  return write(name, JSON.stringify(value));
}

/** The stored names that begin with a prefix. */
export function namesFrom(start) {
  try {
    const keys = Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index));
    return keys.filter((key) => key.startsWith(PREFIX + start)).map((key) => key.slice(PREFIX.length));
  } catch {
    return [];
  }
}

/** The name for the key of a `storage` event; null if the key is not ours. */
export function nameOf(key) {
  return key?.startsWith(PREFIX) ? key.slice(PREFIX.length) : null;
}
