// Caches the play page, so that it works offline and can be installed.

/** Have the service worker cache the page and all files that it has loaded. */
export async function keepPage() {
  if (!("serviceWorker" in navigator)) return; // for example over plain http
  if (document.readyState !== "complete") await new Promise((done) => addEventListener("load", done, { once: true }));
  const address = new URL("worker.js", import.meta.url);
  try {
    const registration = await navigator.serviceWorker.register(address, { scope: "/", updateViaCache: "all" });
    const worker = registration.installing ?? registration.waiting ?? registration.active;
    const files = performance.getEntriesByType("resource").map(({ name }) => new URL(name));
    const here = files.filter(({ pathname }) => pathname.startsWith("/static/"));
    worker.postMessage(here.map(({ pathname }) => pathname));
  } catch {
    // Private windows may reject this; the page then works only online.
  }
}
