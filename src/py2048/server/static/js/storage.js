// Local storage, if the browser allows it.

// Prefix of all keys, because other applications may share the origin.
const PREFIX = "py2048.";
// Earlier versions used these keys, and "best <rules>", without the prefix.
const OLD_KEYS = [
  "coach", "mode", "motion", "own-rules", "pad", "player", "puzzles", "speed", "steps", "theme",
];
const OLD_BEST = "best ";

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
  return keys()
    .filter((key) => key.startsWith(PREFIX + start))
    .map((key) => key.slice(PREFIX.length));
}

/** The name for the key of a `storage` event; null if the key is not ours. */
export function nameOf(key) {
  return key?.startsWith(PREFIX) ? key.slice(PREFIX.length) : null;
}

/**
 * Migrate a value that an earlier version stored without the prefix.
 * @param {string} key
 * @param {(text: string) => boolean} adopt stores the value; if it returns true, the old key is removed
 */
export function adoptOld(key, adopt) {
  try {
    const text = localStorage.getItem(key);
    if (text !== null && adopt(text)) localStorage.removeItem(key);
  } catch {
    // no storage, so nothing to migrate
  }
}

function keys() {
  try {
    return Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index));
  } catch {
    return [];
  }
}

// Copy old settings once. The old keys are kept, because a key such as "theme" may belong to
// another application.
function copyOldSettings() {
  if (read("version")) return;
  const old = keys().filter((key) => OLD_KEYS.includes(key) || key.startsWith(OLD_BEST));
  const copied = old.map((key) => write(key, read(key) || localStorage.getItem(key)));
  if (copied.every(Boolean)) write("version", "1");
}

copyOldSettings();
