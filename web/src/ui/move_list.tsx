import { useEffect, useRef } from "preact/hooks";
import type { Ply } from "../gen/reversi/v1/types_pb";
import { text } from "../text/text";

/** The plies in pairs, black's and white's, the last in view. */
export function MoveList({ plies }: { plies: readonly Ply[] }) {
  const { game } = text.value;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [plies.length]);
  const pairs = Array.from({ length: Math.ceil(plies.length / 2) }, (_, at) => plies.slice(2 * at, 2 * at + 2));
  return (
    <section class="panel moves">
      <h2>{game.moves}</h2>
      {pairs.length === 0 && <p class="muted">{game.noMoves}</p>}
      <ol ref={list} tabIndex={0} aria-label={game.moves} hidden={pairs.length === 0}>
        {pairs.map((pair, at) => (
          <li key={at}>
            <span class="number">{at + 1}</span>
            {pair.map((ply) => (
              <span
                key={ply.ply}
                class={`move${ply.ply === plies.length - 1 ? " latest" : ""}${ply.opening ? " opening" : ""}`}
              >
                {ply.pass ? game.pass : ply.square}
              </span>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}
