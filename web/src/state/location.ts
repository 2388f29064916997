import { signal } from "@preact/signals";
import { address, parseRoute, type Route } from "../route";

export const route = signal<Route>(parseRoute(location.hash));

globalThis.addEventListener("hashchange", () => {
  if (address(route.value) !== location.hash) route.value = parseRoute(location.hash);
});

export function go(to: Route): void {
  location.hash = address(to);
  // The browser tells of it later, and what comes in between must know where one is.
  route.value = to;
}

/** The same, but "back" does not lead here again. */
export function replace(to: Route): void {
  location.replace(address(to));
  route.value = to;
}
