import { useMemo } from "preact/hooks";
import type { Board } from "../../game/board";
import { CELL, center, discs, LINES } from "../../game/board_svg";
import { parseSquare } from "../../game/square";

const WIDTH = 8 * CELL;

/** A small read-only board: one SVG of few elements, rendered again only when the board changes. */
export function SmallBoard({ board, last }: { board: Board; last?: string | undefined }) {
  return useMemo(() => {
    const square = parseSquare(last ?? "");
    const mark = square === undefined ? undefined : center(square);
    return (
      <svg class="small-board" viewBox={`-1 -1 ${WIDTH + 2} ${WIDTH + 2}`} aria-hidden="true">
        <rect class="small-frame" x="-1" y="-1" width={WIDTH + 2} height={WIDTH + 2} rx="1.5" />
        <rect class="small-ground" width={WIDTH} height={WIDTH} />
        <path class="small-lines" d={LINES} />
        <path class="small-black" d={discs(board, "black")} />
        <path class="small-white" d={discs(board, "white")} />
        {mark && <circle class="small-last" cx={mark.x} cy={mark.y} r="1.5" />}
      </svg>
    );
  }, [board, last]);
}
