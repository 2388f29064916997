/** The index of a square: a1 is 0, h1 is 7, h8 is 63. */
export type Square = number;

export const SQUARES: readonly Square[] = Array.from({ length: 64 }, (_, square) => square);

export const FILES = "abcdefgh";

export function squareName(square: Square): string {
  return `${FILES[square % 8]}${Math.floor(square / 8) + 1}`;
}

/** The square of a name such as "d3"; undefined if there is none. */
export function parseSquare(name: string): Square | undefined {
  const file = FILES.indexOf(name.charAt(0).toLowerCase() || "?");
  const rank = name.charCodeAt(1) - "1".charCodeAt(0);
  return name.length === 2 && file >= 0 && rank >= 0 && rank < 8 ? rank * 8 + file : undefined;
}
