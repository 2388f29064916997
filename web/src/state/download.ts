import { records } from "../api/client";
import { ExportFormat, type GameRecord } from "../gen/reversi/v1/record_pb";

/** Lets the browser save it under the name. */
export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function plain(text: string): Blob {
  return new Blob([text, "\n"], { type: "text/plain" });
}

/** The game in GGF. The server exports by room, newest first; what follows the game is not read. */
export async function ggf({ gameId, roomId }: GameRecord): Promise<string | undefined> {
  const abort = new AbortController();
  try {
    const request = { filter: { roomId }, format: ExportFormat.GGF };
    for await (const game of records.exportGames(request, { signal: abort.signal })) {
      if (game.gameId === gameId) return game.line;
    }
    return undefined;
  } finally {
    abort.abort();
  }
}

/** Draws an SVG as a PNG; absent where the browser cannot. */
export async function png(svg: string): Promise<Blob | undefined> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    canvas.getContext("2d")?.drawImage(image, 0, 0);
    return await new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? undefined), "image/png"));
  } catch {
    return undefined;
  } finally {
    URL.revokeObjectURL(url);
  }
}
