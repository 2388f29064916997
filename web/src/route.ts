import type { ParticipantKind } from "./gen/reversi/v1/record_pb";
import { parseFilter, query, type RecordFilter, whole } from "./record_filter";

/** A screen with its parameters. All of it is in the address's fragment, since the server serves files only. */
export type Route =
  | { screen: "home" }
  | { screen: "rooms" }
  | { screen: "create" }
  | { screen: "room"; roomId: string }
  | { screen: "join"; joinCode: string }
  | { screen: "game"; gameId: string; ply?: number }
  | { screen: "players" }
  | { screen: "player"; playerId: string }
  | { screen: "ai"; kind: string; level: number }
  | { screen: "ais" }
  | { screen: "explore"; moves: string; kind?: ParticipantKind; minRating?: number }
  | { screen: "analysis"; start: string; moves: string }
  | { screen: "records"; filter: RecordFilter }
  | { screen: "tournaments" }
  | { screen: "tournament"; tournamentId: string }
  | { screen: "organise" }
  | { screen: "rules" }
  | { screen: "tv" }
  | { screen: "bots" }
  | { screen: "unknown" };

const UNKNOWN: Route = { screen: "unknown" };

/** Stands for the standard start in an address. */
const STANDARD = "start";

/** The route of a fragment; home if it is empty. */
export function parseRoute(hash: string): Route {
  const [path = "", fields = ""] = hash.replace(/^#?\/?/, "").split("?");
  const [screen, id, detail] = path.split("/").map(decoded);
  switch (screen) {
    case "rooms":
    case "create":
    case "players":
    case "ais":
    case "rules":
    case "tv":
    case "bots":
    case "tournaments":
    case "organise":
      return { screen };
    case "tournament":
      return id ? { screen, tournamentId: id } : { screen: "tournaments" };
    case "records":
      return { screen, filter: parseFilter(fields) };
    case "analysis":
      return { screen, start: id && id !== STANDARD ? id : "", moves: detail ?? "" };
    case "explore":
      return { screen, moves: id ?? "", ...participants(fields) };
    case "room":
      return id ? { screen, roomId: id } : { screen: "rooms" };
    case "join":
      return id ? { screen, joinCode: id } : UNKNOWN;
    case "game":
      return id ? { screen, gameId: id, ...(whole(detail) > 0 && { ply: whole(detail) }) } : UNKNOWN;
    case "player":
      return id ? { screen, playerId: id } : UNKNOWN;
    case "ai":
      return id ? { screen, kind: id, level: whole(detail) } : UNKNOWN;
    case "":
    case undefined:
      return { screen: "home" };
    default:
      return UNKNOWN;
  }
}

export function address(route: Route): string {
  switch (route.screen) {
    case "home":
      return "#/";
    case "room":
      return `#/room/${encodeURIComponent(route.roomId)}`;
    case "tournament":
      return `#/tournament/${encodeURIComponent(route.tournamentId)}`;
    case "join":
      return `#/join/${encodeURIComponent(route.joinCode)}`;
    case "game":
      return `#/game/${encodeURIComponent(route.gameId)}${route.ply ? `/${route.ply}` : ""}`;
    case "player":
      return `#/player/${encodeURIComponent(route.playerId)}`;
    case "ai":
      return `#/ai/${encodeURIComponent(route.kind)}/${route.level}`;
    case "analysis":
      return `#/analysis/${encodeURIComponent(route.start || STANDARD)}/${encodeURIComponent(route.moves)}`;
    case "explore":
      return `#/explore${route.moves && `/${encodeURIComponent(route.moves)}`}${query({ kind: route.kind, minRating: route.minRating })}`;
    case "records":
      return `#/records${query(route.filter)}`;
    default:
      return `#/${route.screen}`;
  }
}

/** Whose moves the explorer shows; without the fields that do not restrict. */
function participants(fields: string): { kind?: ParticipantKind; minRating?: number } {
  const { kind, minRating } = parseFilter(fields);
  return { ...(kind && { kind }), ...(minRating && { minRating }) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
