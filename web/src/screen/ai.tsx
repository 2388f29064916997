import { lobby } from "../api/client";
import { records } from "../api/records";
import { retry } from "../api/retry";
import { attempt } from "../state/call";
import { useQuery } from "../state/use_query";
import { navigate, replace } from "../state/location";
import { requestId } from "../state/request_id";
import { serverInfo, useServerInfo } from "../state/server_info";
import { aiName, aiStrength, aiSummary, levelStrength } from "../text/ai_name";
import { text } from "../text/text";
import { Unavailable } from "../ui/control/unavailable";
import { EloTable } from "../ui/profile/elo_table";
import { StatisticsPanel } from "../ui/profile/statistics_panel";

/** Description, strength and statistics of an AI at one level. */
export function AiScreen({ kind, level }: { kind: string; level: number }) {
  const texts = text.value;
  const { answer, refused } = useQuery(() => records.getAiStats({ kind, level }));
  const offered = serverInfo.value?.aiKinds.find((one) => one.kind === kind);
  useServerInfo();
  if (serverInfo.value && !offered) return <Unavailable why={texts.home.noSuchAi} />;
  if (refused) return <Unavailable refused={refused} />;
  if (!answer?.stats) return <p class="muted">{texts.connection.loading}</p>;
  const ai = { kind, level: answer.level };
  return (
    <div class="profile">
      <section class="panel">
        <p class="muted">{texts.room.kind.ai}</p>
        <h1 class="profile-name">{aiName(ai)}</h1>
        {offered && (
          <>
            {offered.levels > 1 && <p>{levelStrength(texts, ai)}</p>}
            <p>{aiSummary(texts, offered)}</p>
            <p class="muted">{texts.home.strength(aiStrength(texts, offered))}</p>
            <EloTable elo={offered.elo} level={answer.level} />
            {offered.levels > 1 && <Levels kind={kind} level={answer.level} levels={offered.levels} />}
          </>
        )}
        <button type="button" class="primary" onClick={() => challenge(kind, answer.level)}>
          {texts.stats.challenge}
        </button>
      </section>
      <div class="column">
        <StatisticsPanel stats={answer.stats} />
      </div>
    </div>
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
  const started = await attempt(() => retry(() => lobby.quickStart(request)));
  if (started?.room) navigate({ screen: "room", roomId: started.room.roomId });
}
