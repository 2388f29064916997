/** A screen with its parameters. All of it is in the address's fragment, since the server serves files only. */
export type Route =
  | { screen: "home" }
  | { screen: "rooms" }
  | { screen: "create" }
  | { screen: "room"; roomId: string }
  | { screen: "join"; joinCode: string }
  | { screen: "game"; gameId: string; ply?: number }
  | { screen: "player"; playerId: string }
  | { screen: "ai"; kind: string; level: number }
  | { screen: "ais" }
  | { screen: "explore"; moves: string }
  | { screen: "analysis"; start: string; moves: string }
  | { screen: "records" }
  | { screen: "rules" }
  | { screen: "tv" };

/** Stands for the standard start in an address. */
const STANDARD = "start";

/** The route of a fragment; home if it names no screen. */
export function parseRoute(hash: string): Route {
  const [screen, id, detail] = hash
    .replace(/^#?\/?/, "")
    .split("/")
    .map(decoded);
  switch (screen) {
    case "rooms":
    case "create":
    case "ais":
    case "records":
    case "rules":
    case "tv":
      return { screen };
    case "analysis":
      return { screen, start: id && id !== STANDARD ? id : "", moves: detail ?? "" };
    case "explore":
      return { screen, moves: id ?? "" };
    case "room":
      return id ? { screen, roomId: id } : { screen: "rooms" };
    case "join":
      return id ? { screen, joinCode: id } : { screen: "home" };
    case "game":
      return id ? { screen, gameId: id, ...(whole(detail) > 0 && { ply: whole(detail) }) } : { screen: "home" };
    case "player":
      return id ? { screen, playerId: id } : { screen: "home" };
    case "ai":
      return id ? { screen, kind: id, level: whole(detail) } : { screen: "home" };
    default:
      return { screen: "home" };
  }
}

export function address(route: Route): string {
  switch (route.screen) {
    case "home":
      return "#/";
    case "room":
      return `#/room/${encodeURIComponent(route.roomId)}`;
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
      return route.moves ? `#/explore/${encodeURIComponent(route.moves)}` : "#/explore";
    default:
      return `#/${route.screen}`;
  }
}

/** The whole number of a part; 0 if it is none. */
function whole(part: string | undefined): number {
  return Math.max(0, Math.trunc(Number(part)) || 0);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
