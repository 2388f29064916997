import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { useEffect, useState } from "preact/hooks";
import { instant } from "../../game/clock";
import { serverNow } from "../../state/connection";

/** The whole seconds until then, at least 0. */
export function useSecondsUntil(then: Timestamp): number {
  const [now, setNow] = useState(serverNow());
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), 250);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((instant(then) - now) / 1000));
}
