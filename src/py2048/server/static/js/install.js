// Keeps the page in the browser, so that it opens without the server and can be installed.

/** Hand the page and all files that it has loaded to the worker of their version. */
export async function keepPage() {
  if (!("serviceWorker" in navigator)) return; // such as over plain http
  if (document.readyState !== "complete") {
    await new Promise((done) => addEventListener("load", done, { once: true }));
  }
  const address = new URL("worker.js", import.meta.url);
  try {
    const options = { scope: "/", updateViaCache: "all" };
    const registration = await navigator.serviceWorker.register(address, options);
    const worker = registration.installing ?? registration.waiting ?? registration.active;
    const files = performance.getEntriesByType("resource").map(({ name }) => new URL(name));
    const here = files.filter(({ pathname }) => pathname.startsWith("/static/"));
    worker.postMessage(here.map(({ pathname }) => pathname));
  } catch {
    // Private windows may refuse; the page then needs the server.
  }
}
