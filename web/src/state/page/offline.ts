import { signal } from "@preact/signals";

/** Whether the device has no network at all. A lost server is told by `connection`. */
export const offline = signal(!navigator.onLine);

for (const change of ["online", "offline"]) addEventListener(change, () => (offline.value = !navigator.onLine));

/** Lets the page open without a connection. Browsers have service workers in secure contexts only. */
export function keepForOffline(): void {
  const register = () => void navigator.serviceWorker?.register("/service_worker.js").catch(() => undefined);
  // Later, since it loads all files, and the first screen goes first.
  if (document.readyState === "complete") register();
  else addEventListener("load", register);
}
