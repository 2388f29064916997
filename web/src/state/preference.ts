import { effect } from "@preact/signals";
import { persistentSignal } from "./persistent_signal";

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

export const sound = persistentSignal("sound", true, isBoolean);

/** Whether turning discs are animated. The system's setting for reduced motion takes precedence. */
export const animation = persistentSignal("animation", true, isBoolean);

export function isAnimated(): boolean {
  return animation.value && !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Whether legal moves, and the discs that they would turn, are marked. */
export const hints = persistentSignal("hints", true, isBoolean);

effect(() => {
  document.documentElement.classList.toggle("no-animation", !animation.value);
});
