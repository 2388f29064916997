import { records } from "../../api/client";
import type { ParticipantKind } from "../../gen/reversi/v1/record_pb";
import { useQuery } from "../../state/use_query";
import { text } from "../../text/text";
import { ParticipantLink } from "../profile/participant_link";

/** How many are listed. */
const LISTED = 20;

/** The participants of a kind with the highest ratings. */
export function Ranking({ title, kind }: { title: string; kind: ParticipantKind }) {
  const { archive } = text.value;
  const { answer } = useQuery(() => records.listRatings({ kind, pageSize: LISTED }));
  return (
    <section class="panel">
      <h2>
        {archive.ranking} · {title}
      </h2>
      {answer?.participants.length === 0 && <p class="muted">{archive.noRanking}</p>}
      {answer && answer.participants.length > 0 && (
        <table class="scores">
          <thead>
            <tr>
              <th scope="col">{archive.name}</th>
              <th scope="col">{archive.rating}</th>
              <th scope="col">{archive.deviation}</th>
              <th scope="col">{archive.games}</th>
            </tr>
          </thead>
          <tbody>
            {answer.participants.map(({ rank, participant, stats }) => (
              <tr key={rank}>
                <th scope="row">
                  {rank}. <ParticipantLink of={participant} />
                </th>
                <td>{Math.round(stats?.rating?.value ?? 0)}</td>
                <td>{Math.round(2 * (stats?.rating?.deviation ?? 0))}</td>
                <td>{stats?.rating?.games}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
