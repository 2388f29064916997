import type { OpponentTexts } from "./en";

export const opponent: OpponentTexts = {
  beginner: { name: "入门", summary: "任意选择合法着法，适合第一局。" },
  learner: { name: "初学者", summary: "三手中有两手随机。" },
  casual: { name: "业余玩家", summary: "三手中有一手随机，其余下得不错。" },
  club: { name: "俱乐部棋手", summary: "下得不错，偶尔出错。" },
  strong: { name: "强手", summary: "没有随机着法，会向前看几手。" },
  tournament: { name: "赛事棋手", summary: "每手最多考察一万个局面。" },
  master: { name: "大师", summary: "每手最多考察十六万个局面。" },
  champion: { name: "冠军", summary: "每手最多考察一千二百万个局面。" },
};
