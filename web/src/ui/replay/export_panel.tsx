import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import { fileName } from "../../room/game_record";
import { attempt } from "../../state/call";
import { fetchGgf, textBlob, download } from "../../state/download";
import { text } from "../../text/text";
import { CopyField } from "../control/copy_field";

/** The game's moves, to be copied and to be downloaded. */
export function ExportPanel({ record }: { record: GameRecord }) {
  const { replay } = text.value;
  const saveGgf = () =>
    attempt(async () => {
      const line = await fetchGgf(record);
      if (line) download(fileName(record.gameId, "ggf"), textBlob(line));
    });
  return (
    <section class="panel export">
      <h2>{replay.export}</h2>
      <CopyField label={replay.moves} value={record.transcript} />
      <div class="buttons">
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
