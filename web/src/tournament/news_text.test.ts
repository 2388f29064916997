import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { PlayerTournamentSchema } from "../gen/reversi/v1/game_pb";
import { EntrantFault, TournamentPhase } from "../gen/reversi/v1/tournament_pb";
import { en } from "../text/en";
import { ja } from "../text/ja";
import { zh } from "../text/zh";
import { newsText } from "./news_text";

type News = NonNullable<Exclude<Parameters<typeof create<typeof PlayerTournamentSchema>>[1], undefined>>["news"];

const words = (news: News, texts = en) =>
  newsText(texts, "Evening", create(PlayerTournamentSchema, { news }).news, (at) => `T${at / 1000}`);

it("tells an entrant of a meeting, and of a bye", () => {
  const opponent = { participant: { case: "player" as const, value: { displayName: "nova" } } };
  expect(words({ case: "paired", value: { round: 2, opponent } })).toBe(
    "Evening, round 2: you meet nova. The game begins when both are here.",
  );
  expect(words({ case: "paired", value: { round: 3 } })).toBe("Evening, round 3: you have a bye.");
  expect(words({ case: "paired", value: { round: 1, playoff: true, opponent } })).toBe(
    "Evening, play-off, round 1: you meet nova. The game begins when both are here.",
  );
});

it("tells who has lost by a forfeit", () => {
  expect(words({ case: "forfeit", value: { lost: true } })).toBe(en.tournament.news.lost("Evening"));
  expect(words({ case: "forfeit", value: { lost: false } })).toBe(en.tournament.news.won("Evening"));
});

it("tells until when an entrant is put aside, and why", () => {
  const news = { case: "putAside" as const, value: { until: timestampFromMs(9000), fault: EntrantFault.TIMEOUT } };
  expect(words(news)).toBe("Evening: you are put aside and not paired until T9. Reason: out of time.");
  expect(words(news, ja)).toBe("Evening：T9 まで対戦が組まれません。理由：時間切れ。");
  expect(words(news, zh)).toBe("Evening：T9 前不会为你配对。原因：超时。");
});

it("tells the organiser's decision about a meeting, and an exclusion", () => {
  const decided = (won?: boolean) =>
    words({ case: "decided", value: { ...(won !== undefined && { won }), why: "Two bots." } });
  expect(decided(true)).toBe("Evening: the organiser has decided that your meeting is won: Two bots.");
  expect(decided(false)).toBe("Evening: the organiser has decided that your meeting is lost: Two bots.");
  expect(decided()).toBe("Evening: the organiser has decided that your meeting does not count: Two bots.");
  const left = (excluded: boolean) => words({ case: "left", value: { excluded } });
  expect(left(true)).toBe("Evening: the organiser has excluded you.");
  expect(left(false)).toBe("");
});

it("tells the rank at the end", () => {
  const ended = (phase: TournamentPhase) => words({ case: "ended", value: { phase, rank: 2, entrants: 8 } });
  expect(ended(TournamentPhase.COMPLETED)).toBe("Evening has ended. Your rank: 2 of 8.");
  expect(ended(TournamentPhase.STOPPED)).toBe("Evening has ended. Your rank: 2 of 8.");
  expect(ended(TournamentPhase.CANCELLED)).toBe("Evening was cancelled.");
});
