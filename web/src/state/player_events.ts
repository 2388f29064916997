import { opposite } from "../game/board";
import {
  InvitationEndReason,
  OfferStatus,
  type PlayerGameEnded,
  type PlayerGameStarted,
  type PlayerInvitationEnded,
  type PlayerInvited,
  type PlayerOffer,
  type PlayerTournament,
  type TurnRequested,
} from "../gen/reversi/v1/game_pb";
import { GameEndReason, type Room } from "../gen/reversi/v1/types_pb";
import { offerText } from "../room/event_text";
import { headline, reasonText } from "../room/outcome";
import { namesOf, occupantName, sideOf } from "../room/seat";
import { text } from "../text/text";
import { showNotification } from "./browser_notification";
import { isRoomSeen, isRoomShown, navigate } from "./location";
import { announce, dismissOfRoom, notify } from "./notice";
import { loadOwnGame, ownGames } from "./own_games";
import { answerText, keepAnswer } from "./room/invite";
import { dropInvitation, keepInvitation } from "./room/invited";
import { session } from "./session";
import { play } from "./sound";
import type { PlayerEvent } from "./stream/turn_stream";

/**
 * Handles events that concern the player on every screen. Of all tabs, the one that is `first` announces them. A room that
 * is seen announces its own events.
 */
export function handlePlayerEvent(event: PlayerEvent, first: boolean): void {
  switch (event.case) {
    case "turnRequested":
      return void turnRequested(event.value, first);
    case "turnClosed":
      return turnClosed(event.value.gameId);
    case "gameStarted":
      return void gameStarted(event.value, first);
    case "gameEnded":
      return void gameEnded(event.value, first);
    case "offer":
      return void (first && offered(event.value));
    case "seriesEnded":
      return void (first && tell(event.value.roomId, text.value.event.seriesEnded));
    case "invited":
      return invited(event.value, first);
    case "invitationEnded":
      return invitationEnded(event.value, first);
    case "tournament":
      return void (first && tournamentNews(event.value));
    case "kicked":
      if (first) notify(text.value.room.kicked, { tone: "bad" });
      if (isRoomShown(event.value.roomId)) navigate({ screen: "home" });
      return;
    default:
      return;
  }
}

/** The last turn that was announced in each game: a new stream has all open turns again. */
const announcedPly = new Map<string, number>();

async function turnRequested({ gameId, ply, roomId }: TurnRequested, first: boolean): Promise<void> {
  const isNew = announcedPly.get(gameId) !== ply;
  announcedPly.set(gameId, ply);
  const room = await currentRoom(roomId);
  if (!isNew || !first) return;
  const words = text.value.ownGame.turn(opponentName(room));
  showNotification(text.value.game.yourTurn, words, opens(roomId));
  if (isRoomSeen(roomId)) return;
  announce(words);
  play("turn");
}

function turnClosed(gameId: string): void {
  const room = [...ownGames.value.values()].find(({ game }) => game?.gameId === gameId);
  if (room) void currentRoom(room.roomId);
}

async function gameStarted({ roomId, opponent }: PlayerGameStarted, first: boolean): Promise<void> {
  if (first && !isRoomSeen(roomId)) play("start");
  const room = await currentRoom(roomId);
  if (!first) return;
  const name = opponent ? occupantName(text.value, opponent) : "";
  const tellStart = () => tell(roomId, text.value.ownGame.started(name));
  const { tournamentId } = room?.meeting ?? {};
  if (!tournamentId) return tellStart();
  void news().then(({ tellBeginning }) => tellBeginning(tournamentId, roomId, name), tellStart);
}

async function gameEnded({ roomId, gameId, outcome }: PlayerGameEnded, first: boolean): Promise<void> {
  announcedPly.delete(gameId);
  // It goes on in the next game.
  if (outcome?.reason === GameEndReason.TAKEN_BACK) return;
  dismissOfRoom(roomId);
  if (first && !isRoomSeen(roomId)) play("end");
  const room = await loadOwnGame(roomId);
  const side = room && ownSide(room);
  if (!first || !side || !outcome) return;
  const names = namesOf(text.value, room);
  const result = headline(text.value, outcome, names, side);
  tell(roomId, text.value.ownGame.ended(names[opposite(side)], result, reasonText(text.value, outcome, names, side)));
}

async function offered({ roomId, offer, status, own }: PlayerOffer): Promise<void> {
  if (own || status !== OfferStatus.OPEN) return;
  tell(roomId, offerText(text.value, offer, opponentName(await currentRoom(roomId))));
}

function invited(invitation: PlayerInvited, first: boolean): void {
  keepInvitation(invitation);
  if (!first) return;
  const words = text.value.invitation.received(invitation.by?.displayName ?? "");
  announce(words);
  showNotification(text.value.brand, words, () => {});
}

function invitationEnded(ended: PlayerInvitationEnded, first: boolean): void {
  const { roomId, player, reason } = ended;
  if (player?.playerId === session.peek()?.playerId) {
    const dropped = dropInvitation(roomId);
    const isOver = reason === InvitationEndReason.EXPIRED || reason === InvitationEndReason.WITHDRAWN;
    if (first && isOver && dropped) notify(text.value.invitation.ended(dropped.by));
    return;
  }
  keepAnswer(ended);
  const words = answerText(ended);
  if (first && words) tell(roomId, words);
}

function tournamentNews(event: PlayerTournament): void {
  // Where it cannot be loaded, the screen of the tournament still shows it.
  void news().then(
    ({ tellNews }) => tellNews(event),
    () => {},
  );
}

/** Apart, since few players need it. */
function news() {
  return import("./tournament/news");
}

/** Shows a notice, except in the event's room, and a notification of the browser if the page is hidden. */
function tell(roomId: string, words: string): void {
  const run = opens(roomId);
  if (!isRoomSeen(roomId)) notify(words, { roomId, action: { label: text.value.home.accept, run } });
  showNotification(text.value.brand, words, run);
}

function opens(roomId: string): () => void {
  return () => navigate({ screen: "room", roomId });
}

/** The present state of a room of the player. The screen keeps that of the room that is seen. */
async function currentRoom(roomId: string): Promise<Room | undefined> {
  const known = ownGames.peek().get(roomId);
  return known && isRoomSeen(roomId) ? known : loadOwnGame(roomId);
}

function opponentName(room: Room | undefined): string {
  const side = room && ownSide(room);
  return side ? namesOf(text.value, room)[opposite(side)] : "";
}

function ownSide(room: Room) {
  return sideOf(room, session.peek()?.playerId ?? "");
}
