import { Code } from "@connectrpc/connect";
import { backoff } from "./backoff";
import { type Refusal, refusal } from "./refusal";

const ATTEMPTS = 6;

/** Makes a call that may be repeated, up to six times while the server cannot be reached. */
export async function retry<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt + 1 >= ATTEMPTS || !isRetryable(refusal(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, backoff(attempt, Math.random())));
    }
  }
}

export function isRetryable(refused: Refusal): boolean {
  return RETRYABLE.has(refused.code) || refused.reason === "RATE";
}

const RETRYABLE: ReadonlySet<Code> = new Set([Code.Unavailable, Code.Unknown, Code.DeadlineExceeded]);
