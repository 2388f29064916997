import type { RulesTexts } from "./en";

export const rules: RulesTexts = {
  title: "规则",
  start: "棋盘上有四枚棋子，黑方先下。",
  move: "在空格落子，使它与另一枚己方棋子之间夹住一行或多行对方棋子，被夹住的棋子全部翻成己方颜色。",
  mustTurn: "每一着至少要翻转一枚棋子。可在所有这样的格子中任选。",
  pass: "若无处可下，则跳过，由对方继续下。",
  end: "双方都无处可下时对局结束，棋子多者胜。",
  corner: "角上的棋子永远不会被翻转。",
  tryIt: "试一试",
  guide: "您执黑。有标记的格子可以下，指向它可看到会翻转哪些棋子。",
  turned: (discs) => `您翻转了 ${discs} 枚棋子。`,
  tookCorner: "您占了角，这枚棋子永远属于您。",
  lostCorner: "白方占了角。在空角旁边落子要三思。",
  whitePassed: "白方无处可下，跳过，请继续下。",
  youPassed: "您无处可下，已跳过。",
  won: (own, other) => `对局结束，您以 ${own}–${other} 获胜！`,
  lost: (own, other) => `对局结束，白方以 ${other}–${own} 获胜。再试一次吧！`,
  drawn: (own) => `对局结束，${own}–${own} 平局。`,
  again: "重新开始",
  playNow: "正式下一局",
};
