import { lobby, records } from "../api/client";
import type { Elo } from "../gen/reversi/v1/lobby_pb";
import { act, insist } from "../state/call";
import { useAnswer } from "../state/use_query";
import { go, replace } from "../state/location";
import { requestId } from "../state/request_id";
import { server, useServer } from "../state/server_info";
import { aiName, aiStrength, aiSummary } from "../text/ai_name";
import { text } from "../text/text";
import { Gone } from "../ui/control/unavailable";
import { ScorePanel } from "../ui/profile/statistics_panel";

/** What an AI of the server is, and has achieved at one of its levels. */
export function AiScreen({ kind, level }: { kind: string; level: number }) {
  const texts = text.value;
  const { answer, refused } = useAnswer(() => records.getAiStats({ kind, level }));
  const offered = server.value?.aiKinds.find((one) => one.kind === kind);
  useServer();
  if (server.value && !offered) return <Gone why={texts.home.noSuchAi} />;
  if (refused) return <Gone refused={refused} />;
  if (!answer?.stats) return <p class="muted">{texts.connection.loading}</p>;
  return (
    <div class="profile">
      <section class="panel">
        <p class="muted">{texts.room.kind.ai}</p>
        <h1 class="profile-name">{aiName(texts, kind)}</h1>
        {offered && (
          <>
            <p>{aiSummary(texts, offered)}</p>
            <p class="muted">{texts.home.strength(aiStrength(texts, offered))}</p>
            <Elos elo={offered.elo} level={answer.level} />
            {offered.levels > 1 && <Levels kind={kind} level={answer.level} levels={offered.levels} />}
          </>
        )}
        <button type="button" class="primary" onClick={() => challenge(kind, answer.level)}>
          {texts.stats.challenge}
        </button>
      </section>
      <div class="column">
        <ScorePanel stats={answer.stats} />
      </div>
    </div>
  );
}

/** How strong each level was measured to be. */
function Elos({ elo, level }: { elo: readonly Elo[]; level: number }) {
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

function Levels({ kind, level, levels }: { kind: string; level: number; levels: number }) {
  const { home, stats } = text.value;
  const choose = (chosen: string) => replace({ screen: "ai", kind, level: Number(chosen) });
  return (
    <label class="field">
      <span>{stats.level}</span>
      <select value={String(level)} onChange={(event) => choose(event.currentTarget.value)}>
        {Array.from({ length: levels }, (_, at) => (
          <option key={at} value={String(at + 1)}>
            {home.levelOf(at + 1, levels)}
          </option>
        ))}
      </select>
    </label>
  );
}

async function challenge(kind: string, level: number): Promise<void> {
  const request = { opponent: { case: "ai" as const, value: { kind, level } }, requestId: requestId() };
  const started = await act(() => insist(() => lobby.quickStart(request)));
  if (started?.room) go({ screen: "room", roomId: started.room.roomId });
}
