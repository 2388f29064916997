import { useEffect, useRef } from "preact/hooks";
import type { Ply } from "../../gen/reversi/v1/types_pb";
import { text } from "../../text/text";
import { passText } from "../board/use_pass_note";

interface MoveListProps {
  plies: readonly Ply[];
  /** How many of them the shown board includes; all by default. */
  at?: number;
  /** The discs that moves lost, by their plies. */
  losses?: ReadonlyMap<number, number>;
  /** Shows the board after `at` plies. */
  choose: (at: number) => void;
}

/** The plies in two columns, scrolled to the latest. */
export function MoveList({ plies, at = plies.length, losses, choose }: MoveListProps) {
  const { game } = text.value;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    if (list.current) reveal(list.current);
  }, [plies.length, at]);
  const pairs = Array.from({ length: Math.ceil(plies.length / 2) }, (_, pair) => plies.slice(2 * pair, 2 * pair + 2));
  return (
    <section class="panel moves">
      <h2>{game.moves}</h2>
      {pairs.length === 0 && <p class="muted">{game.noMoves}</p>}
      <ol ref={list} tabIndex={0} aria-label={game.moves} hidden={pairs.length === 0}>
        {pairs.map((pair, index) => (
          <li key={index}>
            <span class="number">{index + 1}</span>
            {pair.map((ply) => (
              <Move key={ply.ply} ply={ply} latest={ply.ply === at - 1} loss={losses?.get(ply.ply)} choose={choose} />
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}

interface MoveProps {
  ply: Ply;
  latest: boolean;
  loss: number | undefined;
  choose: MoveListProps["choose"];
}

function Move({ ply, latest, loss, choose }: MoveProps) {
  const { replay } = text.value;
  const classes = `move${latest ? " latest" : ""}${ply.opening ? " opening" : ""}${ply.pass ? " pass" : ""}`;
  const name = passText(ply) ?? ply.square;
  const why = ply.opening ? replay.opening : undefined;
  return (
    <button
      type="button"
      class={classes}
      title={why}
      aria-current={latest ? "step" : undefined}
      onClick={() => choose(ply.ply + 1)}
    >
      {name}
      {loss !== undefined && <span class="loss"> −{loss.toFixed(1)}</span>}
    </button>
  );
}

/** Scrolls the list, not the page, to its latest move. */
function reveal(list: HTMLElement): void {
  const latest = list.querySelector(".latest");
  if (!latest) list.scrollTop = 0;
  else list.scrollTop += latest.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
}
