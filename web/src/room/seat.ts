import { PlayerKind, type Room, type Seat, Visibility, Watching } from "../gen/reversi/v1/types_pb";
import { aiName } from "../text/ai_name";
import type { Texts } from "../text/en";
import type { Color } from "../game/board";

export const SEATS: readonly Color[] = ["black", "white"];

/** The name of a seat's occupant; "Free seat" or "Kept for NAME" without one. */
export function occupantName(texts: Texts, { occupant }: Pick<Seat, "occupant">): string {
  switch (occupant.case) {
    case "player":
      return occupant.value.displayName;
    case "ai":
      return aiName(occupant.value);
    case "reserved":
      return texts.room.reserved(occupant.value.displayName);
    default:
      return texts.room.open;
  }
}

/** Who plays or played the room's game; without a game, who sits in its seats. */
export function namesOf(texts: Texts, { game, seats }: Room): Record<Color, string> {
  const [black, white] = game?.seats.length ? game.seats : seats;
  return { black: black ? occupantName(texts, black) : "", white: white ? occupantName(texts, white) : "" };
}

export function occupantKind(texts: Texts, { occupant }: Seat): string {
  if (occupant.case === "ai") return texts.room.kind.ai;
  if (occupant.case !== "player") return "";
  return occupant.value.kind === PlayerKind.BOT ? texts.room.kind.bot : texts.room.kind.human;
}

export function isSeatOf(seat: Seat | undefined, playerId: string): boolean {
  return seat?.occupant.case === "player" && seat.occupant.value.playerId === playerId;
}

/** Whether the occupant of a seat is the one who had it in a game. */
export function isPlayer({ occupant: played }: Seat, { occupant }: Seat): boolean {
  if (played.case === "player" && occupant.case === "player") return played.value.playerId === occupant.value.playerId;
  if (played.case !== "ai" || occupant.case !== "ai") return false;
  return played.value.kind === occupant.value.kind && played.value.level === occupant.value.level;
}

/** The side of the player's seat, if any. */
export function sideOf(room: Room, playerId: string): Color | undefined {
  const seat = room.seats.findIndex((one) => isSeatOf(one, playerId));
  return SEATS[seat];
}

/** Whether the player may take the seat: it is open, or kept for the player. */
export function isFreeFor({ occupant }: Seat, playerId: string): boolean {
  return occupant.case === "open" || isKeptFor(occupant, playerId);
}

/** The seat that is kept for the player, or else the first open one; -1 without one. */
export function seatFor(seats: readonly Seat[], playerId: string): number {
  const kept = seats.findIndex(({ occupant }) => isKeptFor(occupant, playerId));
  return kept >= 0 ? kept : seats.findIndex(({ occupant }) => occupant.case === "open");
}

/** Whether the seat is kept for the player. */
export function isKeptFor(occupant: Seat["occupant"], playerId: string): boolean {
  return occupant.case === "reserved" && occupant.value.playerId === playerId;
}

export function isRunning(room: Room): boolean {
  return room.game !== undefined && room.game.outcome === undefined;
}

/** Whether everybody may watch. */
export function isOpenToAll({ settings, hasPassword }: Room): boolean {
  return settings?.visibility === Visibility.PUBLIC && settings.watching === Watching.EVERYONE && !hasPassword;
}

/** How many watch: the server's count includes the players who are present. */
export function watching(watchers: number, seats: readonly Seat[]): number {
  const players = seats.filter(({ occupant, present }) => occupant.case === "player" && present);
  return Math.max(0, watchers - players.length);
}

/** Whether both seats have a player or an AI. */
export function isComplete(room: Room): boolean {
  return room.seats.every(({ occupant }) => occupant.case === "player" || occupant.case === "ai");
}

/** Whether the game waits for this seat to be ready. AIs always are, and the owner is by starting the game. */
export function isAwaited(room: Room, seat: Seat): boolean {
  return seat.occupant.case !== "ai" && !seat.ready && !isSeatOf(seat, room.ownerId);
}

/** Whether the player is ready, and waits for a first opponent. */
export function awaitsOpponent({ seats, game }: Room, playerId: string): boolean {
  const own = seats.find((seat) => isSeatOf(seat, playerId));
  const open = seats.some(({ occupant }) => occupant.case === "open");
  return Boolean(open && own?.ready && !game);
}

/** Whether the present occupants have played each other. A new occupant resets both scores. */
export function havePlayed({ seats }: Room): boolean {
  return seats.some(({ wins, draws }) => wins + draws > 0);
}

/** Whether the room is this player's. A meeting of a tournament has no owner, and a visitor no id. */
export function isOwner({ ownerId }: Pick<Room, "ownerId">, me: string): boolean {
  return ownerId !== "" && ownerId === me;
}
