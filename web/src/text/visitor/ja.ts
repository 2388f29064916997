import type { VisitorTexts } from "./en";

export const visitor: VisitorTexts = {
  logIn: "ログイン",
  nameNeeded: "名前を決めてください",
  nameWhy: "見るだけなら名前はいりません。対局と会話には必要です。",
  notNow: "今はしない",
  look: "先に対局中のゲームを見る",
  invitedBy: (name) => `${name}さんから対局の招待です`,
  yourSide: (side) => `あなたは${side}です。`,
  startsAtOnce: "参加するとすぐに始まります。",
  ownerStarts: (name) => `${name}さんが対局を始めます。`,
  full: "席は埋まっています。観戦できます。",
  play: "対局する",
  playAs: "名前（空欄ならゲスト）",
  watch: "観戦する",
  games: (games) => `${games}局`,
  against: (name, other) => `${name} 対 ${other}`,
  anyone: "誰でも",
};
