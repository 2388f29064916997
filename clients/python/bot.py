"""A whole Reversi bot. Run: python bot.py HOST:PORT [AI KIND]; without a kind it meets whoever else wants a game."""
import random, sys, time, grpc
sys.path.append(sys.path[0] + "/../../proto")
(session, sessions), (lobby, lobbies), (room, rooms), (game, games) = (
    grpc.protos_and_services(f"reversi/v1/{name}.proto") for name in ("session", "lobby", "room", "game"))
net, opponent = grpc.insecure_channel(sys.argv[1]), {"ai": {"kind": sys.argv[2]}} if sys.argv[2:] else {"anyone": {}}
bot = session.LogInRequest(display_name=f"random {random.randrange(10**9)}", kind="PLAYER_KIND_BOT")
me = {"metadata": [("authorization", "Bearer " + sessions.SessionServiceStub(net).LogIn(bot).token)]}
here = lobbies.LobbyServiceStub(net).QuickStart(lobby.QuickStartRequest(**opponent), **me).room
while not here.game.HasField("outcome"):
    try:
        for message in games.GameServiceStub(net).WatchTurns(game.WatchTurnsRequest(), **me):
            turn = message.event.turn_requested
            if turn.game_id: games.GameServiceStub(net).PlayMove(game.PlayMoveRequest(
                game_id=turn.game_id, ply=turn.ply, square=random.choice(turn.position.legal_moves)), **me)
            if message.event.HasField("game_ended"): break
    except grpc.RpcError as error:
        print(error.code(), error.details(), file=sys.stderr); time.sleep(1)
    here = rooms.RoomServiceStub(net).GetRoom(room.GetRoomRequest(room_id=here.room_id), wait_for_ready=True, **me).room
print(here.game.outcome)
