import { opposite } from "../../game/board";
import { colorOf } from "../../game/history";
import { namesOf, sideOf } from "../../room/seat";
import { address } from "../../route";
import { useWhenConnected } from "../../state/connection";
import { loadOwnGames, ownGameElsewhere } from "../../state/own_games";
import { session } from "../../state/session";
import { text } from "../../text/text";
import { GameClock } from "../board/game_clock";

/** The player's running game, on every screen but its own: opponent, turn, clocks and the way back. */
export function OwnGameBar() {
  const { ownGame, game: texts } = text.value;
  useWhenConnected(() => void loadOwnGames());
  const room = ownGameElsewhere.value;
  const side = room && sideOf(room, session.value?.playerId ?? "");
  if (!room?.game || !side) return null;
  const { clocks, position } = room.game;
  const moveLimit = room.settings?.moveLimit;
  const mover = colorOf(position?.sideToMove ?? 0);
  const mine = mover === side;
  return (
    <aside class={`own-game${mine ? " own-turn" : ""}`} aria-label={ownGame.title}>
      <p class="own-game-who">
        <span class={`chip ${opposite(side)}`} aria-hidden="true" />{" "}
        <span>{ownGame.against(namesOf(text.value, room)[opposite(side)])}</span>
      </p>
      <strong>{mine ? texts.yourTurn : mover && texts.toMove[mover]}</strong>
      {clocks && (
        <span class="own-game-clocks">
          <GameClock clocks={clocks} color={opposite(side)} mover={mover} moveLimit={moveLimit} />
          <GameClock clocks={clocks} color={side} mover={mover} moveLimit={moveLimit} />
        </span>
      )}
      <a class={`button small${mine ? " primary" : ""}`} href={address({ screen: "room", roomId: room.roomId })}>
        {ownGame.back}
      </a>
    </aside>
  );
}
