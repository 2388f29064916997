import { Code, ConnectError } from "@connectrpc/connect";

/** Why a call failed: the code says what to do next, the reason what happened. */
export interface Refusal {
  code: Code;
  /** As listed in types.proto; `OFFLINE` when no server answered, empty when one answered without a reason. */
  reason: string;
  /** In English, for reasons that the page does not know. */
  message: string;
}

export const OFFLINE = "OFFLINE";

export function refusal(error: unknown): Refusal {
  const { code, metadata, rawMessage } = ConnectError.from(error);
  const told = metadata.get("reversi-reason");
  const unanswered = code === Code.Unknown || code === Code.Unavailable;
  return { code, reason: told ?? (unanswered ? OFFLINE : ""), message: rawMessage };
}

/** Whether the same call may succeed later, without anything being done about it. */
export function passes({ code }: Refusal): boolean {
  return PASSING.has(code);
}

const PASSING: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.Unknown,
  Code.Internal,
  Code.Canceled,
  Code.DeadlineExceeded,
  Code.ResourceExhausted,
]);
