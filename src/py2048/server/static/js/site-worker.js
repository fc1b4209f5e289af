// Service worker of the pages without a server. `scripts/make_site.py` appends a call of `serve`.
const PREFIX = "py2048-";

/**
 * Serve the files of a version from a cache, online or offline.
 * @param {string} version
 * @param {string[]} files fetched at once; the first one answers for the folder
 * @param {string} later folder of the files that are kept when a page loads them
 */
function serve(version, files, later) {
  const worker = /** @type {any} */ (globalThis);
  const { scope } = worker.registration;
  const name = PREFIX + version;

  async function install() {
    const cache = await caches.open(name);
    // Ask the server for each file, because the browser's own cache may have an older version.
    await cache.addAll(files.map((file) => new Request(file, { cache: "no-cache" })));
    await worker.skipWaiting();
  }

  async function takeOver() {
    for (const old of await caches.keys()) if (old.startsWith(PREFIX) && old !== name) await caches.delete(old);
    await worker.clients.claim();
  }

  async function answer(address) {
    const cache = await caches.open(name);
    if (!(await cache.match(address))) await cache.add(new Request(address));
    return cache.match(address);
  }

  worker.addEventListener("install", (event) => event.waitUntil(install()));
  worker.addEventListener("activate", (event) => event.waitUntil(takeOver()));
  worker.addEventListener("fetch", (event) => {
    const [address] = event.request.url.split(/[?#]/);
    const file = address.startsWith(scope) ? address.slice(scope.length) || files[0] : null;
    if (files.includes(file) || file?.startsWith(later)) event.respondWith(answer(scope + file));
  });
}
