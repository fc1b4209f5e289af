// Service worker: serves the play page offline, in the version of this script.
const version = location.pathname.split("/")[2];
const CACHE = `py2048-${version}`;
const PAGE = "/";
const TIMEOUT_MS = 4000;
const AWAY = [502, 503, 504]; // a proxy's responses while its server is down

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(takeOver()));
addEventListener("message", (event) => event.waitUntil(keep(event.data)));
addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (event.request.method !== "GET" || origin !== location.origin) return;
  if (pathname === PAGE) event.respondWith(newest(event.request));
  else if (pathname.startsWith(`/static/${version}/`)) event.respondWith(kept(event.request));
});

// Delete the caches of earlier versions.
async function takeOver() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith("py2048-") && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await clients.claim();
}

// The page has just loaded these files, so they are in the browser's cache.
async function keep(addresses) {
  const cache = await caches.open(CACHE);
  for (const address of addresses) {
    if (await cache.match(address)) continue;
    const file = await fetch(address);
    // During an update, a server of another version may respond with a different file.
    if (!file.headers.get("cache-control")?.includes("immutable")) return;
    await cache.put(address, file);
  }
  await cache.add(new Request(PAGE, { cache: "force-cache" }));
}

// Prefer the server's page, because a cached page would load an old version.
async function newest(request) {
  let answer = Response.error();
  try {
    answer = await fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!AWAY.includes(answer.status)) return answer;
  } catch {
    // no connection
  }
  return (await caches.match(PAGE)) ?? answer;
}

async function kept(request) {
  return (await caches.match(request)) ?? fetch(request);
}
