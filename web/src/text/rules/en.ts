/** The rules of the game, and the texts of the first guided game. */
export const rules = {
  title: "The rules",
  start: "Four discs are on the board. Black moves first.",
  move: "A move places a disc on an empty square so that one or more lines of the opponent's discs lie between it and another disc of yours. All these discs turn to your color.",
  mustTurn: "A move must turn at least one disc. You may choose among all such squares.",
  pass: "If you have no move, you pass, and your opponent moves again.",
  end: "The game ends when neither side can move. Whoever has more discs wins.",
  corner: "A disc in a corner can never be turned.",
  tryIt: "Try it",
  guide: "You have black. The marked squares are your moves; point at one to see what it turns.",
  turned: (discs: number) => (discs === 1 ? "You turned 1 disc." : `You turned ${discs} discs.`),
  tookCorner: "You took a corner: this disc is yours for good.",
  lostCorner: "White took a corner. Beside an empty corner, think twice.",
  whitePassed: "White has no move and passes: you move again.",
  youPassed: "You had no move and passed.",
  won: (own: number, other: number) => `The game is over. You win ${own}–${other}!`,
  lost: (own: number, other: number) => `The game is over. White wins ${other}–${own}. Try again!`,
  drawn: (own: number) => `The game is over. It is a draw, ${own}–${own}.`,
  again: "Start again",
  playNow: "Play a real game",
};

export type RulesTexts = typeof rules;
