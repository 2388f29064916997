import type { Frame } from "../../game/history";
import { boardSvg } from "../../game/board_svg";
import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import { fileName } from "../../room/game_record";
import { attempt } from "../../state/call";
import { notify } from "../../state/notice";
import { fetchGgf, textBlob, renderPng, download } from "../../state/download";
import { boardColors } from "../../state/page/theme";
import { text } from "../../text/text";

/** Downloads: the game's moves, and the shown position as a picture. */
export function ExportPanel({ record, frame }: { record: GameRecord; frame: Frame }) {
  const { replay } = text.value;
  const copy = () =>
    attempt(async () => {
      await navigator.clipboard.writeText(record.transcript);
      notify(replay.copied);
    });
  const saveGgf = () =>
    attempt(async () => {
      const line = await fetchGgf(record);
      if (line) download(fileName(record, "ggf"), textBlob(line));
    });
  const savePicture = async () => {
    const drawn = await renderPng(boardSvg(frame.board, frame.square, boardColors()));
    if (drawn) download(fileName(record, "png"), drawn);
    else notify(replay.failed, { tone: "bad" });
  };
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
          onClick={() => download(fileName(record, "txt"), textBlob(record.transcript))}
        >
          {replay.transcript}
        </button>
        <button type="button" class="small" onClick={saveGgf}>
          {replay.ggf}
        </button>
        <button type="button" class="small" onClick={savePicture}>
          {replay.image}
        </button>
      </div>
    </section>
  );
}
