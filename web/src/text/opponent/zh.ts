import type { OpponentTexts } from "./en";

export const opponent: OpponentTexts = {
  "random 1": "适合第一局。",
  "expert 1": "三手中有两手随机。",
  "expert 3": "三手中有一手随机，其余下得不错。",
  "expert 6": "下得不错，偶尔出错。",
  "expert 9": "没有随机着法，会向前看几手。",
  "expert 11": "每手最多考察一万个局面。",
  "expert 13": "每手最多考察十六万个局面。",
  "expert 16": "每手最多考察一千二百万个局面。",
};
