import type { ShareTexts } from "./en";

export const share: ShareTexts = {
  title: "共有",
  link: "リンク",
  copy: "コピー",
  copied: "コピーしました。",
  notCopied: "ブラウザがコピーを許可していません。選択された文字を手動でコピーしてください。",
  send: "送る…",
  image: "この局面の画像",
  animation: "対局のアニメーション画像",
  drawing: "画像を作成中…",
  failed: "ブラウザで画像を作成できませんでした。",
  embed: "他のページに盤を埋め込むコード",
  full: "サーバーで開く",
  noBoard: "このアドレスに表示できる盤はありません。",
  noGame: "まだ対局はありません。",
};
