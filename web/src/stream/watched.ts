import type { StreamEnd, StreamMessage, StreamState } from "../api/reconnecting_stream";
import type { Heartbeat, RoomPhase } from "../gen/reversi/v1/types_pb";

/** Selects the rooms of a list; an absent field selects all. */
export interface RoomFilter {
  phase?: RoomPhase;
  openSeat?: boolean;
  /** Part of the room's or the owner's name. */
  text?: string;
  /** The rooms of its meetings. */
  tournamentId?: string;
}

/** What a tab or an embedded board wants to be told of. Equal ones of several tabs share a stream. */
export type Watched =
  /** The player's own events. */
  | { kind: "turns"; token: string }
  /** A room with its events, as the player of the token sees it. */
  | { kind: "room"; roomId: string; password: string; token?: string | undefined; playerId?: string | undefined }
  /** The list of rooms. */
  | { kind: "rooms"; filter: RoomFilter; token?: string | undefined }
  /** A room without its events, as anyone sees it. */
  | { kind: "board"; roomId: string }
  /** A tournament with its standings. */
  | { kind: "tournament"; tournamentId: string; token?: string | undefined }
  /** No stream of the hub's, but a place among them for one of the tab's own; told by the state "open". */
  | { kind: "place"; id: string };

/** What a tab tells the hub: when something changes, and as a sign of life. */
export interface Wish {
  /** By ids of the tab's own, each used once. */
  watched: ReadonlyMap<number, Watched>;
  hidden: boolean;
  /** When the tab was last turned to, in milliseconds. */
  usedAt: number;
}

/** What the hub tells a tab of one thing that it watches; one of the optional fields is set. */
export interface Report {
  id: number;
  message?: StreamMessage;
  /** With a message: whether this tab is the one to announce it, of all tabs. */
  first?: boolean;
  heartbeat?: Heartbeat;
  state?: StreamState;
  /** The last report. */
  end?: StreamEnd;
}

/** The answer to each wish. */
export const ALIVE = "alive";

/** How often a tab repeats its wish, in milliseconds. */
export const RENEWAL = 2_000;

/** The name of the channel by which hubs learn of each other. */
export const HUBS = "reversi.hubs";

/** A part of `MessagePort`. */
export interface Port {
  postMessage: (message: unknown) => void;
  onmessage: ((event: MessageEvent) => void) | null;
}
