import { effect, type Signal, signal } from "@preact/signals";

/** Local storage is of the browser, session storage of one tab. */
type Kept = "localStorage" | "sessionStorage";

/** A signal kept in storage under `name`; `initial` if nothing valid is stored there. */
export function persistentSignal<T>(
  name: string,
  initial: T,
  isValid: (value: unknown) => value is T,
  kept: Kept = "localStorage",
): Signal<T> {
  const key = `reversi.${name}`;
  const value = signal<T>(read(kept, key, initial, isValid));
  effect(() => write(kept, key, value.value));
  // The tabs of a browser have one player, and the same preferences.
  if (kept === "localStorage") {
    globalThis.addEventListener?.("storage", (change) => {
      if (change.key === key) value.value = read(kept, key, initial, isValid);
    });
  }
  return value;
}

function read<T>(kept: Kept, key: string, initial: T, isValid: (value: unknown) => value is T): T {
  try {
    const value: unknown = JSON.parse(globalThis[kept].getItem(key) ?? "null");
    return isValid(value) ? value : initial;
  } catch {
    return initial;
  }
}

/** A browser may forbid storage; then the value lasts as long as the page is open. */
function write(kept: Kept, key: string, value: unknown): void {
  try {
    if (value === undefined) globalThis[kept].removeItem(key);
    else globalThis[kept].setItem(key, JSON.stringify(value));
  } catch {
    return;
  }
}
