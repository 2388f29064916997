"""A whole Reversi bot. Run: python bot.py HOST:PORT [AI KIND [SECONDS A MOVE]]; without a kind it plays any waiting player."""
import asyncio, random, sys, grpc
sys.path.append(sys.path[0] + "/../../proto")
(session, sessions), (lobby, lobbies), (game, games) = (grpc.protos_and_services(f"reversi/v1/{name}.proto") for name in ("session", "lobby", "game"))
def connect(): return grpc.aio.insecure_channel(sys.argv[1], [("grpc.use_local_subchannel_pool", 1)])
async def main(wish, pause=0):
    bot = session.LogInRequest(display_name=f"bot {random.randrange(10**9)}", kind="PLAYER_KIND_BOT")
    me = [("authorization", "Bearer " + (await sessions.SessionServiceStub(net := connect()).LogIn(bot, timeout=6)).token)]
    print("room", (await lobbies.LobbyServiceStub(net).QuickStart(wish, metadata=me, timeout=6)).room.room_id, flush=True)
    while True:
        try:
            turns = games.GameServiceStub(net).WatchTurns(game.WatchTurnsRequest(heartbeat_seconds=3), metadata=me)
            while event := getattr(await asyncio.wait_for(turns.read(), 6), "event", None):  # no heartbeat twice: TimeoutError
                if (turn := event.turn_requested).game_id: await asyncio.sleep(pause); await games.GameServiceStub(net).PlayMove(game.PlayMoveRequest(
                    game_id=turn.game_id, ply=turn.ply, square=random.choice(turn.position.legal_moves)), metadata=me, timeout=6)
                if event.HasField("game_ended"): return print(event.game_ended.outcome)
                if event.HasField("closing") and not event.closing.HasField("retry_after"): sys.exit(event.closing)
        except (grpc.RpcError, asyncio.TimeoutError) as error: print(getattr(error, "details", lambda: "no heartbeat")(), file=sys.stderr)
        net = await asyncio.sleep(1, connect())  # a new connection: the old one may be silent
asyncio.run(main(lobby.QuickStartRequest(**({"ai": {"kind": sys.argv[2]}} if sys.argv[2:] else {"anyone": {}})), *map(float, sys.argv[3:])))
