import { isOver, unpackBoard } from "../../game/board";
import type { RoomSummary } from "../../gen/reversi/v1/lobby_pb";
import type { Outcome, Room } from "../../gen/reversi/v1/types_pb";

/** One game in the overview of running games. */
export interface LiveGame {
  row: RoomSummary;
  /** How the game ended, if known. */
  outcome?: Outcome;
  /** Set when the game has ended: the time until which the game stays, in milliseconds. */
  until?: number;
}

/** Games by room, in order of arrival: a game never moves because another is added. */
export type LiveGames = ReadonlyMap<string, LiveGame>;

/** How long an ended game stays, in milliseconds. The next game of a series may have begun by then. */
export const END_SHOWN = 5_000;

/** The games after the list of running games has changed or time has passed. An unchanged game stays the same object. */
export function updateLiveGames(games: LiveGames, rows: ReadonlyMap<string, RoomSummary>, now: number): LiveGames {
  const next = new Map<string, LiveGame>();
  for (const [roomId, game] of games) {
    const after = nextGame(game, rows.get(roomId), now);
    if (after) next.set(roomId, after);
  }
  for (const [roomId, row] of rows) if (!games.has(roomId) && isVisible(row)) next.set(roomId, newGame(row, now));
  return next;
}

/** The updated game; undefined if it is removed. */
function nextGame(game: LiveGame, row: RoomSummary | undefined, now: number): LiveGame | undefined {
  if (row && !isVisible(row)) return undefined;
  if (game.until !== undefined && now < game.until) return game;
  if (game.until === undefined && !row) return { ...game, until: now + END_SHOWN };
  if (!row) return undefined;
  return row === game.row ? game : newGame(row, now);
}

function newGame(row: RoomSummary, now: number): LiveGame {
  return isOver(unpackBoard(row.black, row.white)) ? { row, until: now + END_SHOWN } : { row };
}

/** The game with the final position and outcome of the room's game, if that has ended. */
export function withOutcome(live: LiveGame, { game, seats }: Room): LiveGame {
  if (!game?.outcome || !game.position) return live;
  const { black, white, blackDiscs, whiteDiscs } = game.position;
  const lastMove = game.plies.findLast((ply) => !ply.pass)?.square ?? "";
  const row = { ...live.row, seats, black, white, blackDiscs, whiteDiscs, lastMove, ply: game.ply };
  return { ...live, row, outcome: game.outcome };
}

/** The list leaves out the board of a room that only members may watch. */
function isVisible({ black, white }: RoomSummary): boolean {
  return (black | white) !== 0n;
}
