import { useState } from "preact/hooks";
import { type Refusal, refusal } from "../api/refusal";
import { retry } from "../api/retry";
import { useWhenConnected } from "./connection";
import { renewIfUnauthenticated } from "./session";

/** Makes a call when the component mounts. Holds its answer or refusal; neither while the call is pending. */
export function useQuery<T>(call: () => Promise<T>): { answer?: T; refused?: Refusal } {
  const [result, setResult] = useState<{ answer?: T; refused?: Refusal }>({});
  useWhenConnected(() => {
    if (result.answer) return;
    retry(call).then(
      (answer) => setResult({ answer }),
      (error: unknown) => {
        const refused = refusal(error);
        renewIfUnauthenticated({ refused });
        setResult({ refused });
      },
    );
  });
  return result;
}
