import { tournaments } from "../../api/tournaments";
import type { PlayerTournament } from "../../gen/reversi/v1/game_pb";
import { dateTime } from "../../text/date_time";
import { text } from "../../text/text";
import { newsText } from "../../tournament/news_text";
import { showNotification } from "../browser_notification";
import { isRoomShown, navigate, route } from "../location";
import { notify } from "../notice";
import { ownGames } from "../own_games";

/** Tells an entrant the news of a tournament, with a link to it. */
export async function tellNews({ tournamentId, news }: PlayerTournament): Promise<void> {
  const words = newsText(text.value, await nameOf(tournamentId), news, dateTime);
  const roomId = news.case === "paired" ? news.value.roomId : "";
  // The game may have begun meanwhile.
  if (!words || isRoomShown(roomId)) return;
  const run = () => navigate({ screen: "tournament", tournamentId });
  const shown = route.peek();
  const isShown = shown.screen === "tournament" && shown.tournamentId === tournamentId;
  notify(words, { roomId, ...(!isShown && { action: { label: text.value.tournament.news.show, run } }) });
  showNotification(text.value.brand, words, run);
}

/** Tells that a game of a meeting begins, and opens its room, unless the player plays elsewhere. */
export async function tellBeginning(tournamentId: string, roomId: string, opponent: string): Promise<void> {
  const run = () => navigate({ screen: "room", roomId });
  const isPlaying = [...ownGames.peek().keys()].some((own) => own !== roomId && isRoomShown(own));
  const goesThere = !isPlaying && !isRoomShown(roomId);
  if (goesThere) run();
  const words = text.value.tournament.news.begins(await nameOf(tournamentId), opponent);
  showNotification(text.value.brand, words, run);
  if (goesThere) notify(words);
  else if (!isRoomShown(roomId)) notify(words, { roomId, action: { label: text.value.home.accept, run } });
}

const names = new Map<string, string>();

/** The name of a tournament; only "Tournament" if the server does not answer. */
async function nameOf(tournamentId: string): Promise<string> {
  const known = names.get(tournamentId);
  if (known) return known;
  const answer = await tournaments.getTournament({ tournamentId }).catch(() => undefined);
  const name = answer?.tournament?.settings?.name;
  if (name) names.set(tournamentId, name);
  return name ?? text.value.tournament.one;
}
