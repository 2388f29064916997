import { effect, type Signal, signal } from "@preact/signals";

/** A value that the browser keeps, under a name; the first one where it keeps none, or one that is not as expected. */
export function kept<T>(name: string, first: T, isExpected: (value: unknown) => value is T): Signal<T> {
  const key = `reversi.${name}`;
  const value = signal<T>(read(key, first, isExpected));
  effect(() => write(key, value.value));
  return value;
}

function read<T>(key: string, first: T, isExpected: (value: unknown) => value is T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
    return isExpected(value) ? value : first;
  } catch {
    return first;
  }
}

/** A browser may forbid it; then things are kept for as long as the page is open. */
function write(key: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    return;
  }
}
