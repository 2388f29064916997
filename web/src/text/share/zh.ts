import type { ShareTexts } from "./en";

export const share: ShareTexts = {
  title: "分享",
  link: "链接",
  copy: "复制",
  copied: "已复制。",
  notCopied: "浏览器不允许复制。文本已选中，请手动复制。",
  send: "发送…",
  image: "当前局面图片",
  animation: "整局动图",
  drawing: "正在绘制…",
  failed: "浏览器无法生成图片。",
  embed: "在其他网页中嵌入棋盘的代码",
  full: "在服务器上打开",
  noBoard: "此地址没有可显示的棋盘。",
  noGame: "尚未开局。",
};
