import type { OpponentTexts } from "./en";

export const opponent: OpponentTexts = {
  beginner: { name: "入門", summary: "打てる場所のどこにでも打ちます。最初の一局に向いています。" },
  learner: { name: "初級", summary: "三手に二手は無作為に打ちます。" },
  casual: { name: "中級", summary: "三手に一手は無作為に、ほかはうまく打ちます。" },
  club: { name: "上級", summary: "うまく打ちますが、ときどき間違えます。" },
  strong: { name: "強豪", summary: "無作為には打たず、数手先を読みます。" },
  tournament: { name: "大会級", summary: "一手に一万局面まで調べます。" },
  master: { name: "名人", summary: "一手に十六万局面まで調べます。" },
  champion: { name: "王者", summary: "一手に千二百万局面まで調べます。" },
};
