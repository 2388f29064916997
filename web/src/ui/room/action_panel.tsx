import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { useEffect, useRef } from "preact/hooks";
import { games, lobby, rooms } from "../../api/client";
import { instant } from "../../game/clock";
import { colorOf } from "../../game/history";
import {
  Offer,
  type Outcome,
  RoomPhase,
  type Seat,
  type Series,
  type SeriesScore,
} from "../../gen/reversi/v1/types_pb";
import { headline, reasonText } from "../../room/outcome";
import {
  awaitsOpponent,
  havePlayed,
  isAwaited,
  isComplete,
  isOwner,
  isRunning,
  isSeatOf,
  namesOf,
  occupantName,
  SEATS,
} from "../../room/seat";
import { seriesText } from "../../room/series_text";
import { address } from "../../route";
import { retry } from "../../api/retry";
import { attempt } from "../../state/call";
import { isRoomShown, navigate } from "../../state/location";
import { searchRoom } from "../../state/room/quick_search";
import { requestId } from "../../state/request_id";
import { text } from "../../text/text";
import { ConfirmButton } from "../control/confirm_button";
import { FinalScore } from "../game/final_score";
import { RatingChangesOf } from "../game/rating_changes";
import { useSecondsUntil } from "./countdown";
import { Invitation } from "./invitation";
import { GameActions, OpponentsOffer } from "./game_actions";
import { Guests } from "./guests";
import type { RoomProps } from "./room_view";

/** The state of the room's game and series, and the player's actions. */
export function ActionPanel(props: RoomProps) {
  const { room } = props;
  const running = isRunning(room);
  const { outcome } = room.game ?? {};
  return (
    <section class="panel actions" aria-label={text.value.room.players}>
      {running ? <ToMove {...props} /> : outcome ? <Result {...props} outcome={outcome} /> : null}
      <SeriesResult {...props} />
      {room.series && room.series.games > 1 && <SeriesStatus {...props} series={room.series} />}
      {room.score && <Score {...props} score={room.score} />}
      {running ? <GameActions {...props} /> : room.phase !== RoomPhase.CLOSED && <Between {...props} />}
    </section>
  );
}

/** The place of the game in its series, and the owner's button to end the series after it. */
function SeriesStatus({ room, me, series }: RoomProps & { series: Series }) {
  const texts = text.value.room;
  const { roomId } = room;
  const { game, games } = series;
  return (
    <>
      <p class="muted">{texts.series(game, games)}</p>
      {isOwner(room, me) && game < games && (
        <ConfirmButton class="small" ask={`${texts.endSeries}?`} run={() => attempt(() => rooms.endSeries({ roomId }))}>
          {texts.endSeries}
        </ConfirmButton>
      )}
    </>
  );
}

function SeriesResult({ room }: RoomProps) {
  const words = seriesText(text.value, room);
  return words ? <p class="series-result">{words}</p> : null;
}

/** The score of a series in pairs, for the player who had black in its first game. */
function Score({ room, score }: RoomProps & { score: SeriesScore }) {
  const texts = text.value;
  const seat = room.seats[score.seat];
  const { wins, draws, losses, elo } = score;
  const rounded = (value: number) => `${value < 0 ? "−" : "+"}${Math.abs(Math.round(value))}`;
  const known = elo && [elo.elo, elo.low, elo.high].every(Number.isFinite);
  return (
    <p class="muted">
      {seat && `${occupantName(texts, seat)}: `}
      {`+${wins} =${draws} −${losses}`}
      {known && `, ${rounded(elo.elo)} Elo (${rounded(elo.low)} … ${rounded(elo.high)})`}
    </p>
  );
}

function ToMove({ room, side }: RoomProps) {
  const { game } = text.value;
  const mover = colorOf(room.game?.position?.sideToMove ?? 0);
  if (!mover) return null;
  return <h2 class={mover === side ? "your-turn" : ""}>{mover === side ? game.yourTurn : game.toMove[mover]}</h2>;
}

function Result({ room, side, outcome }: RoomProps & { outcome: Outcome }) {
  const { game } = text.value;
  const names = namesOf(text.value, room);
  return (
    <div class="result">
      <h2>{headline(text.value, outcome, names, side)}</h2>
      <FinalScore outcome={outcome} />
      <p class="muted">{reasonText(text.value, outcome, names, side)}</p>
      {room.game && room.settings?.rated && <RatingChangesOf key={room.game.gameId} gameId={room.game.gameId} />}
      {room.game && <a href={address({ screen: "game", gameId: room.game.gameId })}>{game.replay}</a>}
    </div>
  );
}

