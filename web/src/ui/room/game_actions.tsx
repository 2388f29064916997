import { games } from "../../api/client";
import { opposite } from "../../game/board";
import { colorOf } from "../../game/history";
import { Offer } from "../../gen/reversi/v1/types_pb";
import { occupantName, SEATS } from "../../room/seat";
import { attempt } from "../../state/call";
import { text } from "../../text/text";
import { ConfirmButton } from "../control/confirm_button";
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
  const answer = (accept: boolean) => attempt(() => games.answerOffer({ roomId, offer: Offer.DRAW, accept }));
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
      <div class="buttons">
        {!moved && (
          <button type="button" onClick={abort}>
            {texts.abort}
          </button>
        )}
        {opponent?.occupant.case === "player" && !offered && (
          <ConfirmButton
            ask={`${texts.offerDraw}?`}
            run={() => attempt(() => games.makeOffer({ roomId, offer: Offer.DRAW }))}
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
