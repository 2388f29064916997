import type { PlayerTournament } from "../../gen/reversi/v1/game_pb";

/** The tournaments of the player's meetings, by room. */
const meetings = new Map<string, string>();

/** Keeps the room of a meeting: the event of its game does not tell the tournament. */
export function keepMeeting({ tournamentId, news }: PlayerTournament): void {
  if (news.case === "paired" && news.value.roomId) meetings.set(news.value.roomId, tournamentId);
}

/** The tournament of the meeting in a room, if it is one that the page was told of. */
export function meetingIn(roomId: string): string | undefined {
  return meetings.get(roomId);
}
