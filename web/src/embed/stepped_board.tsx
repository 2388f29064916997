import type { Color } from "../game/board";
import type { Frame } from "../game/history";
import type { Route } from "../route";
import { text } from "../text/text";
import { ReplayControls } from "../ui/replay/replay_controls";
import { usePlayback } from "../ui/replay/use_playback";
import { FramedBoard } from "./framed_board";

interface SteppedBoardProps {
  frames: readonly Frame[];
  names: Record<Color, string>;
  /** The number of plies after which the board is shown first. */
  first: number;
  /** Words over the board after a pass. */
  note?: (at: number) => string | undefined;
  /** Shown at the last position. */
  result?: string;
  /** The screen of the page that shows the same position. */
  route: (at: number) => Route;
}

/** Moves to step through. */
export function SteppedBoard({ frames, names, first, note, result, route }: SteppedBoardProps) {
  const { replay } = text.value;
  const playback = usePlayback(frames.length - 1, first);
  const { at, plies } = playback;
  const { board, square } = frames[at] as Frame;
  const place = plies > 0 ? replay.at(at, plies) : "";
  return (
    <FramedBoard
      board={board}
      last={square}
      note={note?.(at)}
      names={names}
      caption={at === plies && result ? result : place}
      route={route(at)}
    >
      {plies > 0 && <ReplayControls {...playback} />}
    </FramedBoard>
  );
}
