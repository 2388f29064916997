import type { ShellTexts } from "./en";

export const shell: ShellTexts = {
  scheme: "明るさ",
  schemes: { system: "システム", light: "ライト", dark: "ダーク" },
  board: "盤",
  boards: { green: "緑", blue: "青", wood: "木" },
  discs: "石",
  discThemes: { glossy: "つや", flat: "平面", ivory: "黒檀と象牙" },
  noSuchScreen: "このアドレスには何もありません。",
  unreadAddress: (part) => `アドレスに、局面でも合法手でもない部分があります：${part}`,
  loadFailed: "ページのこの部分を読み込めませんでした",
  loadFailedWhy: "接続が切れたか、サーバーに新しい版のページがあるかもしれません。",
  loadAgain: "ページを読み込み直す",
  languageFailed: "この言語を読み込めませんでした。",
  offline: "接続がありません。",
  withoutServer: "対局・部屋・棋譜にはサーバーが必要です。ルールとその練習対局、評価なしの検討盤は接続なしで使えます。",
};
