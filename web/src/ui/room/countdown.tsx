import { useEffect, useState } from "preact/hooks";
import { serverNow } from "../../state/connection";

/** The whole seconds until then, at least 0. `then` is in milliseconds, by the server's clock. */
export function useSecondsUntil(then: number): number {
  const [now, setNow] = useState(serverNow());
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), 250);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((then - now) / 1000));
}
