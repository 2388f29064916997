import { effect, signal, untracked } from "@preact/signals";
import type { StreamEnd } from "../../api/reconnecting_stream";
import type { PlayEvent, TurnRequested } from "../../gen/reversi/v1/game_pb";
import { CloseReason } from "../../gen/reversi/v1/types_pb";
import { watch } from "../../stream/watch";
import { refusalText, text } from "../../text/text";
import { onHeartbeat, streamStateOf } from "../connection";
import { notify } from "../notice";
import { expired, renewIfUnauthenticated, session } from "../session";

/** The player's open turns, by game. */
export const turns = signal<ReadonlyMap<string, TurnRequested>>(new Map());

/** True while the player's events go to another browser. */
export const toldElsewhere = signal(false);

export type PlayerEvent = PlayEvent["event"];

const onState = streamStateOf("turns");

/**
 * Watches the player's own events (`WatchTurns`) while logged in, and passes them on. `first` tells whether this tab is the
 * one to announce them.
 */
export function watchTurns(onEvent: (event: PlayerEvent, first: boolean) => void): void {
  let stop = () => {};
  effect(() => {
    const token = session.value?.token;
    const wanted = !toldElsewhere.value;
    // Signals that the stream reads must not run this effect again.
    untracked(() => {
      stop();
      onState("stopped");
      turns.value = new Map();
      stop = token && wanted ? watchAs(token, onEvent) : () => {};
    });
  });
}

/** Takes the player's events back from the other browser. */
export function tellHere(): void {
  toldElsewhere.value = false;
}

function watchAs(token: string, onEvent: (event: PlayerEvent, first: boolean) => void): () => void {
  return watch<PlayerEvent>(
    { kind: "turns", token },
    {
      onMessage: (event, first) => {
        updateTurns(event);
        onEvent(event, first);
      },
      onState: (state) => {
        // The server sends every open turn again when the stream opens.
        turns.value = new Map();
        onState(state);
      },
      onHeartbeat,
      onEnd,
    },
  );
}

function updateTurns(event: PlayerEvent): void {
  const open = new Map(turns.peek());
  if (event.case === "turnRequested") open.set(event.value.gameId, event.value);
  if (event.case === "turnClosed" || event.case === "gameEnded") open.delete(event.value.gameId);
  turns.value = open;
}

function onEnd(end: StreamEnd): void {
  if ("refused" in end) {
    if (end.refused.ban) notify(refusalText(text.peek(), end.refused), { tone: "bad" });
    return renewIfUnauthenticated(end);
  }
  if (end.closed === CloseReason.SUPERSEDED) toldElsewhere.value = true;
  if (end.closed === CloseReason.LOGGED_OUT) {
    expired.value = true;
    session.value = undefined;
  }
}
