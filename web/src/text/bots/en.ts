import { GameEndReason } from "../../gen/reversi/v1/types_pb";

/** Texts of the screen on which an author sees the own bots. */
export const bots = {
  title: "Your bots",
  why: "Paste the token of a bot to see what it does, and what went wrong. The bot goes on undisturbed.",
  limited: "A token that is limited to playing is enough:",
  kept: (most: number) => `Up to ${most} tokens are kept, in this browser only.`,
  token: "Token, or a line of a file of --keep",
  add: "Add the bot",
  unreadable: "That is no token: it has 64 digits 0–9 and a–f, or these after play_.",
  elsewhere: "That line is for another server.",
  full: (most: number) => `There are ${most} bots already. Remove one first.`,
  known: "That bot is here already.",
  none: "No bots yet.",
  remove: "Remove from the list",
  removeName: (name: string) => `Remove from the list: ${name}`,
  removed: "Removed from the list.",
  unknown: "Unknown bot",
  invalid: "The server does not know this token: it was replaced, has expired, or is for another server.",
  reads: "A program reads its turns",
  readsNot: "No program reads its turns",
  seats: (seats: number, limit: number) => `${seats} of ${limit} seats`,
  seat: (side: string, room: string) => `${side} in room ${room}`,
  games: (n: number) => (n === 0 ? "No running game" : n === 1 ? "1 running game" : `${n} running games`),
  problems: "Problems, the latest first",
  noProblems: "No problems.",
  times: (n: number) => (n === 1 ? "once" : `${n} times`),
  refused: "Refused",
  game: "The game",
  lost: {
    [GameEndReason.TIMEOUT]: "Lost: out of time",
    [GameEndReason.LEFT]: "Lost: it left or was away",
    [GameEndReason.KICKED]: "Lost: it was removed",
  } as Partial<Record<GameEndReason, string>>,
  lostOtherwise: "Lost",
};

export type BotsTexts = typeof bots;
