import { records } from "../api/records";
import { ExportFormat, type GameRecord } from "../gen/reversi/v1/record_pb";

/** Saves `content` as a file. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has started to read by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function textBlob(text: string): Blob {
  return new Blob([text, "\n"], { type: "text/plain" });
}

/** The game in GGF. The server exports a room's games, newest first; reading stops after this one. */
export async function fetchGgf({ gameId, roomId }: GameRecord): Promise<string | undefined> {
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
