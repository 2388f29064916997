import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { tileLayout } from "../../room/row/tile_layout";

/** The height of a tile beside its board, and the gap between tiles, in em; as in live_games.css. */
const FOOT = 4.3;
const GAP = 0.75;

/** A grid with the largest tiles that fit into the window. */
export function GameGrid({ count, children }: { count: number; children: ComponentChildren }) {
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
  const { columns, width } = tileLayout(count, room, FOOT * room.em, GAP * room.em);
  return (
    <ul ref={list} class="game-grid" style={{ gridTemplateColumns: `repeat(${Math.min(columns, count)}, ${width}px)` }}>
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
