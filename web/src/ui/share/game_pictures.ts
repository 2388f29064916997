import type { Color } from "../../game/board";
import type { Frame } from "../../game/history";
import type { Picture } from "../../game/picture/picture";
import { squareName } from "../../game/square";
import type { Ply } from "../../gen/reversi/v1/types_pb";
import { passText } from "../board/use_pass_note";

/** The positions of a game as pictures, with the number and the square of each move. */
export function gamePictures(
  frames: readonly Frame[],
  plies: readonly Ply[],
  names: Record<Color, string>,
): readonly Picture[] {
  return frames.map(({ board, square }, at) => {
    const move = square === undefined ? passText(plies[at - 1]) : squareName(square);
    return { board, last: square, names, ...(move && { note: `${at}. ${move}` }) };
  });
}
