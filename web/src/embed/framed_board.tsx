import type { Duration } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren } from "preact";
import { type Board, type Color, count } from "../game/board";
import type { Square } from "../game/square";
import type { Clocks } from "../gen/reversi/v1/types_pb";
import type { Route } from "../route";
import { text } from "../text/text";
import { BoardGrid } from "../ui/board/board_grid";
import { GameClock } from "../ui/board/game_clock";
import { SideBar } from "../ui/board/side_bar";
import { PageLink } from "./page_link";

interface FramedBoardProps {
  board: Board;
  last: Square | undefined;
  /** Words over the board, such as "White must pass". */
  note?: string | undefined;
  names: Record<Color, string>;
  /** The side to move, and the clocks, of a running game. */
  mover?: Color | undefined;
  clocks?: Clocks | undefined;
  moveLimit?: Duration | undefined;
  /** A line below the board. */
  caption: string;
  /** The screen of the page that shows the same. */
  route: Route;
  /** Controls below the board. */
  children?: ComponentChildren;
}

/** The board between the two sides, black below. */
export function FramedBoard(props: FramedBoardProps) {
  const { board, last, note, names, caption, route, children } = props;
  const { game, replay } = text.value;
  return (
    <div class={`embed${children ? " stepped" : ""}`}>
      <h1 class="visually-hidden">{replay.title(names.black, names.white)}</h1>
      <Side {...props} color="white" />
      <BoardGrid board={board} label={game.board} last={last} note={note} />
      <Side {...props} color="black" />
      {children}
      <p class="embed-caption">
        <span aria-live="polite">{caption}</span>
        <PageLink route={route} />
      </p>
    </div>
  );
}

function Side({ board, names, mover, clocks, moveLimit, color }: FramedBoardProps & { color: Color }) {
  return (
    <SideBar color={color} name={names[color]} discs={count(board, color)} toMove={mover === color}>
      {clocks && <GameClock clocks={clocks} color={color} mover={mover} moveLimit={moveLimit} />}
    </SideBar>
  );
}
