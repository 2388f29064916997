import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { fit } from "../../room/tile_layout";

/** What stands around a board in its tile, and the gap between tiles, in units of the font's size; as in live_games.css. */
const FOOT = 4.3;
const GAP = 0.75;

/** Tiles, as large as lets all of them be seen at once where that is possible. */
export function WallGrid({ count, children }: { count: number; children: ComponentChildren }) {
  const list = useRef<HTMLUListElement>(null);
  const [room, setRoom] = useState({ width: 0, height: 0, em: 16 });
  useLayoutEffect(() => {
    const measure = () => list.current && setRoom(roomFor(list.current));
    measure();
    const observer = new ResizeObserver(measure);
    if (list.current) observer.observe(list.current);
    addEventListener("resize", measure);
    return () => {
      observer.disconnect();
      removeEventListener("resize", measure);
    };
  }, []);
  const { columns, width } = fit(count, room, FOOT * room.em, GAP * room.em);
  return (
    <ul ref={list} class="wall" style={{ gridTemplateColumns: `repeat(${Math.min(columns, count)}, ${width}px)` }}>
      {children}
    </ul>
  );
}

/** The width of the list, and the height from its top to the end of the window. */
function roomFor(list: HTMLElement): { width: number; height: number; em: number } {
  const em = parseFloat(getComputedStyle(list).fontSize);
  const top = list.getBoundingClientRect().top + scrollY;
  return { width: list.clientWidth, height: innerHeight - top - em, em };
}
