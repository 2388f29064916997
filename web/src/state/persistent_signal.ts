import { effect, type Signal, signal } from "@preact/signals";

/** A signal kept in local storage under `name`; `initial` if nothing valid is stored there. */
export function persistentSignal<T>(name: string, initial: T, isValid: (value: unknown) => value is T): Signal<T> {
  const key = `reversi.${name}`;
  const value = signal<T>(read(key, initial, isValid));
  effect(() => write(key, value.value));
  return value;
}

function read<T>(key: string, initial: T, isValid: (value: unknown) => value is T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
    return isValid(value) ? value : initial;
  } catch {
    return initial;
  }
}

/** A browser may forbid local storage; then the value lasts as long as the page is open. */
function write(key: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    return;
  }
}
