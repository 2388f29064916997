import { useEffect, useState } from "preact/hooks";
import { analyses } from "../../api/analyses";
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

/** How long results are gathered before the latest is shown, in milliseconds: the first depths come almost at once. */
const PACE = 200;

/** The server's analysis of a position, as it deepens. It ends when the position changes or the component goes. */
export function usePositionAnalysis({ board, mover }: Line): AnalysisState {
  const [{ of, state }, setShown] = useState<{ of: string; state: AnalysisState }>({ of: "", state: {} });
  const key = `${boardText(board)} ${mover}`;
  useEffect(() => {
    if (!mover) return;
    const abort = new AbortController();
    void follow({ board, mover }, abort.signal, (state) => setShown({ of: key, state }));
    return () => abort.abort();
  }, [key]);
  return of === key ? state : {};
}

async function follow(
  { board, mover }: Pick<Line, "board" | "mover">,
  signal: AbortSignal,
  set: (state: AnalysisState) => void,
): Promise<void> {
  if (!serverInfo.peek()) await attempt(loadServerInfo);
  const sideToMove = mover === "black" ? Side.BLACK : Side.WHITE;
  const subject = { case: "position" as const, value: { board: boardText(board), sideToMove } };
  let latest: AnalysisState = {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = (state: AnalysisState) => {
    latest = state;
    timer ??= setTimeout(() => {
      timer = undefined;
      if (!signal.aborted) set(latest);
    }, PACE);
  };
  const lines = serverInfo.peek()?.limits?.analysisLines ?? 1;
  const refused = await readAnalysis(
    () => analyses.analyzePosition({ subject, lines }, { signal, timeoutMs: 0 }),
    signal,
    (message) => message.case === "analysis" && show({ analysis: message.value }),
    () => show({ ...latest, busy: true }),
  );
  if (refused) show({ ...latest, busy: false, refused });
}
