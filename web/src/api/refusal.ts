import { Code, ConnectError } from "@connectrpc/connect";
import { errorMetadata, refusedField } from "./error_info";

/** Why a call failed: the code says what to do next, the reason what happened. */
export interface Refusal {
  code: Code;
  /** A reason of types.proto; `OFFLINE` if no server was reached, `UNANSWERED` if none answered in time; else empty. */
  reason: string;
  /** The room that is the reason, if the server names one. */
  roomId?: string | undefined;
  /** The ban from the server, if that is the reason: of the player's name or network. */
  ban?: { scope: string; reason?: string | undefined; until?: string | undefined } | undefined;
  /** The first field of the request that is refused, such as "settings.games", if the server names one. */
  field?: string | undefined;
  /** In English, for reasons that the page does not know. */
  message: string;
}

export const OFFLINE = "OFFLINE";
export const UNANSWERED = "UNANSWERED";

export function refusal(error: unknown): Refusal {
  const cause = ConnectError.from(error);
  const { code, metadata, rawMessage } = cause;
  const reason = metadata.get("reversi-reason");
  const details = errorMetadata(cause);
  const scope = details.get("scope");
  const ban = scope ? { scope, reason: details.get("ban_reason"), until: details.get("until") } : undefined;
  const known = reason ?? UNREASONED.get(code) ?? "";
  return { code, reason: known, roomId: details.get("room_id"), ban, field: refusedField(cause), message: rawMessage };
}

const UNREASONED: ReadonlyMap<Code, string> = new Map([
  [Code.Unknown, OFFLINE],
  [Code.Unavailable, OFFLINE],
  [Code.DeadlineExceeded, UNANSWERED],
]);

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
