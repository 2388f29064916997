// A whole Reversi bot. Run: node bot.mjs HOST:PORT [AI KIND or POOL]; alone it plays any waiting player.
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const [server, opponent] = process.argv.slice(2);
const isPool = opponent?.includes("+");
const files = ["session", "lobby", "game", "record", "tournament"].map((name) => `reversi/v1/${name}.proto`);
const includeDirs = [fileURLToPath(new URL("../../proto", import.meta.url))];
const types = loader.loadSync(files, { includeDirs, keepCase: true, arrays: true, enums: String });
const { v1 } = grpc.loadPackageDefinition(types).reversi;
// A connection without an answer for 6 s is closed, and made again.
const options = {
  "grpc.keepalive_time_ms": 3000,
  "grpc.keepalive_timeout_ms": 3000,
  "grpc.max_reconnect_backoff_ms": 4000,
};
const connect = (service) => new v1[`${service}Service`](server, grpc.credentials.createInsecure(), options);
const services = ["Session", "Lobby", "Game", "Record", "Tournament"];
const [sessions, lobby, games, records, tournaments] = services.map(connect);
const me = new grpc.Metadata();
const call = (client, method, request) => promisify(method).call(client, request, me, { deadline: Date.now() + 6000 });
const any = (list) => list[Math.floor(Math.random() * list.length)];

const login = await call(sessions, sessions.LogIn, { display_name: `node ${process.pid}`, kind: "PLAYER_KIND_BOT" });
me.set("authorization", `Bearer ${login.token}`);
for (let game; ; await sleep(1000)) {
  try {
    // An entrant of a pool who is away for 10 minutes leaves it. To join again changes nothing.
    if (isPool) await call(tournaments, tournaments.JoinTournament, { pool: opponent });
    const [running] = (await call(sessions, sessions.GetMe, {})).game_ids;
    if (game && !running && !isPool) {
      console.log((await call(records, records.GetGame, { game_id: game })).game.outcome);
      process.exit();
    }
    game = running;
    if (!game && !isPool) {
      const wish = opponent ? { ai: { kind: opponent } } : { anyone: {} };
      const { room } = await call(lobby, lobby.QuickStart, wish);
      console.log("room", room.room_id);
      game = room.game?.game_id;
    }
    // It begins with every open turn.
    for await (const { event } of games.WatchTurns({ heartbeat_seconds: 3 }, me)) {
      const turn = event.turn_requested;
      if (turn) {
        game = turn.game_id;
        const square = any(turn.position.legal_moves);
        await call(games, games.PlayMove, { game_id: game, ply: turn.ply, square });
      }
      if (event.closing && !event.closing.retry_after) process.exit(1);
      if (event.game_ended && isPool) console.log(event.game_ended.outcome);
      else if (event.game_ended) break;
    }
  } catch (error) {
    // These calls are refused again: INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED, and NOT_FOUND; but a game of
    // a pool may have ended before the move came.
    if ([undefined, 3, 7, 16].includes(error.code) || (error.code === 5 && !(isPool && game))) throw error;
    console.error(error.details);
  }
}
