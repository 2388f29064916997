import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { useEffect, useState } from "preact/hooks";
import { instant } from "../../game/clock";
import { serverNow } from "../../state/connection";
import { text } from "../../text/text";

/** The seconds until the next game of a series. */
export function Countdown({ until }: { until: Timestamp }) {
  const [now, setNow] = useState(serverNow());
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), 250);
    return () => clearInterval(timer);
  }, []);
  return <p>{text.value.room.next(Math.max(0, Math.ceil((instant(until) - now) / 1000)))}</p>;
}
