// Runs before the first paint, so that the chosen theme does not flash over the system's.
try {
  // Until storage.js has run for the first time, the theme has the key of earlier versions.
  const key = localStorage.getItem("py2048.version") ? "py2048.theme" : "theme";
  const theme = localStorage.getItem(key);
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // Without storage, the system's theme applies.
}
