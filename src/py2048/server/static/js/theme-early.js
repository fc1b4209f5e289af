// Runs before the first paint, so that the system's theme does not flash before the chosen one.
try {
  const theme = localStorage.getItem("py2048.theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // Without storage, the system's theme applies.
}
