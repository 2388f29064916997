import { useEffect, useRef, useState } from "preact/hooks";
import { analyses } from "../../api/analyses";
import type { Refusal } from "../../api/refusal";
import type { GameAnalysis, MoveAnalysis } from "../../gen/reversi/v1/analysis_pb";
import { readAnalysis } from "./analysis_stream";

export interface GameAnalysisState {
  /** What is known of each move, by its ply. */
  moves: ReadonlyMap<number, MoveAnalysis>;
  /** The number of moves to analyse; undefined before the first result. */
  of?: number;
  summary?: GameAnalysis;
  running?: boolean;
  busy?: boolean;
  refused?: Refusal;
}

/** Losses from this many discs on are marked as mistakes. */
export const MISTAKE = 2;

/** The discs that each mistake lost, by its ply. */
export function lossesOf({ moves }: GameAnalysisState): ReadonlyMap<number, number> {
  return new Map([...moves.values()].filter(({ loss }) => loss >= MISTAKE).map(({ ply, loss }) => [ply, loss]));
}

/** The server's analysis of a finished game, once it is started. Another game begins without one. */
export function useGameAnalysis(gameId: string): { state: GameAnalysisState; start: () => void } {
  const [state, setState] = useState<GameAnalysisState>({ moves: new Map() });
  const abort = useRef(new AbortController());
  useEffect(() => {
    abort.current = new AbortController();
    setState({ moves: new Map() });
    return () => abort.current.abort();
  }, [gameId]);
  const start = async () => {
    const { signal } = abort.current;
    setState({ moves: new Map(), running: true });
    const refused = await readAnalysis(
      () => analyses.analyzeGame({ subject: { case: "gameId", value: gameId } }, { signal, timeoutMs: 0 }),
      signal,
      (message) => {
        if (message.case === "summary") setState((before) => ({ ...before, summary: message.value, running: false }));
        if (message.case !== "move") return;
        const { value } = message;
        setState(({ moves }) => ({ moves: new Map(moves).set(value.ply, value), of: value.moves, running: true }));
      },
      () => setState((before) => ({ ...before, busy: true })),
    );
    if (!signal.aborted) setState((before) => ({ ...before, running: false, ...(refused && { refused }) }));
  };
  return { state, start: () => void start() };
}
