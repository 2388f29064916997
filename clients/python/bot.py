"""A whole bot. Run: bot.py [https://]HOST:PORT[,...] [AI KIND or POOL [SECONDS A MOVE]]; alone it plays anyone."""
import asyncio, itertools, random, sys, grpc; sys.path.append(sys.path[0] + "/../../proto")
files = (f"reversi/v1/{name}.proto" for name in ("session", "lobby", "game", "tournament"))
(session, sessions), (lobby, lobbies), (game, games), (cup, cups) = map(grpc.protos_and_services, files)
SERVERS = sys.argv[1].split(",") if sys.argv[1:] else sys.exit(__doc__)  # they share their players
OPTIONS = [("grpc.use_local_subchannel_pool", 1), ("grpc.lb_policy_name", "round_robin")]
def connect(turns=itertools.cycle(SERVERS)):
    trust, server = [grpc.ssl_channel_credentials()] * ("https://" in SERVERS[0]), next(turns).rpartition("/")[2]
    return (grpc.aio.secure_channel if trust else grpc.aio.insecure_channel)(server, *trust, OPTIONS)
async def log_in(bot, servers=SERVERS):
    try: return (net := connect()), await sessions.SessionServiceStub(net).LogIn(bot, timeout=6)
    except grpc.RpcError as error:
        if not servers[1:]: raise
        return print(error.details(), file=sys.stderr) or await log_in(bot, servers[1:])
async def main(rival="", pause=0, seen="", is_in=False):
    net, login = await log_in(session.LogInRequest(display_name=f"py {random.getrandbits(30)}", kind="PLAYER_KIND_BOT"))
    call = {"metadata": (me := [("authorization", "Bearer " + login.token)]), "timeout": 6}
    pool, wish = "+" in rival, lobby.QuickStartRequest(**{"ai": {"kind": rival}} if rival else {"anyone": {}})
    if not pool: print("room", (await lobbies.LobbyServiceStub(net).QuickStart(wish, **call)).room.room_id, flush=1)
    while True:
        try:
            if pool: await cups.TournamentServiceStub(net).JoinTournament(cup.JoinTournamentRequest(pool=rival), **call)
            is_in, mine = pool, await sessions.SessionServiceStub(net).GetMe(session.GetMeRequest(), **call)
            if seen and not pool and seen not in mine.game_ids: return print(seen, "ended meanwhile; GetGame tells how")
            turns = games.GameServiceStub(net).WatchTurns(game.WatchTurnsRequest(heartbeat_seconds=3), metadata=me)
            while event := getattr(await asyncio.wait_for(turns.read(), 6), "event", None):  # two heartbeats
                if (turn := event.turn_requested).game_id:
                    seen, square = await asyncio.sleep(pause, turn.game_id), random.choice(turn.position.legal_moves)
                    move = game.PlayMoveRequest(game_id=turn.game_id, ply=turn.ply, square=square)
                    await games.GameServiceStub(net).PlayMove(move, **call)
                if event.HasField("game_ended") and (print(event.game_ended.outcome, flush=1) or not pool): return
                is_last = event.WhichOneof("event") in ("kicked", "room_closed", "closing")[2 * pool:]
                if is_last and not event.closing.HasField("retry_after"): sys.exit(f"{event}start the bot again")
        except asyncio.TimeoutError: print("no heartbeat", file=sys.stderr)
        except grpc.RpcError as e:
            if e.code().name in ("NOT_FOUND", "UNAUTHENTICATED", "PERMISSION_DENIED", "INVALID_ARGUMENT")[is_in:]: raise
            print(e.details(), file=sys.stderr)
        net = await asyncio.sleep(1, connect())  # to the next server: this one may be silent
try: asyncio.run(main(*sys.argv[2:3], *map(float, sys.argv[3:])))
except grpc.RpcError as error: sys.exit(f"{error.details()}; start the bot again")
