import type { Refusal } from "../../api/refusal";
import { text } from "../../text/text";
import { attempt } from "../call";
import { notify } from "../notice";

interface Options {
  /** Words of this call for some reasons. */
  words?: Readonly<Record<string, string>>;
  isShown?: (refused: Refusal) => boolean;
}

/** As `attempt`, for calls about a tournament, where some reasons mean something else than in a room. */
export function attemptInTournament<T>(call: () => Promise<T>, options: Options = {}): Promise<T | undefined> {
  const { words, isShown = () => false } = options;
  return attempt(call, (refused) => {
    if (isShown(refused)) return true;
    const known: Readonly<Record<string, string | undefined>> = { ...text.value.tournament.refused, ...words };
    const why = refused.ban ? undefined : known[refused.reason];
    if (why) notify(why, { tone: "bad" });
    return why !== undefined;
  });
}
