/** What the frame around every screen says: appearance, parts of the page that load later, no network. */
export const shell = {
  scheme: "Light or dark",
  schemes: { system: "System", light: "Light", dark: "Dark" },
  board: "Board",
  boards: { green: "Green", blue: "Blue", wood: "Wood" },
  discs: "Discs",
  discThemes: { glossy: "Glossy", flat: "Flat", ivory: "Ebony and ivory" },
  noSuchScreen: "The page has nothing at this address.",
  unreadAddress: (part: string) => `The address has a part that is no position and no legal move: ${part}`,
  loadFailed: "This part of the page could not be loaded",
  loadFailedWhy: "The connection may be lost, or the server may have a new version of the page.",
  loadAgain: "Load the page again",
  languageFailed: "This language could not be loaded.",
  offline: "No connection.",
  withoutServer:
    "Games, rooms and records need the server. The rules with their first game, and the analysis board without values, work without it.",
};

export type ShellTexts = typeof shell;
