import { type BoardColors, type Picture, pictureSvg } from "../../game/picture/picture";
import { draw } from "./image";

/** Pixels for each unit of an animation: 460 pixels wide. */
const SCALE = 5;

/** Milliseconds that a position is shown. */
const SHOWN = 600;
const LAST_SHOWN = 4_000;

/** Colors of the whole animation. One more index stands for an unchanged pixel. */
const COLORS = 63;

/** The disposal that leaves a frame under the next one. */
const KEEP = 1;

/** The pictures as a GIF that repeats. `progress` is called with the number of those that are done. */
export async function renderGif(
  pictures: readonly Picture[],
  colors: BoardColors,
  progress: (done: number) => void,
): Promise<Blob> {
  const { applyPalette, GIFEncoder, quantize } = await import("gifenc");
  const draws = (picture: Picture) => pixels(pictureSvg(picture, colors, SCALE));
  // A position in the middle of the game has every color.
  const sample = await draws(pictures[Math.floor(pictures.length / 2)] as Picture);
  const palette = quantize(sample.data, COLORS);
  const transparentIndex = palette.push([0, 0, 0]) - 1;

  const encoder = GIFEncoder();
  let before: Uint8Array | undefined;
  for (const [at, picture] of pictures.entries()) {
    const { data, width, height } = await draws(picture);
    const indices = applyPalette(data, palette.slice(0, -1));
    encoder.writeFrame(before ? changedPixels(before, indices, transparentIndex) : indices, width, height, {
      ...(!before && { palette }),
      transparent: before !== undefined,
      transparentIndex,
      dispose: KEEP,
      delay: at === pictures.length - 1 ? LAST_SHOWN : SHOWN,
    });
    before = indices;
    progress(at + 1);
  }
  encoder.finish();
  return new Blob([encoder.bytes()], { type: "image/gif" });
}

/** `after` with `unchanged` wherever it equals `before`: long runs of one index, which compress to almost nothing. */
export function changedPixels(before: Uint8Array, after: Uint8Array, unchanged: number): Uint8Array {
  return after.map((index, at) => (index === before[at] ? unchanged : index));
}

async function pixels(svg: string): Promise<ImageData> {
  const context = await draw(svg);
  return context.getImageData(0, 0, context.canvas.width, context.canvas.height);
}
