/** What a visitor without a name, and a guest with an invitation, read. */
export const visitor = {
  logIn: "Log in",
  nameNeeded: "Choose a name",
  nameWhy: "Looking needs no name; playing and talking does.",
  notNow: "Not now",
  look: "Watch the live games first",
  invitedBy: (name: string) => `${name} invites you to a game`,
  yourSide: (side: string) => `You play ${side.toLowerCase()}.`,
  startsAtOnce: "The game starts as soon as you have joined.",
  ownerStarts: (name: string) => `${name} starts the game.`,
  full: "Both seats are taken. You can watch.",
  play: "Play",
  playAs: "Your name, or nothing to play as a guest",
  watch: "Watch",
  games: (games: number) => `${games} games`,
  against: (name: string, other: string) => `${name} against ${other}`,
  anyone: "anyone",
};

export type VisitorTexts = typeof visitor;
