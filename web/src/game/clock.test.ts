import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ClocksSchema } from "../gen/reversi/v1/types_pb";
import { clockFace, clockText } from "./clock";

const clocks = create(ClocksSchema, {
  blackTotal: { seconds: 60n },
  whiteTotal: { seconds: 50n },
  timeLeft: { seconds: 30n },
  deadline: { seconds: 1030n },
});

describe("clocks", () => {
  it("run for the side to move only", () => {
    expect(clockFace(clocks, "black", "black", 1_010_000)).toEqual({ total: 50_000, move: 20_000 });
    expect(clockFace(clocks, "white", "black", 1_010_000)).toEqual({ total: 50_000 });
  });

  it("stand during an AI's pause", () => {
    expect(clockFace(clocks, "black", "black", 998_000)).toEqual({ total: 60_000, move: 30_000 });
  });

  it("stop at zero", () => {
    expect(clockFace(clocks, "black", "black", 2_000_000)).toEqual({ total: 0, move: 0 });
  });

  it("are formatted with tenths below 10 s and hours above 59 min", () => {
    expect([0, 7_450, 9_999, 10_000, 59_001, 271_000, 3_909_000].map(clockText)).toEqual([
      "0:00.0",
      "0:07.4",
      "0:09.9",
      "0:10",
      "1:00",
      "4:31",
      "1:05:09",
    ]);
  });
});
