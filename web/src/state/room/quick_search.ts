import { persistentSignal } from "../persistent_signal";

/** The room in which this tab's latest search for an opponent waits, or waited; no property of a room tells it. */
export const searchRoom = persistentSignal("search", "", isString, "sessionStorage");

function isString(value: unknown): value is string {
  return typeof value === "string";
}
