import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { AvailabilitySchema, RatedPreference } from "../gen/reversi/v1/lobby_pb";
import { PlayerKind } from "../gen/reversi/v1/types_pb";
import { en } from "../text/en";
import { acceptsPeople, availabilityText, refusedTermText } from "./availability";

const time = (seconds: number) => durationFromMs(seconds * 1000);

it("tells in words which invitations a player accepts", () => {
  const words = (value: Parameters<typeof create<typeof AvailabilitySchema>>[1]) =>
    availabilityText(en, create(AvailabilitySchema, value));
  expect(availabilityText(en, undefined)).toBe("all");
  expect(words({})).toBe("all");
  expect(words({ unavailable: true })).toBe("none");
  expect(words({ kinds: [PlayerKind.HUMAN, PlayerKind.BOT] })).toBe("all");
  const bots = { kinds: [PlayerKind.BOT], rated: RatedPreference.RATED };
  expect(words(bots)).toBe("of bots only, rated games only");
  const exact = { shortestTotal: time(60), longestTotal: time(60) };
  expect(words(exact)).toBe("1 min for all moves of a side");
  const ranges = { shortestMove: time(5), shortestTotal: time(60), longestTotal: time(300) };
  expect(words(ranges)).toBe("at least 5 s for a move, 1 min to 5 min for all moves of a side");
  expect(words({ longestMove: time(30) })).toBe("at most 30 s for a move");
  const exactClock = { ...exact, shortestIncrement: time(0), longestIncrement: time(0) };
  expect(words(exactClock)).toBe("1 min for all moves of a side, 0 s of increment");
  expect(words({ longestIncrement: time(2) })).toBe("at most 2 s of increment");
  expect(words({ minRating: 1400 })).toBe("opponents with a rating of at least 1400");
  expect(words({ minRating: 1400, maxRating: 1700 })).toBe("opponents with a rating of 1400 to 1700");
  expect(words({ gamesAtOnce: 2, opponentsADay: 1 })).toBe("at most 2 games at once, at most 1 opponent a day");
});

it("knows who accepts no invitation of a person", () => {
  const accepts = (value: Parameters<typeof create<typeof AvailabilitySchema>>[1]) =>
    acceptsPeople(create(AvailabilitySchema, value));
  expect(acceptsPeople(undefined)).toBe(true);
  expect(accepts({ kinds: [PlayerKind.HUMAN] })).toBe(true);
  expect(accepts({ kinds: [PlayerKind.BOT] })).toBe(false);
  expect(accepts({ unavailable: true })).toBe(false);
});

it("names the term that is refused", () => {
  const words = (field: string, rated = false) => refusedTermText(en, field, "bob", { rated });
  expect(words("availability.rated")).toBe("bob accepts rated games only.");
  expect(words("availability.rated", true)).toBe("bob accepts unrated games only.");
  expect(words("availability.longest_total")).toMatch(/less time for all moves/);
  const terms = ["unavailable", "kinds", "shortest_move", "longest_move", "shortest_total", "longest_total"];
  const further = ["shortest_increment", "longest_increment", "min_rating", "max_rating"];
  for (const field of [...terms, ...further, "games_at_once", "opponents_a_day"])
    expect(words(`availability.${field}`)).toBeDefined();
  expect(words("seats")).toBeUndefined();
});
