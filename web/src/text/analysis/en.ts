/** Texts of the analysis board. */
export const analysis = {
  title: "Analysis",
  open: "Analyse this position",
  value: (side: string, discs: string) => `${side} leads by ${discs} discs at the end`,
  even: "Even",
  exact: "exact",
  depth: (plies: number) => `${plies} moves deep`,
  thinking: "The server thinks…",
  waiting: "The server is busy. The analysis starts as soon as there is room.",
  over: "The game is over.",
  ratedGame: "A running rated game is at or near this position, or is yours: analyse it when the game is over.",
  best: "Best moves",
  line: "Then",
  back: "One move back",
  forward: "One move forward",
  start: "Back to the start",
  values: "Show the value of each move",
  paste: "Position or game",
  pasteWhy: "64 characters of a board (X, O, -), moves like f5d6c3, or GGF",
  load: "Show it",
  unreadable: "This is no position and no game that can be played.",
  copy: "Copy the link",
  copied: "The link is copied.",
};

export type AnalysisTexts = typeof analysis;
