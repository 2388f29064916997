import { useEffect, useState } from "preact/hooks";
import type { Color } from "../../game/board";
import { clockFace, clockText, URGENT } from "../../game/clock";
import type { Clocks } from "../../gen/reversi/v1/types_pb";
import { serverNow } from "../../state/connection";
import { text } from "../../text/text";

const TICK = 100;

/** A running clock: total time, and below it the move's time if that is shorter. */
export function GameClock({ clocks, color, mover }: { clocks: Clocks; color: Color; mover: Color | undefined }) {
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
  const main = total ?? move;
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
