import { type ReadonlySignal, signal } from "@preact/signals";
import type { StreamEnd } from "../../api/reconnecting_stream";
import type { TournamentView, WatchTournamentResponse } from "../../gen/reversi/v1/tournament_pb";
import { watch } from "../../stream/watch";
import { onHeartbeat, streamStateOf } from "../connection";
import { renewIfUnauthenticated, session } from "../session";

/** A watched tournament. */
export interface TournamentStream {
  /** Undefined until the first message. */
  view: ReadonlySignal<TournamentView | undefined>;
  /** Set when the stream has ended for good, as with the tournament. */
  end: ReadonlySignal<StreamEnd | undefined>;
  stop: () => void;
}

/** Watches a tournament: each message has all of it. */
export function watchTournament(tournamentId: string): TournamentStream {
  const view = signal<TournamentView | undefined>(undefined);
  const end = signal<StreamEnd | undefined>(undefined);
  const onState = streamStateOf(`tournament ${tournamentId}`);
  const unwatch = watch<WatchTournamentResponse["message"]>(
    { kind: "tournament", tournamentId, token: session.peek()?.token },
    {
      onMessage: (message) => {
        if (message.case === "view") view.value = message.value;
      },
      onState,
      onHeartbeat,
      onEnd: (reason) => {
        end.value = reason;
        renewIfUnauthenticated(reason);
      },
    },
  );
  const stop = () => {
    unwatch();
    onState("stopped");
  };
  return { view, end, stop };
}
