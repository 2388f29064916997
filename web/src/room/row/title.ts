import type { RoomSummary } from "../../gen/reversi/v1/lobby_pb";
import type { Room, Seat } from "../../gen/reversi/v1/types_pb";
import type { Texts } from "../../text/en";
import { occupantName } from "../seat";

/** The name of a room in the list. */
export function rowTitle(texts: Texts, { name, ownerName, seats }: RoomSummary): string {
  return titleOf(texts, name, ownerName, seats);
}

export function roomTitle(texts: Texts, { settings, ownerId, members, seats }: Room): string {
  const owner = members.find(({ player }) => player?.playerId === ownerId)?.player?.displayName ?? "";
  return titleOf(texts, settings?.name ?? "", owner, seats);
}

/** The server names a room after its owner by default. Such a room is named after its players: "ada against anyone". */
function titleOf(texts: Texts, name: string, ownerName: string, seats: readonly Seat[]): string {
  const { against, anyone } = texts.visitor;
  const players = seats.map((seat) => {
    if (seat.occupant.case === "reserved") return seat.occupant.value.displayName;
    return seat.occupant.case === "open" ? anyone : occupantName(texts, seat);
  });
  const [first, second] = players[1] === ownerName ? players.toReversed() : players;
  return name === ownerName && first && second ? against(first, second) : name;
}
