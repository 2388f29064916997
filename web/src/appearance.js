// Gives the document the chosen colors before the first paint, which the modules are too late for. As state/page/theme.ts.
for (const name of ["scheme", "board", "discs"]) {
  try {
    const chosen = JSON.parse(localStorage.getItem(`reversi.${name}`));
    if (chosen) document.documentElement.dataset[name] = chosen;
  } catch {
    // Without local storage nothing is chosen.
  }
}
