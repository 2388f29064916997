// A whole Reversi bot. Run: bot [https://]HOST:PORT[,...] [AI KIND or POOL]; alone it plays any waiting player.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	reversi "reversi/v1"
)

// The seconds between two heartbeats.
const heartbeat = 3

// silence is that of two heartbeats, after which a stream is lost, and the deadline of a call.
const silence = 2 * heartbeat * time.Second

// The servers share their players, so that any serves a bot of another. The next one is first.
var servers []string

// The pool in which the bot plays, such as "60+1": the server seats it again and again. Empty for none.
var pool string

var random = rand.New(rand.NewSource(time.Now().UnixNano()))

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: bot [https://]HOST:PORT[,...] [AI KIND or POOL]")
	}
	servers = strings.Split(os.Args[1], ",")
	connection, login := logIn()
	// Every other call carries the token.
	token := metadata.Pairs("authorization", "Bearer "+login.Token)

	starting, cancel := context.WithTimeout(metadata.NewOutgoingContext(context.Background(), token), silence)
	defer cancel()
	opponent := strings.Join(os.Args[2:], "")
	if strings.Contains(opponent, "+") {
		pool = opponent
	} else {
		wanted := &reversi.QuickStartRequest{Opponent: &reversi.QuickStartRequest_Anyone{Anyone: &reversi.Anyone{}}}
		if opponent != "" {
			wanted.Opponent = &reversi.QuickStartRequest_Ai{Ai: &reversi.AiSeat{Kind: opponent}}
		}
		started, err := reversi.NewLobbyServiceClient(connection).QuickStart(starting, wanted)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("room", started.Room.RoomId)
	}

	seen := ""
	for {
		result, err := play(metadata.NewOutgoingContext(context.Background(), token), connection, &seen)
		if err == nil {
			fmt.Println(result)
			return
		}
		switch status.Code(err) {
		case codes.NotFound:
			// A game of a pool may have ended before the move came.
			if pool == "" || seen == "" {
				log.Fatal(err, "; start the bot again to play on")
			}
		case codes.Unauthenticated, codes.PermissionDenied, codes.InvalidArgument:
			log.Fatal(err, "; start the bot again to play on")
		}
		// A new stream starts with every open turn. It has a new connection, to the next server, since this one may be silent.
		log.Print(connection.Target(), ": ", err)
		time.Sleep(time.Second)
		connection.Close()
		connection = connect()
	}
}

// logIn makes a player at the first server that answers.
func logIn() (*grpc.ClientConn, *reversi.LogInResponse) {
	bot := &reversi.LogInRequest{
		DisplayName: fmt.Sprintf("go %d", random.Intn(1e9)),
		Kind:        reversi.PlayerKind_PLAYER_KIND_BOT,
	}
	for range servers {
		connection := connect()
		starting, cancel := context.WithTimeout(context.Background(), silence)
		login, err := reversi.NewSessionServiceClient(connection).LogIn(starting, bot)
		cancel()
		if err == nil {
			return connection, login
		}
		log.Print(connection.Target(), ": ", err)
		connection.Close()
	}
	os.Exit(1)
	return nil, nil
}

// connect connects to the next server.
func connect() *grpc.ClientConn {
	server := servers[0]
	servers = append(servers[1:], server)
	// Newer versions of grpc-go prefer grpc.NewClient with grpc.WithTransportCredentials(insecure.NewCredentials()). Each
	// address of a name is used.
	trust, address := grpc.WithInsecure(), strings.TrimPrefix(server, "https://")
	if address != server {
		// The system's authorities, or those of the file that SSL_CERT_FILE names.
		trust = grpc.WithTransportCredentials(credentials.NewTLS(nil))
	}
	connection, err := grpc.Dial("dns:///"+address, trust,
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`))
	if err != nil {
		log.Fatal(err)
	}
	return connection
}

// play answers every turn with a random legal move, until the game ends or the stream is lost. It returns how the game has
// ended. The game that was last seen may have ended while the bot was away.
func play(me context.Context, connection *grpc.ClientConn, seen *string) (string, error) {
	me, cancel := context.WithCancel(me)
	defer cancel()
	missed := time.AfterFunc(silence, cancel)
	defer missed.Stop()
	if pool != "" {
		// An entrant who is away for 10 minutes leaves the pool. To join again changes nothing.
		joined := &reversi.JoinTournamentRequest{Pool: pool}
		if _, err := reversi.NewTournamentServiceClient(connection).JoinTournament(me, joined); err != nil {
			return "", err
		}
	}
	mine, err := reversi.NewSessionServiceClient(connection).GetMe(me, &reversi.GetMeRequest{})
	if err != nil {
		return "", err
	}
	if *seen != "" && pool == "" && !contains(mine.GameIds, *seen) {
		return *seen + " ended while the bot was away; GetGame tells how", nil
	}
	games := reversi.NewGameServiceClient(connection)
	stream, err := games.WatchTurns(me, &reversi.WatchTurnsRequest{HeartbeatSeconds: heartbeat})
	if err != nil {
		return "", err
	}
	for {
		message, err := stream.Recv()
		if err != nil {
			return "", err
		}
		missed.Reset(silence)
		switch event := message.Event.Event.(type) {
		case *reversi.PlayEvent_TurnRequested:
			turn := event.TurnRequested
			*seen = turn.GameId
			moves := turn.Position.LegalMoves
			move := &reversi.PlayMoveRequest{GameId: turn.GameId, Ply: turn.Ply, Square: moves[random.Intn(len(moves))]}
			if _, err := games.PlayMove(me, move); err != nil {
				return "", err
			}
		case *reversi.PlayEvent_GameEnded:
			outcome := event.GameEnded.Outcome
			result := fmt.Sprint(outcome.Result, " ", outcome.Reason)
			if pool == "" {
				return result, nil
			}
			fmt.Println(result)
		case *reversi.PlayEvent_Kicked, *reversi.PlayEvent_RoomClosed:
			if pool == "" {
				log.Fatal("the room is closed to the bot; start it again to play on")
			}
		case *reversi.PlayEvent_Closing:
			if event.Closing.RetryAfter == nil {
				// Such as CLOSE_REASON_SUPERSEDED: another copy plays with this token.
				log.Fatal(event.Closing.Reason, "; start the bot again to play on")
			}
		}
	}
}

func contains(games []string, game string) bool {
	for _, id := range games {
		if id == game {
			return true
		}
	}
	return false
}
