import { offeredOpponents } from "../room/opponent";
import { address } from "../route";
import { serverInfo, useServerInfo } from "../state/server_info";
import { aiName, aiStrength, aiSummary, levelStrength } from "../text/ai_name";
import { text } from "../text/text";
import { EloTable } from "../ui/profile/elo_table";

/** The computer opponents: those that are offered first, by strength, and all kinds with the Elo of their levels. */
export function AisScreen() {
  const texts = text.value;
  const { home, connection } = texts;
  useServerInfo();
  const kinds = serverInfo.value?.aiKinds;
  if (!kinds) return <p class="muted">{connection.loading}</p>;
  return (
    <div class="ais">
      <h1>{home.allAis}</h1>
      <section class="panel">
        <h2>{home.byStrength}</h2>
        <table class="elos">
          <thead>
            <tr>
              <th scope="col">{home.opponent}</th>
              <th scope="col">{home.elo}</th>
            </tr>
          </thead>
          <tbody>
            {offeredOpponents(kinds).map(({ elo, ...ai }) => (
              <tr key={aiName(ai)}>
                <th scope="row">
                  <a href={address({ screen: "ai", ...ai })}>{aiName(ai)}</a>
                  <p class="hint">{levelStrength(texts, ai)}</p>
                </th>
                <td>{elo}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {kinds.map((kind) => (
        <section key={kind.kind} class="panel">
          <h2>
            <a href={address({ screen: "ai", kind: kind.kind, level: kind.defaultLevel })}>{kind.kind}</a>
          </h2>
          <p>{aiSummary(texts, kind)}</p>
          <p class="muted">{home.strength(aiStrength(texts, kind))}</p>
          <EloTable elo={kind.elo} />
        </section>
      ))}
    </div>
  );
}
