import type { Frame } from "../../game/history";
import { picture } from "../../game/board_svg";
import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import { fileName } from "../../room/game_record";
import { act } from "../../state/call";
import { notify } from "../../state/notice";
import { ggf, plain, png, save } from "../../state/download";
import { text } from "../../text/text";

/** The game to take away: its moves, and the position that is shown as a picture. */
export function ExportPanel({ record, frame }: { record: GameRecord; frame: Frame }) {
  const { replay } = text.value;
  const copy = () =>
    act(async () => {
      await navigator.clipboard.writeText(record.transcript);
      notify(replay.copied);
    });
  const saveGgf = () =>
    act(async () => {
      const line = await ggf(record);
      if (line) save(fileName(record, "ggf"), plain(line));
    });
  const savePicture = async () => {
    const drawn = await png(picture(frame.board, frame.square));
    if (drawn) save(fileName(record, "png"), drawn);
    else notify(replay.failed, { tone: "bad" });
  };
  return (
    <section class="panel export">
      <h2>{replay.export}</h2>
      <div class="buttons">
        {/* Browsers lend the clipboard to pages from a safe origin only. */}
        {navigator.clipboard && (
          <button type="button" class="small" onClick={copy}>
            {replay.copy}
          </button>
        )}
        <button type="button" class="small" onClick={() => save(fileName(record, "txt"), plain(record.transcript))}>
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
