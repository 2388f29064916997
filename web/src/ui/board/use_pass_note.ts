import { useEffect, useState } from "preact/hooks";
import { colorOf } from "../../game/history";
import type { Ply } from "../../gen/reversi/v1/types_pb";
import { text } from "../../text/text";

/** How long a pass is shown on the board, in milliseconds, also if the next move comes at once. */
const SHOWN = 4_000;

/** "White must pass", for some time after a pass of a running game. */
export function usePassNote(plies: readonly Ply[]): string | undefined {
  const [shown, setShown] = useState(false);
  const pass = plies.findLast((ply) => ply.pass);
  // A pass of long ago is not shown to someone who comes now.
  const recent = pass !== undefined && pass.ply >= plies.length - 2;
  useEffect(() => {
    if (!recent) return;
    setShown(true);
    const timer = setTimeout(() => setShown(false), SHOWN);
    return () => clearTimeout(timer);
  }, [pass?.ply]);
  return shown ? passText(pass) : undefined;
}

/** "White must pass"; undefined if the ply is not a pass. */
export function passText(ply: Ply | undefined): string | undefined {
  const side = ply?.pass ? colorOf(ply.side) : undefined;
  return side && text.value.game.mustPass(text.value.side[side]);
}
