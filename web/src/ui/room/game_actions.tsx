import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { games } from "../../api/client";
import { type Color, opposite } from "../../game/board";
import { instant } from "../../game/clock";
import { colorOf } from "../../game/history";
import { GameClaim } from "../../gen/reversi/v1/game_pb";
import { type Game, Offer } from "../../gen/reversi/v1/types_pb";
import { isOwner, occupantName, SEATS } from "../../room/seat";
import { attempt } from "../../state/call";
import { text } from "../../text/text";
import { ConfirmButton } from "../control/confirm_button";
import { useSecondsUntil } from "./countdown";
import type { RoomProps } from "./room_view";

/** Resign, offer a draw, take a move back and abort, for players; abort, for the owner if only AIs play. */
export function GameActions({ room, me, side }: RoomProps) {
  const texts = text.value.game;
  const { roomId, game } = room;
  if (!game) return null;
  const { gameId } = game;
  const abort = () => attempt(() => games.abortGame({ gameId }));
  if (!side) {
    const mayAbort = isOwner(room, me) && room.seats.every(({ occupant }) => occupant.case !== "player");
    return mayAbort ? (
      <div class="buttons">
        <button type="button" onClick={abort}>
          {texts.abort}
        </button>
      </div>
    ) : null;
  }
  const opponent = room.seats[SEATS.indexOf(opposite(side))];
  const opponentName = opponent ? occupantName(text.value, opponent) : "";
  const makeOffer = (offer: Offer) => attempt(() => games.makeOffer({ roomId, gameId, offer }));
  const answer = (offer: Offer, accept: boolean) => attempt(() => games.answerOffer({ roomId, gameId, offer, accept }));
  const drawOfferedBy = colorOf(game.drawOfferedBy);
  const takeBackOfferedBy = colorOf(game.takeBackOfferedBy);
  const moved = game.plies.filter((ply) => !ply.opening).length >= 2;
  return (
    <>
      {drawOfferedBy === opposite(side) && (
        <OpponentsOffer what={texts.drawOfferedBy(opponentName)} answer={(accept) => answer(Offer.DRAW, accept)} />
      )}
      {takeBackOfferedBy === opposite(side) && (
        <OpponentsOffer
          what={texts.takeBackOfferedBy(opponentName)}
          answer={(accept) => answer(Offer.TAKE_BACK, accept)}
        />
      )}
      {opponent?.claimFrom && <Claim gameId={gameId} from={opponent.claimFrom} />}
      <div class="buttons">
        {!moved && !room.meeting && (
          <button type="button" onClick={abort}>
            {texts.abort}
          </button>
        )}
        {opponent?.occupant.case === "player" && !drawOfferedBy && (
          <ConfirmButton ask={`${texts.offerDraw}?`} run={() => makeOffer(Offer.DRAW)}>
            {texts.offerDraw}
          </ConfirmButton>
        )}
        {drawOfferedBy === side && <span class="muted">{texts.drawOffered}…</span>}
        {!room.settings?.rated && hasMoved(game, side) && !takeBackOfferedBy && (
          <button type="button" onClick={() => makeOffer(Offer.TAKE_BACK)}>
            {texts.takeBack}
          </button>
        )}
        {takeBackOfferedBy === side && <span class="muted">{texts.takeBackOffered}…</span>}
        <ConfirmButton ask={texts.resignSure} class="danger" run={() => attempt(() => games.resign({ gameId }))}>
          {texts.resign}
        </ConfirmButton>
      </div>
    </>
  );
}

/** An offer of the opponent, with the buttons that answer it. */
export function OpponentsOffer({ what, answer }: { what: string; answer: (accept: boolean) => void }) {
  const texts = text.value.game;
  return (
    <div class="offer">
      <p>{what}</p>
      <button type="button" class="primary" onClick={() => answer(true)}>
        {texts.accept}
      </button>
      <button type="button" onClick={() => answer(false)}>
        {texts.decline}
      </button>
    </div>
  );
}

function hasMoved(game: Game, side: Color): boolean {
  return game.plies.some((ply) => !ply.opening && colorOf(ply.side) === side && ply.square !== "");
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
