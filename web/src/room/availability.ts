import { type Duration } from "@bufbuild/protobuf/wkt";
import { type Availability, RatedPreference } from "../gen/reversi/v1/lobby_pb";
import { PlayerKind, type RoomSettings } from "../gen/reversi/v1/types_pb";
import type { Texts } from "../text/en";
import { timeText } from "./time_control";

/** Whether a player accepts invitations of people; perhaps not with all terms. */
export function acceptsPeople(availability: Availability | undefined): boolean {
  const { unavailable, kinds = [] } = availability ?? {};
  return !unavailable && (kinds.length === 0 || kinds.includes(PlayerKind.HUMAN));
}

/** The invitations that a player accepts, in words. */
export function availabilityText(texts: Texts, availability: Availability | undefined): string {
  const { invitation } = texts;
  if (!availability) return invitation.all;
  if (availability.unavailable) return invitation.none;
  const { shortestMove, longestMove, shortestTotal, longestTotal, shortestIncrement, longestIncrement } = availability;
  const { minRating, maxRating, gamesAtOnce, opponentsADay } = availability;
  const perMove = timesText(texts, shortestMove, longestMove);
  const perSide = timesText(texts, shortestTotal, longestTotal);
  const increment = timesText(texts, shortestIncrement, longestIncrement);
  const ratings = rangeText(texts, minRating ? `${minRating}` : undefined, maxRating ? `${maxRating}` : undefined);
  const terms = [
    kindsText(texts, availability.kinds),
    { [RatedPreference.RATED]: invitation.rated, [RatedPreference.UNRATED]: invitation.unrated, 0: "" }[
      availability.rated
    ],
    perMove && invitation.perMove(perMove),
    perSide && invitation.perSide(perSide),
    increment && invitation.increment(increment),
    ratings && invitation.ratings(ratings),
    gamesAtOnce > 0 && invitation.gamesAtOnce(gamesAtOnce),
    opponentsADay > 0 && invitation.opponentsADay(opponentsADay),
  ];
  return terms.filter(Boolean).join(", ") || invitation.all;
}

/** Which term of an invitation its player does not accept; undefined for a field that is none of Availability. */
export function refusedTermText(
  { invitation: { refused } }: Texts,
  field: string,
  name: string,
  { rated }: Pick<RoomSettings, "rated">,
): string | undefined {
  const term = field.replace(/^availability\./, "");
  if (term === "rated") return (rated ? refused.unrated : refused.rated)(name);
  return refused[term as keyof typeof refused]?.(name);
}

function kindsText({ invitation }: Texts, kinds: readonly PlayerKind[]): string {
  if (kinds.length !== 1) return "";
  return kinds[0] === PlayerKind.BOT ? invitation.ofBots : invitation.ofPeople;
}

function timesText(texts: Texts, shortest: Duration | undefined, longest: Duration | undefined): string {
  return rangeText(texts, shortest && timeText(texts, shortest), longest && timeText(texts, longest));
}

function rangeText({ invitation }: Texts, from: string | undefined, to: string | undefined): string {
  const { atLeast, atMost, between } = invitation;
  if (from === undefined) return to === undefined ? "" : atMost(to);
  if (to === undefined) return atLeast(from);
  return from === to ? from : between(from, to);
}
