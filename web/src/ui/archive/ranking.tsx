import { records } from "../../api/records";
import type { ParticipantKind } from "../../gen/reversi/v1/record_pb";
import { usePages } from "../../state/use_pages";
import { text } from "../../text/text";
import { ParticipantLink } from "../profile/participant_link";

/** Participants a page. */
const PAGE = 20;

/** The participants of a kind with the highest ratings. */
export function Ranking({ title, kind }: { title: string; kind: ParticipantKind }) {
  const { archive } = text.value;
  const { entries, busy, more } = usePages(async (pageToken) => {
    const page = await records.listRatings({ kind, pageSize: PAGE, pageToken });
    return { entries: page.participants, next: page.nextPageToken };
  });
  return (
    <section class="panel">
      <h2>
        {archive.ranking} · {title}
      </h2>
      {entries?.length === 0 && <p class="muted">{archive.noRanking}</p>}
      {entries && entries.length > 0 && (
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
            {entries.map(({ rank, participant, stats }) => (
              <tr key={rank}>
                <th scope="row">
                  {rank}. <ParticipantLink of={participant} />{" "}
                  <span class="muted">
                    {participant?.participant.case === "player" && participant.participant.value.engineVersion}
                  </span>
                </th>
                <td>{Math.round(stats?.rating?.value ?? 0)}</td>
                <td>{Math.round(2 * (stats?.rating?.deviation ?? 0))}</td>
                <td>{stats?.rating?.games}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {more && (
        <button type="button" disabled={busy} onClick={more}>
          {archive.more}
        </button>
      )}
    </section>
  );
}
