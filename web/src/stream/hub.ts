import {
  reconnectingStream,
  type StreamHandle,
  type StreamOptions,
  type StreamState,
} from "../api/reconnecting_stream";
import type { Source, sourceOf } from "./source";
import { ALIVE, type Port, type Report, type Watched, type Wish } from "./watched";

/** How many connections a hub keeps open in all, and at most for some kinds. */
export interface Places {
  all: number;
  board: number;
  place: number;
}

/**
 * Browsers open six connections to a server without TLS, over all tabs. With one more for glances, two are left for calls:
 * a move never waits. Boards on other sites' pages may have a hub of their own, so they get one.
 */
export const PLACES: Places = { all: 3, board: 1, place: 1 };

/** What has no place is looked at this often, at most, in milliseconds. */
const PACE = 2_000;

/** A tab that is silent for this long is gone, in milliseconds. Browsers let a hidden one act once a minute. */
const LEASE = 180_000;

/** Another hub of the browser that was heard of within this time has a connection, in milliseconds. */
const RECENT = 8_000;

interface Client {
  port: Port;
  watched: Map<number, Shared>;
  /** Ids of what has ended; a wish that is under way may still have them. */
  ended: Set<number>;
  wish: Wish;
  heardAt: number;
}

/** What one or more tabs watch. */
interface Shared {
  watched: Watched;
  source: Source | undefined;
  /** While it has a place. */
  stream?: StreamHandle | undefined;
  state?: StreamState;
  rank: number;
  lookedAt: number;
}

/**
 * Reads the streams of all tabs of the browser over few connections. Equal ones are read once. The most important have
 * places and stay open; the rest are looked at in turn: opened until the first message, which has the whole state.
 */
export class Hub {
  private readonly clients = new Set<Client>();
  private readonly shared = new Map<string, Shared>();
  private glance: { at: Shared; stop: () => void } | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private connectedAt = -Infinity;

  /** `others` leads to the other hubs of the browser: those of another version of the page, or without shared workers. */
  constructor(
    private readonly open: typeof sourceOf,
    private readonly places: Places,
    private readonly others?: BroadcastChannel,
  ) {
    if (others) others.onmessage = () => (this.connectedAt = Date.now());
    setInterval(() => this.dropSilent(), LEASE / 3);
  }

  connect(port: Port): void {
    const wish: Wish = { watched: new Map(), hidden: true, usedAt: 0 };
    const client: Client = { port, watched: new Map(), ended: new Set(), wish, heardAt: 0 };
    port.onmessage = ({ data }: MessageEvent<Wish>) => this.hear(client, data);
    // Not in all browsers; a tab also says when it goes, unless it crashes.
    if (port instanceof EventTarget) port.addEventListener("close", () => this.drop(client));
  }

  private hear(client: Client, wish: Wish): void {
    this.clients.add(client);
    Object.assign(client, { wish, heardAt: Date.now() });
    for (const id of client.watched.keys()) if (!wish.watched.has(id)) client.watched.delete(id);
    for (const id of client.ended) if (!wish.watched.has(id)) client.ended.delete(id);
    for (const [id, watched] of wish.watched) {
      if (!client.watched.has(id) && !client.ended.has(id)) this.join(client, id, watched);
    }
    client.port.postMessage(ALIVE);
    this.allot();
  }

  private join(client: Client, id: number, watched: Watched): void {
    const key = JSON.stringify(watched);
    const source = watched.kind === "place" ? undefined : this.open(watched);
    const shared = this.shared.get(key) ?? { watched, source, rank: Infinity, lookedAt: -Infinity };
    this.shared.set(key, shared);
    client.watched.set(id, shared);
    const tell = (report: Omit<Report, "id">) => client.port.postMessage({ id, ...report });
    if (shared.state) tell({ state: shared.state });
    for (const message of shared.source?.kept() ?? []) tell({ message, first: client === this.firstOf(shared) });
  }

  private dropSilent(): void {
    for (const client of this.clients) if (Date.now() - client.heardAt > LEASE) this.drop(client);
  }

  private drop(client: Client): void {
    client.watched.clear();
    this.clients.delete(client);
    this.allot();
  }

  /** Gives the places to the most important, and closes what nobody watches any more. */
  private allot(): void {
    const usedAt = new Map<Shared, number>();
    for (const { watched, wish } of this.clients.values()) {
      for (const shared of watched.values()) usedAt.set(shared, Math.max(usedAt.get(shared) ?? 0, wish.usedAt));
    }
    for (const [key, shared] of this.shared) {
      shared.rank = rankOf(shared);
      if (usedAt.has(shared)) continue;
      this.shared.delete(key);
      this.release(shared);
      if (this.glance?.at === shared) this.glance.stop();
    }
    const used = (shared: Shared) => usedAt.get(shared) ?? 0;
    const wanted = [...this.shared.values()].sort((one, other) => one.rank - other.rank || used(other) - used(one));
    const left: Partial<Record<Watched["kind"], number>> = { ...this.places };
    const placed = wanted.filter(({ watched: { kind } }) => (left[kind] = (left[kind] ?? Infinity) - 1) >= 0);
    const holders = new Set(placed.slice(0, this.places.all));
    for (const shared of wanted) if (!holders.has(shared)) this.release(shared);
    for (const shared of holders) this.hold(shared);
    this.look();
  }

