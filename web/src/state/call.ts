import { Code } from "@connectrpc/connect";
import { OFFLINE, type Refusal, refusal } from "../api/refusal";
import { backoff } from "../api/backoff";
import { refusalText, text } from "../text/text";
import { connection } from "./connection";
import { notify } from "./notice";
import { renew } from "./session";

/** Does what a control asks for. A refusal is shown, and answered with nothing. */
export async function act<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    const refused = refusal(error);
    if (refused.code === Code.Unauthenticated) void renew();
    else if (!isKnown(refused)) notify(refusalText(text.value, refused), { tone: "bad" });
    return undefined;
  }
}

/** The banner says it already. */
function isKnown({ reason }: Refusal): boolean {
  return reason === OFFLINE && connection.value !== "open";
}

const ATTEMPTS = 6;

/** For calls that may be repeated: tries again while the server cannot be reached. */
export async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt + 1 >= ATTEMPTS || !worthwhile(refusal(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, backoff(attempt, Math.random())));
    }
  }
}

function worthwhile(refused: Refusal): boolean {
  return refused.code === Code.Unavailable || refused.code === Code.Unknown || refused.reason === "RATE";
}
