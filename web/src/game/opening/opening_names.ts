import lines from "../../../../crates/reversi-engine/src/rules/opening_names.txt?raw";

/** The usual names of openings in English, in the order of the alphabet: those that the server gives to games. */
export const OPENING_NAMES: readonly string[] = lines
  .split("\n")
  .filter((line) => line && !line.startsWith("#"))
  .map((line) => line.slice(0, line.lastIndexOf(" ")))
  .sort((one, other) => one.localeCompare(other, "en"));