/** Actions before the first game and between games: get ready, start, rematch. */
function Between(props: RoomProps) {
  const { room, me, side } = props;
  const texts = text.value.room;
  const { roomId } = room;
  const { games: count = 1, autoStart } = room.settings ?? {};
  if (room.series?.nextGameAt) return <NextGame at={room.series.nextGameAt} />;
  if (searchRoom.value === roomId && awaitsOpponent(room, me)) return <Search room={room} />;
  const own = side && room.seats[SEATS.indexOf(side)];
  const owner = isOwner(room, me);
  const complete = isComplete(room);
  const open = room.seats.some(({ occupant }) => occupant.case === "open");
  // Of a guest with a time for the answer, that is told.
  const expected = room.seats.flatMap(({ occupant, reservedUntil }) =>
    occupant.case === "reserved" && !reservedUntil ? occupant.value.displayName : [],
  );
  const again = complete && side !== undefined && havePlayed(room);
  const awaited = room.seats.filter((seat) => isAwaited(room, seat));
  const request = { roomId, requestId: requestId() };
  const start = () => attempt(() => retry(() => rooms.startGame(request)));
  return (
    <>
      {!complete && <Guests room={room} me={me} />}
      {open && <p>{texts.waitingForPlayers}</p>}
      {!open && expected.length > 0 && <p>{texts.waitingFor(expected.join(", "))}</p>}
      {!complete && <Invitation room={room} />}
      {complete && !again && <Awaited {...props} seats={awaited} />}
      <div class="buttons">
        {again && !room.meeting && <Rematch {...props} />}
        {owner && !again && (complete || !autoStart) && (
          <button type="button" class="primary large" disabled={!complete || awaited.length > 0} onClick={start}>
            {count > 1 ? texts.startSeries(count) : texts.start}
          </button>
        )}
        {own && !again && (!owner || autoStart) && (
          <button
            type="button"
            class={own.ready || owner ? "" : "primary large"}
            onClick={() => attempt(() => rooms.setReady({ roomId, ready: !own.ready }))}
          >
            {own.ready ? texts.unready : texts.getReady}
          </button>
        )}
        {own && (
          <button type="button" class="quiet" onClick={() => attempt(() => rooms.leaveSeat({ roomId }))}>
            {texts.stand}
          </button>
        )}
      </div>
    </>
  );
}

/** Names the players who are not ready yet. */
function Awaited({ room, me, seats }: RoomProps & { seats: readonly Seat[] }) {
  const texts = text.value.room;
  if (seats.some((seat) => isSeatOf(seat, me))) return <p>{texts.waitingForYou}</p>;
  const names = seats.map((seat) => occupantName(text.value, seat)).join(", ");
  if (names) return <p>{texts.waitingFor(names)}</p>;
  return isOwner(room, me) ? null : <p>{texts.waitingForOwner}</p>;
}

/** How often a search is repeated: who was away for a moment may wait as well. */
const SEARCH_AGAIN = 10_000;

/** Shown while the server looks for an opponent. */
function Search({ room }: Pick<RoomProps, "room">) {
  const texts = text.value.room;
  const { roomId, settings } = room;
  const cancelled = useRef(false);
  useEffect(() => {
    const again = async () => {
      const opponent = { case: "anyone" as const, value: {} };
      const answer = await lobby.quickStart({ opponent, settings }).catch(() => undefined);
      const found = answer?.room?.roomId;
      if (!found || found === roomId) return;
      if (cancelled.current) return void (await attempt(() => rooms.leaveRoom({ roomId: found })));
      searchRoom.value = found;
      // The event that the player has left this room may come before the answer. On other screens a notice shows the game.
      if (isRoomShown(roomId)) navigate({ screen: "room", roomId: found });
    };
    const timer = setInterval(again, SEARCH_AGAIN);
    return () => clearInterval(timer);
  }, [roomId, settings]);
  // The game begins in this room, against an AI of about the same rating.
  const playAi = () => {
    const opponent = { case: "anyone" as const, value: { houseAfter: { seconds: 0n, nanos: 0 } } };
    return attempt(() => lobby.quickStart({ opponent, settings }));
  };
  const cancel = async () => {
    cancelled.current = true;
    cancelled.current = Boolean(await attempt(() => rooms.leaveRoom({ roomId })));
    if (cancelled.current) navigate({ screen: "home" });
  };
  return (
    <>
      <h2>{texts.searching}</h2>
      <button type="button" onClick={playAi}>
        {texts.playAiInstead}
      </button>
      <button type="button" onClick={cancel}>
        {texts.stopSearching}
      </button>
      <Invitation room={room} />
    </>
  );
}

function NextGame({ at }: { at: Timestamp }) {
  return <p>{text.value.room.next(useSecondsUntil(instant(at)))}</p>;
}

function Rematch({ room, side }: RoomProps) {
  const texts = text.value.game;
  const { roomId, rematchOfferedBy: by } = room;
  const gameId = room.game?.gameId ?? "";
  const count = room.settings?.games ?? 1;
  const answer = (accept: boolean) =>
    attempt(() => games.answerOffer({ roomId, gameId, offer: Offer.REMATCH, accept }));
  if (by === undefined) {
    return (
      <button
        type="button"
        class="primary large"
        onClick={() => attempt(() => games.makeOffer({ roomId, gameId, offer: Offer.REMATCH }))}
      >
        {count > 1 ? texts.rematchSeries(count) : texts.rematch}
      </button>
    );
  }
  if (SEATS[by] === side) return <p class="muted">{texts.rematchOffered}…</p>;
  const seat = room.seats[by];
  return <OpponentsOffer what={texts.rematchOfferedBy(seat ? occupantName(text.value, seat) : "")} answer={answer} />;
}
