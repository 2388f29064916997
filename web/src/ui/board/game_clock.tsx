import type { Duration } from "@bufbuild/protobuf/wkt";
import { useEffect, useState } from "preact/hooks";
import type { Color } from "../../game/board";
import { clockFace, clockText, milliseconds, URGENT } from "../../game/clock";
import type { Clocks } from "../../gen/reversi/v1/types_pb";
import { serverNow } from "../../state/connection";
import { text } from "../../text/text";

const TICK = 100;

interface GameClockProps {
  clocks: Clocks;
  color: Color;
  mover: Color | undefined;
  /** The time for each move, which the side that waits will have. */
  moveLimit: Duration | undefined;
}

/** A clock of a running game: total time, and below it the move's time if that is shorter. */
export function GameClock({ clocks, color, mover, moveLimit }: GameClockProps) {
  const [now, setNow] = useState(serverNow());
  const running = mover === color;
  useEffect(() => {
    setNow(serverNow());
    if (!running) return;
    const timer = setInterval(() => setNow(serverNow()), TICK);
    return () => clearInterval(timer);
  }, [clocks, running]);
  const { game, side } = text.value;
  const { total, move } = clockFace(clocks, color, mover, now);
  const limit = moveLimit && milliseconds(moveLimit);
  const main = total ?? move ?? (limit || undefined);
  if (main === undefined) return null;
  const urgent = running && Math.min(main, move ?? main) < URGENT;
  const also = total !== undefined && move !== undefined && move < total;
  return (
    <span class={`clock${running ? " running" : ""}${urgent ? " urgent" : ""}`} role="timer">
      <span class="visually-hidden">{game.clockOf(side[color])}: </span>
      {clockText(main)}
      {also && <small>{clockText(move)}</small>}
    </span>
  );
}
