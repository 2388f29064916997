import { type BoardColors, type Picture, pictureSvg } from "../../game/picture/picture";

/** Pixels for each unit of a still picture: 920 pixels wide. */
const SCALE = 10;

/** The picture as a PNG. */
export async function renderPng(picture: Picture, colors: BoardColors): Promise<Blob> {
  const { canvas } = await draw(pictureSvg(picture, colors, SCALE));
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no PNG"))), "image/png"),
  );
}

/** The pixels of an SVG. */
export async function draw(svg: string): Promise<CanvasRenderingContext2D> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    const context = canvas.getContext("2d");
    if (!context) throw new Error("no canvas");
    context.drawImage(image, 0, 0);
    return context;
  } finally {
    URL.revokeObjectURL(url);
  }
}
