import { create } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { type RoomSettings, RoomSettingsSchema } from "../../gen/reversi/v1/types_pb";
import { persistentSignal } from "../persistent_signal";

const seconds = (count: number) => create(DurationSchema, { seconds: BigInt(count) });

/** The clocks of a game against a player. Two who search meet if they choose the same. */
export const CLOCKS = {
  "60+1": { totalTime: seconds(60), increment: seconds(1) },
  "300+3": { totalTime: seconds(300), increment: seconds(3) },
  "900+5": { totalTime: seconds(900), increment: seconds(5) },
  move: { moveLimit: seconds(60) },
};
export type Clock = keyof typeof CLOCKS;

export const chosenClock = persistentSignal<Clock>("clock", "move", isClock);
export const isRated = persistentSignal("rated", false, isBoolean);

/** The settings of a game against a player, as last chosen. */
export function chosenTerms(): RoomSettings {
  return create(RoomSettingsSchema, { ...CLOCKS[chosenClock.value], rated: isRated.value });
}

/** The room in which this tab's latest search for an opponent waits, or waited; no property of a room tells it. */
export const searchRoom = persistentSignal("search", "", isString, "sessionStorage");

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isClock(value: unknown): value is Clock {
  return typeof value === "string" && value in CLOCKS;
}
