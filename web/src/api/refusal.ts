import { Code, ConnectError } from "@connectrpc/connect";
import { errorMetadata, refusedField } from "./error_info";

/** Why a call failed: the code says what to do next, the reason what happened. */
export interface Refusal {
  code: Code;
  /** A reason of types.proto; `OFFLINE` if no server answered, empty if one answered without a reason. */
  reason: string;
  /** The room that is the reason, if the server names one. */
  roomId?: string | undefined;
  /** The first field of the request that is refused, such as "settings.games", if the server names one. */
  field?: string | undefined;
  /** In English, for reasons that the page does not know. */
  message: string;
}

export const OFFLINE = "OFFLINE";

export function refusal(error: unknown): Refusal {
  const cause = ConnectError.from(error);
  const { code, metadata, rawMessage } = cause;
  const reason = metadata.get("reversi-reason");
  const unanswered = code === Code.Unknown || code === Code.Unavailable;
  const roomId = errorMetadata(cause).get("room_id");
  return {
    code,
    reason: reason ?? (unanswered ? OFFLINE : ""),
    roomId,
    field: refusedField(cause),
    message: rawMessage,
  };
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
