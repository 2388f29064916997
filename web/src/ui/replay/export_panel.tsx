import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import { fileName } from "../../room/game_record";
import { attempt } from "../../state/call";
import { notify } from "../../state/notice";
import { fetchGgf, textBlob, download } from "../../state/download";
import { text } from "../../text/text";

/** Downloads of the game's moves. */
export function ExportPanel({ record }: { record: GameRecord }) {
  const { replay } = text.value;
  const copy = () =>
    attempt(async () => {
      await navigator.clipboard.writeText(record.transcript);
      notify(replay.copied);
    });
  const saveGgf = () =>
    attempt(async () => {
      const line = await fetchGgf(record);
      if (line) download(fileName(record.gameId, "ggf"), textBlob(line));
    });
  return (
    <section class="panel export">
      <h2>{replay.export}</h2>
      <div class="buttons">
        {/* Browsers offer the clipboard to secure origins only. */}
        {navigator.clipboard && (
          <button type="button" class="small" onClick={copy}>
            {replay.copy}
          </button>
        )}
        <button
          type="button"
          class="small"
          onClick={() => download(fileName(record.gameId, "txt"), textBlob(record.transcript))}
        >
          {replay.transcript}
        </button>
        <button type="button" class="small" onClick={saveGgf}>
          {replay.ggf}
        </button>
      </div>
    </section>
  );
}
