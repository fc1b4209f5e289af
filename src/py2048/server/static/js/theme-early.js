// Runs before the first paint, so that the system's theme does not flash before the chosen one.
try {
  // Before storage.js runs for the first time, the theme may still be stored under its old key.
  const key = localStorage.getItem("py2048.version") ? "py2048.theme" : "theme";
  const theme = localStorage.getItem(key);
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // Without storage, the system's theme applies.
}
