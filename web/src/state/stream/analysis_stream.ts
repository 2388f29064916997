import { type Refusal, refusal } from "../../api/refusal";
import { place } from "../../stream/watch";

/** The time until an analysis that was refused because the server is busy is asked for again, in milliseconds. */
const RETRY = 2_000;

const BUSY: ReadonlySet<string> = new Set(["QUOTA_ANALYSES", "QUOTA_STREAMS", "RATE", "OFFLINE", "DRAINING"]);

/**
 * Reads a stream of the analysis service to its end, when it has a place among the connections of the browser. While the
 * server is busy it asks again, and calls `onBusy`. Returns the refusal that ended it, if any.
 */
export async function readAnalysis<M>(
  open: () => AsyncIterable<{ message: M }>,
  signal: AbortSignal,
  onMessage: (message: M) => void,
  onBusy: () => void,
): Promise<Refusal | undefined> {
  while (!signal.aborted) {
    const free = await place(signal);
    try {
      for await (const { message } of open()) if (!signal.aborted) onMessage(message);
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      const refused = refusal(error);
      if (!BUSY.has(refused.reason)) return refused;
      onBusy();
      free();
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    } finally {
      free();
    }
  }
  return undefined;
}
