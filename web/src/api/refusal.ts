import { Code, ConnectError } from "@connectrpc/connect";

/** Why a call failed: the code says what to do next, the reason what happened. */
export interface Refusal {
  code: Code;
  /** A reason of types.proto; `OFFLINE` if no server answered, empty if one answered without a reason. */
  reason: string;
  /** In English, for reasons that the page does not know. */
  message: string;
}

export const OFFLINE = "OFFLINE";

export function refusal(error: unknown): Refusal {
  const { code, metadata, rawMessage } = ConnectError.from(error);
  const reason = metadata.get("reversi-reason");
  const unanswered = code === Code.Unknown || code === Code.Unavailable;
  return { code, reason: reason ?? (unanswered ? OFFLINE : ""), message: rawMessage };
}

/** Whether the same call may succeed later. */
export function isTransient({ code }: Refusal): boolean {
  return TRANSIENT.has(code);
}

const TRANSIENT: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.Unknown,
  Code.Internal,
  Code.Canceled,
  Code.DeadlineExceeded,
  Code.ResourceExhausted,
]);
