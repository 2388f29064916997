import { useState } from "preact/hooks";
import { retry } from "../api/retry";
import { attempt } from "./call";
import { useWhenConnected } from "./connection";

/** A part of a list, and the token of the next part; empty after the last. */
interface Part<T> {
  entries: readonly T[];
  next: string;
}

/**
 * A list that the server tells page by page. `entries` are absent before the first page. `more` loads the next page, or the
 * first again where that failed; it is absent after the last.
 */
export function usePages<T>(load: (pageToken: string) => Promise<Part<T>>) {
  const [list, setList] = useState<Part<T> | undefined>();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);
  const more = async () => {
    setBusy(true);
    const page = await attempt(() => retry(() => load(list?.next ?? "")));
    setBusy(false);
    setFailed(!page);
    if (page) setList({ entries: [...(list?.entries ?? []), ...page.entries], next: page.next });
  };
  useWhenConnected(() => {
    if (!list) void more();
  });
  return { entries: list?.entries, busy, more: list?.next || failed ? more : undefined };
}
