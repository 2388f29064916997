import { useState } from "preact/hooks";
import type { Picture } from "../../game/picture/picture";
import { fileName } from "../../room/game_record";
import { download } from "../../state/download";
import { notify } from "../../state/notice";
import { boardColors } from "../../state/page/theme";
import { renderGif } from "../../state/share/gif";
import { renderPng } from "../../state/share/image";
import { text } from "../../text/text";

export interface PictureButtonsProps {
  /** The name of the files, without its ending. */
  name: string;
  /** The shown position. */
  picture: Picture;
  /** All positions of the game; absent if there is none. */
  pictures?: readonly Picture[] | undefined;
}

/** Downloads of the shown position, and of the whole game as an animation. */
export function PictureButtons({ name, picture, pictures }: PictureButtonsProps) {
  const { share } = text.value;
  /** How many positions are drawn; undefined if none has to be. */
  const [drawn, setDrawn] = useState<number | undefined>();
  const save = async (ending: string, draws: () => Promise<Blob>) => {
    try {
      download(fileName(name, ending), await draws());
    } catch {
      notify(share.failed, { tone: "bad" });
    }
  };
  const animate = async (all: readonly Picture[]) => {
    setDrawn(0);
    await save("gif", () => renderGif(all, boardColors(), setDrawn));
    setDrawn(undefined);
  };
  return (
    <>
      <div class="buttons">
        <button type="button" class="small" onClick={() => save("png", () => renderPng(picture, boardColors()))}>
          {share.image}
        </button>
        {pictures && (
          <button type="button" class="small" disabled={drawn !== undefined} onClick={() => animate(pictures)}>
            {share.animation}
          </button>
        )}
      </div>
      {pictures && drawn !== undefined && (
        <p role="status">
          {share.drawing} <progress value={drawn} max={pictures.length} />
        </p>
      )}
    </>
  );
}
