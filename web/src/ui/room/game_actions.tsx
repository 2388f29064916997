import { games } from "../../api/client";
import { opposite } from "../../game/board";
import { colorOf } from "../../game/history";
import { Offer } from "../../gen/reversi/v1/types_pb";
import { occupantName, SEATS } from "../../room/seat";
import { act } from "../../state/call";
import { text } from "../../text/text";
import { Confirm } from "../control/confirm_button";
import type { Seen } from "./room_view";

/** What the players of a running game may do besides moving, and its owner where programs play. */
export function GameActions({ room, me, side }: Seen) {
  const texts = text.value.game;
  const { roomId, game } = room;
  if (!game) return null;
  const { gameId } = game;
  const abort = () => act(() => games.abortGame({ gameId }));
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
  const answer = (accept: boolean) => act(() => games.answerOffer({ roomId, offer: Offer.DRAW, accept }));
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
          <Confirm ask={`${texts.offerDraw}?`} run={() => act(() => games.makeOffer({ roomId, offer: Offer.DRAW }))}>
            {texts.offerDraw}
          </Confirm>
        )}
        {offered === side && <span class="muted">{texts.drawOffered}…</span>}
        <Confirm ask={texts.resignSure} class="danger" run={() => act(() => games.resign({ gameId }))}>
          {texts.resign}
        </Confirm>
      </div>
    </>
  );
}
