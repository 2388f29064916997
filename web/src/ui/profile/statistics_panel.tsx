import type { PlayerStats, Score } from "../../gen/reversi/v1/session_pb";
import { language, text } from "../../text/text";

/** Results, overall and by kind of opponent, and the rating. */
export function StatisticsPanel({ stats }: { stats: PlayerStats }) {
  const { stats: texts } = text.value;
  const { played, won, drawn, lost, rating } = stats;
  const share = new Intl.NumberFormat(language.value, { style: "percent" }).format(played ? won / played : 0);
  const against: [string, Score | undefined][] = [
    [texts.humans, stats.againstHumans],
    [texts.bots, stats.againstBots],
    [texts.ais, stats.againstAis],
  ];
  return (
    <>
      <section class="panel">
        <h2>{texts.results}</h2>
        <p>
          <strong class="figure">{texts.played(played)}</strong> {played > 0 && texts.share(share)}
        </p>
        {played > 0 && <Shares of={{ won, drawn, lost }} />}
        <table class="scores">
          <thead>
            <tr>
              <th scope="col">{texts.against}</th>
              <th scope="col">{texts.won}</th>
              <th scope="col">{texts.drawn}</th>
              <th scope="col">{texts.lost}</th>
            </tr>
          </thead>
          <tbody>
            {against.map(([kind, score]) => (
              <tr key={kind}>
                <th scope="row">{kind}</th>
                <td>{score?.won ?? 0}</td>
                <td>{score?.drawn ?? 0}</td>
                <td>{score?.lost ?? 0}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section class="panel">
        <h2>{texts.rating}</h2>
        {rating ? (
          <>
            <p>
              <strong class="figure">{`${Math.round(rating.value)}${rating.provisional ? "?" : ""}`}</strong>
            </p>
            <p class="muted">
              {texts.ratingWhy(
                Math.round(rating.value - 2 * rating.deviation),
                Math.round(rating.value + 2 * rating.deviation),
                rating.games,
              )}
            </p>
          </>
        ) : (
          <p class="muted">{texts.unrated}</p>
        )}
      </section>
    </>
  );
}

type Counts = Record<"won" | "drawn" | "lost", number>;
const RESULTS = ["won", "drawn", "lost"] as const;

/** The shares of won, drawn and lost games as one bar. */
function Shares({ of }: { of: Counts }) {
  const { stats } = text.value;
  return (
    <div>
      <div class="shares" aria-hidden="true">
        {RESULTS.map(
          (result) => of[result] > 0 && <span key={result} class={result} style={{ flexGrow: of[result] }} />,
        )}
      </div>
      <p class="shares-key">
        {RESULTS.map((result) => (
          <span key={result}>
            <span class={`share-key ${result}`} aria-hidden="true" /> {stats[result]} <strong>{of[result]}</strong>
          </span>
        ))}
      </p>
    </div>
  );
}
