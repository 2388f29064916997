import { useState } from "preact/hooks";
import { type Refusal, refusal } from "../api/refusal";
import { insist } from "./call";
import { useWhenOpen } from "./connection";
import { renewIfUnauthenticated } from "./session";

/** What a screen asks for once, when it opens: the answer, or why there is none; nothing yet before that. */
export function useAnswer<T>(call: () => Promise<T>): { answer?: T; refused?: Refusal } {
  const [known, setKnown] = useState<{ answer?: T; refused?: Refusal }>({});
  useWhenOpen(() => {
    if (known.answer) return;
    insist(call).then(
      (answer) => setKnown({ answer }),
      (error: unknown) => {
        const refused = refusal(error);
        renewIfUnauthenticated({ refused });
        setKnown({ refused });
      },
    );
  });
  return known;
}
