import { useEffect, useState } from "preact/hooks";
import { analyses } from "../../api/client";
import type { Refusal } from "../../api/refusal";
import { boardText, type Line } from "../../game/line";
import type { PositionAnalysis } from "../../gen/reversi/v1/analysis_pb";
import { Side } from "../../gen/reversi/v1/types_pb";
import { loadServerInfo, serverInfo } from "../server_info";
import { attempt } from "../call";
import { readAnalysis } from "./analysis_stream";

export interface AnalysisState {
  analysis?: PositionAnalysis;
  /** Whether the analysis waits for the server. */
  busy?: boolean;
  refused?: Refusal;
}

/** The server's analysis of a position, as it deepens. It ends when the position changes or the component goes. */
export function usePositionAnalysis({ board, mover }: Line): AnalysisState {
  const [state, setState] = useState<AnalysisState>({});
  const key = `${boardText(board)} ${mover}`;
  useEffect(() => {
    setState({});
    if (!mover) return;
    const abort = new AbortController();
    void follow({ board, mover }, abort.signal, setState);
    return () => abort.abort();
  }, [key]);
  return state;
}

async function follow(
  { board, mover }: Pick<Line, "board" | "mover">,
  signal: AbortSignal,
  set: (state: AnalysisState) => void,
): Promise<void> {
  if (!serverInfo.peek()) await attempt(loadServerInfo);
  const sideToMove = mover === "black" ? Side.BLACK : Side.WHITE;
  const subject = { case: "position" as const, value: { board: boardText(board), sideToMove } };
  const lines = serverInfo.peek()?.limits?.analysisLines ?? 1;
  const refused = await readAnalysis(
    () => analyses.analyzePosition({ subject, lines }, { signal }),
    signal,
    (message) => message.case === "analysis" && set({ analysis: message.value }),
    () => set({ busy: true }),
  );
  if (refused) set({ refused });
}
