import { useMemo } from "preact/hooks";
import type { Color } from "../../game/board";
import { balance, type Frame } from "../../game/history";
import type { Ply } from "../../gen/reversi/v1/types_pb";
import { text } from "../../text/text";
import { Evaluation } from "./evaluation";
import { BalanceGraph } from "./balance_graph";

interface ProgressPanelProps {
  /** At the start and after each ply. */
  frames: readonly Frame[];
  plies: readonly Ply[];
  names: Record<Color, string>;
  /** How many plies the shown board includes; all by default. */
  at?: number;
  /** Plies of moves that are marked as mistakes. */
  mistakes?: readonly number[];
  /** Shows the board after `at` plies. */
  choose: (at: number) => void;
}

/** The latest evaluation and the graph of a game, for watchers. */
export function ProgressPanel({ frames, plies, names, at, mistakes = [], choose }: ProgressPanelProps) {
  const points = useMemo(() => frames.map(balance), [frames]);
  return (
    <section class="panel course">
      <h2>{text.value.game.graph}</h2>
      <Evaluation plies={plies.slice(0, at)} names={names} />
      <BalanceGraph points={points} mistakes={mistakes} choose={choose} {...(at !== undefined && { at })} />
    </section>
  );
}
