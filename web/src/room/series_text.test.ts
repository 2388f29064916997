import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { RoomPhase, RoomSchema } from "../gen/reversi/v1/types_pb";
import { en } from "../text/en";
import { seriesText } from "./series_text";

function say(games: number, black: number, white: number, draws: number, phase = RoomPhase.LOBBY): string {
  const seat = (displayName: string, wins: number) => ({
    occupant: { case: "player" as const, value: { displayName } },
    wins,
    draws,
  });
  return seriesText(
    en,
    create(RoomSchema, { phase, settings: { games }, seats: [seat("ada", black), seat("bob", white)] }),
  );
}

it("names the winner of a series that is over", () => {
  expect(say(4, 1, 2, 1)).toBe(en.result.seriesWon("bob", "2½", "1½"));
  expect(say(2, 1, 0, 1)).toBe(en.result.seriesWon("ada", "1½", "½"));
  expect(say(2, 1, 1, 0)).toBe(en.result.seriesDrawn("1"));
});

it("counts all games after a second series", () => {
  expect(say(2, 3, 1, 0)).toBe(en.result.allWon("ada", "3", "1"));
  expect(say(2, 2, 2, 0)).toBe(en.result.allDrawn("2"));
});

it("is silent during a series, and about single games", () => {
  expect(say(4, 1, 0, 0, RoomPhase.PLAYING)).toBe("");
  expect(say(1, 1, 0, 0)).toBe("");
  expect(say(4, 0, 0, 0)).toBe("");
});
