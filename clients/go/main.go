// A whole Reversi bot. Run: bot HOST:PORT [AI KIND]; without a kind it plays any waiting player.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	reversi "reversi/v1"
)

var random = rand.New(rand.NewSource(time.Now().UnixNano()))

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: bot HOST:PORT [AI KIND]")
	}
	// Newer versions of grpc-go prefer grpc.NewClient with grpc.WithTransportCredentials(insecure.NewCredentials()).
	connection, err := grpc.Dial(os.Args[1], grpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()

	login, err := reversi.NewSessionServiceClient(connection).LogIn(context.Background(), &reversi.LogInRequest{
		DisplayName: fmt.Sprintf("go %d", random.Intn(1e9)),
		Kind:        reversi.PlayerKind_PLAYER_KIND_BOT,
	})
	if err != nil {
		log.Fatal(err)
	}
	// Every other call carries the token.
	me := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+login.Token)

	wanted := &reversi.QuickStartRequest{Opponent: &reversi.QuickStartRequest_Anyone{Anyone: &reversi.Anyone{}}}
	if len(os.Args) > 2 {
		wanted.Opponent = &reversi.QuickStartRequest_Ai{Ai: &reversi.AiSeat{Kind: os.Args[2]}}
	}
	started, err := reversi.NewLobbyServiceClient(connection).QuickStart(me, wanted)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("room", started.Room.RoomId)

	games := reversi.NewGameServiceClient(connection)
	for {
		outcome, err := play(me, games)
		if err == nil {
			fmt.Println(outcome.Result, outcome.Reason)
			return
		}
		// A new stream starts with every open turn and with a missed end of the game.
		log.Print(err)
		time.Sleep(time.Second)
	}
}

// play answers every turn with a random legal move, until the game ends or the stream is lost.
func play(me context.Context, games reversi.GameServiceClient) (*reversi.Outcome, error) {
	me, cancel := context.WithCancel(me)
	defer cancel()
	stream, err := games.Play(me)
	if err != nil {
		return nil, err
	}
	for {
		message, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		switch event := message.Event.Event.(type) {
		case *reversi.PlayEvent_TurnRequested:
			turn := event.TurnRequested
			moves := turn.Position.LegalMoves
			move := &reversi.PlayRequest{GameId: turn.GameId, Ply: turn.Ply, Square: moves[random.Intn(len(moves))]}
			if err := stream.Send(move); err != nil {
				return nil, err
			}
		case *reversi.PlayEvent_MoveRejected:
			return nil, fmt.Errorf("rejected: %s: %s", event.MoveRejected.Reason, event.MoveRejected.Message)
		case *reversi.PlayEvent_GameEnded:
			return event.GameEnded.Outcome, nil
		}
	}
}
