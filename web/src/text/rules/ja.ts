import type { RulesTexts } from "./en";

export const rules: RulesTexts = {
  title: "ルール",
  start: "盤に四つの石があります。黒が先に打ちます。",
  move: "空いたマスに石を置き、ほかの自分の石との間に相手の石を一列以上はさみます。はさんだ石はすべて自分の色に返ります。",
  mustTurn: "一つ以上返せるマスにだけ打てます。そのうちどこに打ってもかまいません。",
  pass: "打てるマスがなければパスで、相手が続けて打ちます。",
  end: "どちらも打てなくなると終わりです。石の多いほうが勝ちです。",
  corner: "隅の石は二度と返りません。",
  tryIt: "やってみる",
  guide: "あなたは黒です。印のあるマスに打てます。指すと返る石がわかります。",
  turned: (discs) => `${discs}個返しました。`,
  tookCorner: "隅を取りました。この石はずっとあなたのものです。",
  lostCorner: "白が隅を取りました。空いた隅の隣はよく考えましょう。",
  whitePassed: "白は打てずパスです。続けて打ちます。",
  youPassed: "打てるマスがなく、パスしました。",
  won: (own, other) => `終局です。${own}対${other}であなたの勝ち！`,
  lost: (own, other) => `終局です。${other}対${own}で白の勝ち。もう一度どうぞ。`,
  drawn: (own) => `終局です。${own}対${own}の引き分けです。`,
  again: "最初から",
  playNow: "対局する",
};
