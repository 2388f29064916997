/** What an author has pasted: a token for this server, or why it is none. */
export type Pasted = { token: string } | "unreadable" | "elsewhere";

const TOKEN = /^(play_)?[0-9a-f]{64}$/i;

/**
 * Reads a token, or a line of a file of `reversi --keep`: the addresses of servers, a token and a name. A token for other
 * hosts than `host` is not given out, since the server here must not learn it.
 */
export function readPasted(pasted: string, host: string): Pasted {
  const [first = "", second = ""] = pasted.trim().split(/\s+/);
  if (isToken(first)) return { token: first };
  if (!isToken(second)) return "unreadable";
  const isHere = first === "-" || first.split(",").some((server) => hostOf(server) === host);
  return isHere ? { token: second } : "elsewhere";
}

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

function hostOf(server: string): string | undefined {
  try {
    return new URL(server).hostname;
  } catch {
    return undefined;
  }
}
