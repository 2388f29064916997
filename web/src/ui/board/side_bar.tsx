import type { ComponentChildren } from "preact";
import type { Color } from "../../game/board";
import { text } from "../../text/text";

interface SideBarProps {
  color: Color;
  name: ComponentChildren;
  /** A line below the name. */
  tags?: ComponentChildren;
  /** What stands before the number of discs. */
  actions?: ComponentChildren;
  /** Absent without a game. */
  discs?: number | undefined;
  toMove?: boolean;
  /** The clock. */
  children?: ComponentChildren;
}

/** One side of the game on a board. */
export function SideBar({ color, name, tags, actions, discs, toMove = false, children }: SideBarProps) {
  const { game, side } = text.value;
  return (
    <div class={`player-bar${toMove ? " to-move" : ""}`}>
      <span class={`chip large-chip ${color}`} aria-hidden="true" />
      <span class="visually-hidden">{side[color]}: </span>
      <div class="player-who">
        <strong>{name}</strong>
        {tags && <p class="player-tags">{tags}</p>}
      </div>
      {actions}
      {discs !== undefined && (
        <span class="discs" title={game.discs}>
          <span class="visually-hidden">{game.discs}: </span>
          {discs}
        </span>
      )}
      {children}
    </div>
  );
}
