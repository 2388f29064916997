import type { Elo } from "../../gen/reversi/v1/lobby_pb";
import { text } from "../../text/text";

/** The measured Elo of each level, with one marked. */
export function EloTable({ elo, level }: { elo: readonly Elo[]; level?: number }) {
  const { home, stats } = text.value;
  if (elo.length < 2) return null;
  return (
    <table class="elos">
      <thead>
        <tr>
          <th scope="col">{stats.level}</th>
          <th scope="col">{home.elo}</th>
        </tr>
      </thead>
      <tbody>
        {elo.map((measured, at) => (
          <tr key={at} aria-current={at + 1 === level ? "true" : undefined}>
            <th scope="row">{at + 1}</th>
            <td>{`${measured.elo} ± ${measured.error}`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
