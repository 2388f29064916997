import { effect, signal, untracked } from "@preact/signals";
import { games } from "../../api/client";
import { PROMPT, reconnectingStream, type StreamEnd, type StreamHandle } from "../../api/reconnecting_stream";
import type { PlayEvent, TurnRequested } from "../../gen/reversi/v1/game_pb";
import { CloseReason } from "../../gen/reversi/v1/types_pb";
import { onHeartbeat, streamStateOf } from "../connection";
import { expired, renewIfUnauthenticated, session } from "../session";

/** The player's open turns, by game. */
export const turns = signal<ReadonlyMap<string, TurnRequested>>(new Map());

/** True while another tab has the player's stream. */
export const openInOtherTab = signal(false);

export type PlayerEvent = PlayEvent["event"];

let stream: StreamHandle | undefined;
const onState = streamStateOf("turns");

/** Keeps the player's own stream (`WatchTurns`) open while logged in, and passes its events on. */
export function watchTurns(onEvent: (event: PlayerEvent) => void): void {
  effect(() => {
    const wanted = session.value !== undefined && !openInOtherTab.value;
    // Signals that the stream reads must not run this effect again.
    untracked(() => {
      stream?.stop();
      onState("open");
      turns.value = new Map();
      stream = wanted ? openStream(onEvent) : undefined;
    });
  });
}

/** Takes the player's stream back from the other tab. */
export function playHere(): void {
  openInOtherTab.value = false;
}

function openStream(onEvent: (event: PlayerEvent) => void): StreamHandle {
  const onMessage = (event: PlayerEvent) => {
    updateTurns(event);
    onEvent(event);
  };
  return reconnectingStream<PlayerEvent>({
    open,
    onMessage,
    onState,
    onHeartbeat,
    onEnd,
    silenceLimit: PROMPT.silenceLimit,
  });
}

async function* open(signal: AbortSignal): AsyncIterable<PlayerEvent> {
  // The server sends every open turn again when the stream opens.
  turns.value = new Map();
  for await (const { event } of games.watchTurns({ heartbeatSeconds: PROMPT.heartbeatSeconds }, { signal }))
    if (event) yield event.event;
}

function updateTurns(event: PlayerEvent): void {
  const open = new Map(turns.peek());
  if (event.case === "turnRequested") open.set(event.value.gameId, event.value);
  if (event.case === "turnClosed" || event.case === "gameEnded") open.delete(event.value.gameId);
  turns.value = open;
}

function onEnd(end: StreamEnd): void {
  if ("refused" in end) return renewIfUnauthenticated(end);
  if (end.closed === CloseReason.SUPERSEDED) openInOtherTab.value = true;
  if (end.closed === CloseReason.LOGGED_OUT) {
    expired.value = true;
    session.value = undefined;
  }
}
