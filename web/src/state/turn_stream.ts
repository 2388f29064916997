import { effect, signal, untracked } from "@preact/signals";
import { games } from "../api/client";
import { type End, follow, type Follower } from "../api/reconnecting_stream";
import type { PlayEvent, TurnRequested } from "../gen/reversi/v1/game_pb";
import { CloseReason } from "../gen/reversi/v1/types_pb";
import { hearTime, lineOf } from "./connection";
import { expired, renewIfUnauthenticated, session } from "./session";

/** The player's open turns, by game. */
export const turns = signal<ReadonlyMap<string, TurnRequested>>(new Map());

/** True when the player has gone on in another tab. */
export const displaced = signal(false);

type Part = PlayEvent["event"];

let follower: Follower | undefined;
const line = lineOf("turns");

/** Listens for what concerns the player, in all rooms, for as long as somebody is logged in. */
export function listenForTurns(heard: (part: Part) => void): void {
  effect(() => {
    const wanted = session.value !== undefined && !displaced.value;
    // What listening looks at besides must not begin it anew.
    untracked(() => {
      follower?.stop();
      line("open");
      turns.value = new Map();
      follower = wanted ? listen(heard) : undefined;
    });
  });
}

/** Takes the player back from the other tab. */
export function playHere(): void {
  displaced.value = false;
}

function listen(heard: (part: Part) => void): Follower {
  return follow<Part>({ open, receive: (part) => receive(part, heard), line, heartbeat: hearTime, end: ended });
}

async function* open(signal: AbortSignal): AsyncIterable<Part> {
  // Open turns are sent again at the beginning.
  turns.value = new Map();
  for await (const { event } of games.watchTurns({}, { signal })) if (event) yield event.event;
}

function receive(part: Part, heard: (part: Part) => void): void {
  const open = new Map(turns.peek());
  if (part.case === "turnRequested") open.set(part.value.gameId, part.value);
  if (part.case === "turnClosed" || part.case === "gameEnded") open.delete(part.value.gameId);
  turns.value = open;
  heard(part);
}

function ended(end: End): void {
  if ("refused" in end) return renewIfUnauthenticated(end);
  if (end.closed === CloseReason.SUPERSEDED) displaced.value = true;
  if (end.closed === CloseReason.LOGGED_OUT) {
    expired.value = true;
    session.value = undefined;
  }
}
