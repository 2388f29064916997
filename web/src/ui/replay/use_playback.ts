import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { isSpeed, type Speed, SPEEDS, step } from "../../game/playback";
import { persistentSignal } from "../../state/persistent_signal";

const speed = persistentSignal<Speed>("speed", "1×", isSpeed);

/** The shown ply of a game, and how to change it. */
export interface Playback {
  at: number;
  plies: number;
  playing: boolean;
  speed: Speed;
  go: (at: number) => void;
  toggle: () => void;
  setSpeed: (speed: Speed) => void;
}

/** Steps through a game by keys, and plays it. */
export function usePlayback(plies: number, first: number): Playback {
  const [at, setAt] = useState(Math.min(first, plies));
  const [playing, setPlaying] = useState(false);
  const go = (to: number) => {
    setPlaying(false);
    setAt(to);
  };
  const toggle = () => {
    if (!playing && at === plies) setAt(0);
    setPlaying(!playing && plies > 0);
  };
  useEffect(() => {
    if (!playing) return;
    if (at === plies) return setPlaying(false);
    const timer = setTimeout(() => setAt(at + 1), SPEEDS[speed.value]);
    return () => clearTimeout(timer);
  }, [playing, at, speed.value]);
  useKeys((key) => {
    const to = step(key, at, plies);
    if (to !== undefined) go(to);
    else if (key === " ") toggle();
    return to !== undefined || key === " ";
  });
  return { at, plies, playing, speed: speed.value, go, toggle, setSpeed: (chosen) => (speed.value = chosen) };
}

/** Handles keys anywhere on the page, except in controls that use them. */
function useKeys(hear: (key: string) => boolean): void {
  // A layout effect: a held key repeats faster than the board is painted.
  useLayoutEffect(() => {
    const down = (event: KeyboardEvent) => {
      const held = event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented;
      if (held || isUsed(event.key, event.target as HTMLElement)) return;
      if (hear(event.key)) event.preventDefault();
    };
    addEventListener("keydown", down);
    return () => removeEventListener("keydown", down);
  });
}

function isUsed(key: string, { tagName }: HTMLElement): boolean {
  if (tagName === "INPUT") return key !== " ";
  return tagName === "SELECT" || tagName === "TEXTAREA" || (key === " " && (tagName === "BUTTON" || tagName === "A"));
}
