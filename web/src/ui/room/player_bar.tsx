import { type Board, type Color, count } from "../../game/board";
import { colorOf } from "../../game/history";
import { address } from "../../route";
import {
  havePlayed,
  isAwaited,
  isFreeFor,
  isPlayer,
  isRunning,
  occupantKind,
  occupantName,
  SEATS,
} from "../../room/seat";
import { type Room, RoomPhase, type Seat } from "../../gen/reversi/v1/types_pb";
import { attempt } from "../../state/call";
import { joinRoom, takeSeat } from "../../state/room/membership";
import { text } from "../../text/text";
import { GameClock } from "../board/game_clock";
import { SideBar } from "../board/side_bar";
import type { RoomProps } from "./room_view";

interface PlayerBarProps extends RoomProps {
  color: Color;
  /** An earlier position of the game, if that is shown. */
  past: Board | undefined;
}

/** One side of a room's game: occupant, discs and clock. */
export function PlayerBar({ room, me, color, past }: PlayerBarProps) {
  const texts = text.value;
  const index = SEATS.indexOf(color);
  const seat = room.seats[index];
  if (!seat) return null;
  const running = isRunning(room);
  const toMove = running && colorOf(room.game?.position?.sideToMove ?? 0) === color;
  const { blackDiscs, whiteDiscs } = room.game?.position ?? {};
  const discs = past ? count(past, color) : color === "black" ? blackDiscs : whiteDiscs;
  const mayTake = isFreeFor(seat, me) && room.phase === RoomPhase.LOBBY;
  const sit = () =>
    attempt(async () => {
      if (!isMember()) await joinRoom(room.roomId);
      await takeSeat(room.roomId, index);
    });
  return (
    <SideBar
      color={color}
      name={who()}
      tags={<Tags room={room} seat={seat} />}
      actions={
        <>
          {mayTake && (
            <button type="button" class="small" onClick={sit}>
              {texts.room.sit}
            </button>
          )}
          {toMove && seat.occupant.case === "ai" && <span class="dots" role="img" aria-label={texts.game.thinking} />}
        </>
      }
      discs={room.game && isPlayer(room.game.seats[index] ?? seat, seat) ? discs : undefined}
      toMove={toMove}
    >
      {running && room.game?.clocks && (
        <GameClock
          clocks={room.game.clocks}
          color={color}
          mover={toMove ? color : undefined}
          moveLimit={room.settings?.moveLimit}
        />
      )}
    </SideBar>
  );

  function isMember(): boolean {
    return room.members.some((member) => member.player?.playerId === me);
  }

  function who() {
    const name = occupantName(texts, seat as Seat);
    if (seat?.occupant.case !== "player") return name;
    const { playerId } = seat.occupant.value;
    return (
      <>
        <a href={address({ screen: "player", playerId })}>{name}</a>
        {playerId === me && ` (${texts.room.you})`}
      </>
    );
  }
}

/** What else is known of the occupant. */
function Tags({ room, seat }: { room: Room; seat: Seat }) {
  const texts = text.value;
  const running = isRunning(room);
  const kind = occupantKind(texts, seat);
  const awaited = !running && !havePlayed(room) && isAwaited(room, seat) && seat.occupant.case === "player";
  return (
    <>
      {kind && <span class="tag">{kind}</span>}
      {seat.occupant.case === "player" && !seat.present && <span class="tag">{texts.room.away}</span>}
      {!running && seat.ready && seat.occupant.case === "player" && <span class="tag good">✓ {texts.room.ready}</span>}
      {awaited && <span class="tag">{texts.room.notReady}</span>}
      {(seat.wins > 0 || seat.draws > 0) && <span class="tag">{texts.room.score(seat.wins, seat.draws)}</span>}
    </>
  );
}
