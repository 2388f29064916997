import type { OpponentTexts } from "./en";

export const opponent: OpponentTexts = {
  "random 1": "最初の一局に向いています。",
  "expert 1": "三手に二手は無作為に打ちます。",
  "expert 3": "三手に一手は無作為に、ほかはうまく打ちます。",
  "expert 6": "うまく打ちますが、ときどき間違えます。",
  "expert 9": "無作為には打たず、数手先を読みます。",
  "expert 11": "一手に一万局面まで調べます。",
  "expert 13": "一手に十六万局面まで調べます。",
  "expert 16": "一手に千二百万局面まで調べます。",
};
