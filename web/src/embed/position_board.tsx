import { lineOfAddress, lineText, NO_MOVES, positions, startText } from "../game/line";
import { text } from "../text/text";
import { Message } from "./message";
import { SteppedBoard } from "./stepped_board";

/** A position after moves from a start. */
export function PositionBoard({ start, moves }: { start: string; moves: string }) {
  const { line, unread } = lineOfAddress(start, moves);
  if (unread) return <Message said={text.value.shell.unreadAddress(unread.slice(0, 65))} />;
  const lines = positions(line);
  const frames = lines.map(({ board, squares }) => {
    const square = squares.at(-1);
    return { board, flipped: [], ...(square !== undefined && { square }) };
  });
  return (
    <SteppedBoard
      frames={frames}
      names={text.value.side}
      first={frames.length - 1}
      route={(at) => {
        const line = lines[at] ?? NO_MOVES;
        return { screen: "analysis", start: startText(line.start), moves: lineText(line) };
      }}
    />
  );
}
