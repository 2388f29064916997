import { Code } from "@connectrpc/connect";
import { backoff } from "../api/backoff";
import { patience } from "../api/reconnecting_stream";
import { OFFLINE, type Refusal, refusal, UNANSWERED } from "../api/refusal";
import { isRetryable } from "../api/retry";
import { refusalText, text } from "../text/text";
import { connection, pauseOrConnected } from "./connection";
import { navigate } from "./location";
import { notify } from "./notice";
import { ownGameElsewhere } from "./own_games";
import { askName, renew, session } from "./session";

/**
 * Makes the call of a control. A refusal is shown as a notice, and the result is undefined. A visitor is asked for a name;
 * a player who has logged out during the call is not. A refusal for which `isShown` is true is shown by the control itself.
 */
export async function attempt<T>(
  call: () => Promise<T>,
  isShown: (refused: Refusal) => boolean = () => false,
): Promise<T | undefined> {
  const visiting = !session.peek();
  try {
    return await call();
  } catch (error) {
    const refused = refusal(error);
    if (refused.code === Code.Unauthenticated) {
      if (!session.peek()) return visiting && (await askName()) ? attempt(call, isShown) : undefined;
      void renew();
    } else if (!isShown(refused) && !isInBanner(refused)) showRefusal(refused);
    return undefined;
  }
}

/** Shows a notice. If a running game of the player is the reason, it has a button that leads there. */
function showRefusal(refused: Refusal): void {
  const { ownGame } = text.value;
  const roomId = refused.roomId ?? ownGameElsewhere.value?.roomId;
  if (refused.reason !== "QUOTA_SEATS" || !roomId) return notify(refusalText(text.value, refused), { tone: "bad" });
  const run = () => navigate({ screen: "room", roomId });
  notify(ownGame.finishFirst, { tone: "bad", roomId, action: { label: ownGame.back, run } });
}

/** Whether the banner already shows that the connection is lost. */
function isInBanner({ reason }: Refusal): boolean {
  return (reason === OFFLINE || reason === UNANSWERED) && connection.value !== "open";
}

/** Makes a call that may be repeated until the server has answered it, at once when a lost connection is back. */
export async function untilAnswered<T>(call: (options: { timeoutMs: number }) => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call({ timeoutMs: patience(attempt) });
    } catch (error) {
      if (!isRetryable(refusal(error))) throw error;
      await pauseOrConnected(backoff(attempt, Math.random()));
    }
  }
}
