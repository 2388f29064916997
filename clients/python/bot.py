"""A whole Reversi bot. Run: python bot.py HOST:PORT [AI KIND [SECONDS A MOVE]]; without a kind it plays any waiting player."""
import random, sys, time, grpc
sys.path.append(sys.path[0] + "/../../proto")
(session, sessions), (lobby, lobbies), (game, games) = (
    grpc.protos_and_services(f"reversi/v1/{name}.proto") for name in ("session", "lobby", "game"))
net, pause = grpc.insecure_channel(sys.argv[1]), float((sys.argv[3:] or ["0"])[0])
bot = session.LogInRequest(display_name=f"bot {random.randrange(10**9)}", kind="PLAYER_KIND_BOT")
me = {"metadata": [("authorization", "Bearer " + sessions.SessionServiceStub(net).LogIn(bot).token)]}
opponent = {"ai": {"kind": sys.argv[2]}} if sys.argv[2:] else {"anyone": {}}
print("room", lobbies.LobbyServiceStub(net).QuickStart(lobby.QuickStartRequest(**opponent), **me).room.room_id, flush=True)
while True:
    try:
        for message in games.GameServiceStub(net).WatchTurns(game.WatchTurnsRequest(), **me):
            turn = message.event.turn_requested
            if turn.game_id: time.sleep(pause); games.GameServiceStub(net).PlayMove(game.PlayMoveRequest(
                game_id=turn.game_id, ply=turn.ply, square=random.choice(turn.position.legal_moves)), **me)
            if message.event.HasField("game_ended"): sys.exit(print(message.event.game_ended.outcome))
    except grpc.RpcError as error:
        print(error.code(), error.details(), file=sys.stderr); time.sleep(1)
