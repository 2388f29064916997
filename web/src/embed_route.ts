import { address, parseRoute, type Route } from "./route";

/** What an embedded board shows: a finished game, the game of a room, or a position. */
export type EmbedRoute = Extract<Route, { screen: "game" | "room" | "analysis" }>;

/** The path of `embed.html` at the server. */
const PATH = "/embed";

/** The route of a fragment; undefined if it names nothing that can be embedded. */
export function parseEmbedRoute(hash: string): EmbedRoute | undefined {
  const route = parseRoute(hash.replace("#/position", "#/analysis"));
  return route.screen === "game" || route.screen === "room" || route.screen === "analysis" ? route : undefined;
}

/** "/embed#/game/ID/23", "/embed#/room/ID" or "/embed#/position/START/MOVES". */
export function embedAddress(route: EmbedRoute): string {
  return `${PATH}${address(route).replace("#/analysis", "#/position")}`;
}

/** The HTML that shows the board in another site's page. */
export function embedCode(origin: string, route: EmbedRoute, title: string): string {
  const source = escaped(origin + embedAddress(route));
  return `<iframe src="${source}" title="${escaped(title)}" width="400" height="560" loading="lazy"></iframe>`;
}

/** The text within an attribute in double quotes. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
