import { effect } from "@preact/signals";
import { kept } from "./persistent_signal";

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

export const sound = kept("sound", false, isBoolean);

/** Whether discs are seen to turn. Where the system asks for less motion, they are not, whatever is set here. */
export const animation = kept("animation", true, isBoolean);

export function isAnimated(): boolean {
  return animation.value && !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Whether legal moves and what they would turn over are marked. */
export const hints = kept("hints", true, isBoolean);

effect(() => {
  document.documentElement.classList.toggle("still", !animation.value);
});
