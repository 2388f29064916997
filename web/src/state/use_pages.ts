import { useEffect, useState } from "preact/hooks";
import { retry } from "../api/retry";
import { attempt } from "./call";

/** A part of a list, and the token of the next part; empty after the last. */
interface Part<T> {
  entries: readonly T[];
  next: string;
}

/** A list that the server tells page by page. `entries` are absent before the first page, `more` after the last. */
export function usePages<T>(load: (pageToken: string) => Promise<Part<T>>) {
  const [list, setList] = useState<Part<T> | undefined>();
  const [busy, setBusy] = useState(false);
  const more = async () => {
    setBusy(true);
    const page = await attempt(() => retry(() => load(list?.next ?? "")));
    setBusy(false);
    if (page) setList({ entries: [...(list?.entries ?? []), ...page.entries], next: page.next });
  };
  useEffect(() => void more(), []);
  return { entries: list?.entries, busy, more: list?.next ? more : undefined };
}