  private hold(shared: Shared): void {
    if (shared.stream) return;
    if (this.glance?.at === shared) this.glance.stop();
    if (shared.source) shared.stream = reconnectingStream(this.optionsOf(shared, shared.source));
    else if (shared.state !== "open") this.setState(shared, "open");
  }

  private release(shared: Shared): void {
    shared.stream?.stop();
    shared.stream = undefined;
  }

  /** Looks at what waits the longest for it, and then at the next. */
  private look(): void {
    clearTimeout(this.timer);
    if (this.glance) return;
    const waiting = [...this.shared.values()].filter(({ stream, source }) => source && !stream);
    const [next] = waiting.sort((one, other) => one.lookedAt - other.lookedAt);
    if (!next?.source) return;
    const wait = next.lookedAt + PACE - Date.now();
    if (wait > 0) this.timer = setTimeout(() => this.look(), wait);
    else this.glanceAt(next, next.source);
  }

  private glanceAt(shared: Shared, source: Source): void {
    source.refresh();
    const options = this.optionsOf(shared, source);
    const then =
      <T>(tell: (value: T) => void, isLast = (_: T) => true) =>
      (value: T) => {
        tell(value);
        if (!isLast(value)) return;
        stop();
        this.look();
      };
    const stream = reconnectingStream({
      ...options,
      onMessage: then(options.onMessage),
      onState: then(
        (state) => this.setState(shared, state),
        (state) => state !== "opening" && state !== "open",
      ),
      onEnd: then((end) => this.end(shared, end)),
    });
    const stop = () => {
      if (this.glance?.at !== shared) return;
      this.glance = undefined;
      shared.lookedAt = Date.now();
      stream.stop();
    };
    this.glance = { at: shared, stop };
  }

  private optionsOf(shared: Shared, source: Source): StreamOptions<NonNullable<Report["message"]>> {
    return {
      open: (call) => source.open(call),
      onMessage: (message) => {
        this.noteConnection();
        this.tell(shared, { message });
        if (source.take(message)) shared.stream?.restart();
        if (rankOf(shared) !== shared.rank) this.allot();
      },
      onState: (state) => this.setState(shared, state),
      onHeartbeat: (heartbeat) => {
        this.noteConnection();
        this.tell(shared, { heartbeat });
      },
      onEnd: (end) => this.end(shared, end),
      ...(source.silenceLimit && { silenceLimit: source.silenceLimit }),
    };
  }

  /** Tells the other hubs that the server can be reached. */
  private noteConnection(): void {
    if (Date.now() - this.connectedAt < RECENT / 4) return;
    this.connectedAt = Date.now();
    this.others?.postMessage(ALIVE);
  }

  /** A stream that is not answered while others are has no connection left. */
  private setState(shared: Shared, state: StreamState): void {
    const isReached = Date.now() - this.connectedAt < RECENT;
    shared.state = state === "unanswered" ? (isReached ? "crowded" : "lost") : state;
    this.tell(shared, { state: shared.state });
  }

  private end(shared: Shared, end: NonNullable<Report["end"]>): void {
    this.tell(shared, { end });
    for (const { watched, ended } of this.clients) {
      for (const [id, one] of watched) if (one === shared && watched.delete(id)) ended.add(id);
    }
    this.allot();
  }

  private tell(shared: Shared, report: Omit<Report, "id">): void {
    const first = this.firstOf(shared);
    for (const client of this.clients) {
      for (const [id, one] of client.watched) {
        if (one === shared) client.port.postMessage({ id, ...report, first: client === first });
      }
    }
  }

  /** The tab that announces what it is told: of those that are seen, or else of all, the one last turned to. */
  private firstOf(shared: Shared): Client | undefined {
    const watching = [...this.clients].filter(({ watched }) => [...watched.values()].includes(shared));
    const [first] = watching.sort(
      ({ wish: one }, { wish: other }) => Number(one.hidden) - Number(other.hidden) || other.usedAt - one.usedAt,
    );
    return first;
  }
}

/** The lower, the more important. A place that is given stays given. */
function rankOf({ watched: { kind }, source, state }: Shared): number {
  if (kind === "place") return state === "open" ? 2 : 3;
  return source?.isOwnGame() ? 1 : { turns: 0, room: 4, tournament: 5, rooms: 6, board: 7 }[kind];
}
