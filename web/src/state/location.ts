import { signal } from "@preact/signals";
import { address, parseRoute, type Route } from "../route";

export const route = signal<Route>(parseRoute(location.hash));

globalThis.addEventListener("hashchange", () => {
  if (address(route.value) !== location.hash) route.value = parseRoute(location.hash);
});

export function navigate(to: Route): void {
  location.hash = address(to);
  // The `hashchange` event comes later; code that runs before it needs the new route.
  route.value = to;
}

/** Whether the screen shows this room. */
export function isRoomShown(roomId: string): boolean {
  return route.value.screen === "room" && route.value.roomId === roomId;
}

/** Whether the player sees this room. */
export function isRoomSeen(roomId: string): boolean {
  return isRoomShown(roomId) && !document.hidden;
}

/** Navigates without a new history entry. */
export function replace(to: Route): void {
  location.replace(address(to));
  route.value = to;
}
