import type { VisitorTexts } from "./en";

export const visitor: VisitorTexts = {
  logIn: "登录",
  nameNeeded: "请取一个名字",
  nameWhy: "观看不需要名字，下棋和聊天需要。",
  notNow: "以后再说",
  look: "先看正在进行的对局",
  invitedBy: (name) => `${name} 邀请您下一局`,
  yourSide: (side) => `您执${side}。`,
  startsAtOnce: "您加入后对局立即开始。",
  ownerStarts: (name) => `由 ${name} 开始对局。`,
  full: "座位已满，您可以观看。",
  play: "下棋",
  playAs: "您的名字，留空则为访客",
  watch: "观看",
  games: (games) => `${games} 局`,
  against: (name, other) => `${name} 对 ${other}`,
  anyone: "任何人",
};
