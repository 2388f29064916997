import type { ShellTexts } from "./en";

export const shell: ShellTexts = {
  scheme: "浅色或深色",
  schemes: { system: "跟随系统", light: "浅色", dark: "深色" },
  board: "棋盘",
  boards: { green: "绿色", blue: "蓝色", wood: "木纹" },
  discs: "棋子",
  discThemes: { glossy: "光泽", flat: "平面", ivory: "乌木与象牙" },
  noSuchScreen: "这个地址没有内容。",
  unreadAddress: (part) => `地址中有一部分不是局面，也不是合法着法：${part}`,
  loadFailed: "页面的这一部分无法加载",
  loadFailedWhy: "连接可能已断开，或者服务器上有新版本的页面。",
  loadAgain: "重新加载页面",
  languageFailed: "无法加载这种语言。",
  offline: "没有连接。",
  withoutServer: "对局、房间和棋谱需要服务器；规则和入门对局，以及不带评估的分析棋盘，可以离线使用。",
};
