import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { games } from "../../api/client";
import { opposite } from "../../game/board";
import { instant } from "../../game/clock";
import { colorOf } from "../../game/history";
import { GameClaim } from "../../gen/reversi/v1/game_pb";
import { Offer } from "../../gen/reversi/v1/types_pb";
import { occupantName, SEATS } from "../../room/seat";
import { attempt } from "../../state/call";
import { text } from "../../text/text";
import { ConfirmButton } from "../control/confirm_button";
import { useSecondsUntil } from "./countdown";
import type { RoomProps } from "./room_view";

/** Resign, offer a draw and abort, for players; abort, for the owner if only AIs play. */
export function GameActions({ room, me, side }: RoomProps) {
  const texts = text.value.game;
  const { roomId, game } = room;
  if (!game) return null;
  const { gameId } = game;
  const abort = () => attempt(() => games.abortGame({ gameId }));
  if (!side) {
    const mayAbort = room.ownerId === me && room.seats.every(({ occupant }) => occupant.case !== "player");
    return mayAbort ? (
      <div class="buttons">
        <button type="button" onClick={abort}>
          {texts.abort}
        </button>
      </div>
    ) : null;
  }
  const opponent = room.seats[SEATS.indexOf(opposite(side))];
  const offered = colorOf(game.drawOfferedBy);
  const answer = (accept: boolean) => attempt(() => games.answerOffer({ roomId, gameId, offer: Offer.DRAW, accept }));
  const moved = game.plies.filter((ply) => !ply.opening).length >= 2;
  return (
    <>
      {offered && offered !== side && (
        <div class="offer">
          <p>{texts.drawOfferedBy(opponent ? occupantName(text.value, opponent) : "")}</p>
          <button type="button" class="primary" onClick={() => answer(true)}>
            {texts.accept}
          </button>
          <button type="button" onClick={() => answer(false)}>
            {texts.decline}
          </button>
        </div>
      )}
      {opponent?.claimFrom && <Claim gameId={gameId} from={opponent.claimFrom} />}
      <div class="buttons">
        {!moved && (
          <button type="button" onClick={abort}>
            {texts.abort}
          </button>
        )}
        {opponent?.occupant.case === "player" && !offered && (
          <ConfirmButton
            ask={`${texts.offerDraw}?`}
            run={() => attempt(() => games.makeOffer({ roomId, gameId, offer: Offer.DRAW }))}
          >
            {texts.offerDraw}
          </ConfirmButton>
        )}
        {offered === side && <span class="muted">{texts.drawOffered}…</span>}
        <ConfirmButton ask={texts.resignSure} class="danger" run={() => attempt(() => games.resign({ gameId }))}>
          {texts.resign}
        </ConfirmButton>
      </div>
    </>
  );
}

/** Of a player whose opponent has gone: how long it still takes until the win can be claimed, then the buttons. */
function Claim({ gameId, from }: { gameId: string; from: Timestamp }) {
  const texts = text.value.game;
  const seconds = useSecondsUntil(instant(from));
  const claim = (claim: GameClaim) => attempt(() => games.claimGame({ gameId, claim }));
  if (seconds > 0) return <p class="muted">{texts.claimIn(seconds)}</p>;
  return (
    <div class="offer">
      <p>{texts.opponentGone}</p>
      <button type="button" class="primary" onClick={() => claim(GameClaim.WIN)}>
        {texts.claimWin}
      </button>
      <button type="button" onClick={() => claim(GameClaim.DRAW)}>
        {texts.claimDraw}
      </button>
    </div>
  );
}
