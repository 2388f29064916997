import type { ExploredMove } from "../../gen/reversi/v1/record_pb";
import { text } from "../../text/text";

/** The moves that were played in a position; a click plays one. */
export function ExploredMoves({ moves, play }: { moves: readonly ExploredMove[]; play: (square: string) => void }) {
  const { archive } = text.value;
  return (
    <table class="scores explored">
      <thead>
        <tr>
          <th scope="col">{archive.move}</th>
          <th scope="col">{archive.games}</th>
          <th scope="col">{archive.results}</th>
          <th scope="col">{archive.rating}</th>
        </tr>
      </thead>
      <tbody>
        {moves.map((move) => {
          const square = move.squares[0] ?? "";
          const percent = (part: number) => Math.round((100 * part) / Math.max(1, move.games));
          const [won, drawn, lost] = [percent(move.won), percent(move.drawn), percent(move.lost)];
          return (
            <tr key={square}>
              <th scope="row">
                <button type="button" class="small" onClick={() => play(square)}>
                  {move.squares.join(" ")}
                </button>{" "}
                {move.opening}
              </th>
              <td>{move.games}</td>
              <td>
                <Shares label={archive.share(won, drawn, lost)} parts={[move.won, move.drawn, move.lost]} />
              </td>
              <td>{move.averageRating > 0 ? move.averageRating : "–"}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** A bar of three parts, drawn as SVG, which takes the widths as attributes. */
function Shares({ label, parts: [won, drawn, lost] }: { label: string; parts: [number, number, number] }) {
  const all = Math.max(1, won + drawn + lost);
  return (
    <svg class="share-bar" viewBox={`0 0 ${all} 1`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <rect class="won" width={won} height="1" />
      <rect class="drawn" x={won} width={drawn} height="1" />
      <rect class="lost" x={won + drawn} width={lost} height="1" />
    </svg>
  );
}
