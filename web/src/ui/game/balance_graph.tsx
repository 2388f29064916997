import type { Balance } from "../../game/history";
import { text } from "../../text/text";

const WIDTH = 320;
const HEIGHT = 120;
const MIDDLE = HEIGHT / 2;
/** The length of the axis, in plies, unless the game is longer. */
const PLIES = 60;

interface BalanceGraphProps {
  points: readonly Balance[];
  /** The marked ply, if any. */
  at?: number;
  /** Plies of moves that are marked as mistakes. */
  mistakes?: readonly number[];
  choose: (ply: number) => void;
}

/** Disc difference as an area and mobility as a dashed line, black upwards. */
export function BalanceGraph({ points, at, mistakes = [], choose }: BalanceGraphProps) {
  const { game, side } = text.value;
  const last = Math.max(PLIES, points.length - 1);
  const x = (ply: number) => (ply / last) * WIDTH;
  const most = Math.max(8, ...points.flatMap(({ discs, mobility }) => [Math.abs(discs), Math.abs(mobility)]));
  const y = (value: number) => MIDDLE - (value / most) * (MIDDLE - 4);
  const line = (value: (point: Balance) => number) =>
    points.map((point, ply) => `${x(ply).toFixed(1)},${y(value(point)).toFixed(1)}`).join(" ");
  const now = points[at ?? points.length - 1];
  const pick = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    const ply = Math.round(((event.clientX - box.left) / box.width) * last);
    choose(Math.min(Math.max(ply, 0), points.length - 1));
  };
  return (
    <figure class="graph">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={now ? `${game.discBalance} ${signed(now.discs)}, ${game.mobility} ${signed(now.mobility)}` : ""}
        onClick={pick}
      >
        <rect class="graph-ground" width={WIDTH} height={HEIGHT} rx="4" />
        <text class="graph-side" text-anchor="end" x={WIDTH - 6} y="13">
          {side.black} +{most}
        </text>
        <text class="graph-side" text-anchor="end" x={WIDTH - 6} y={HEIGHT - 6}>
          {side.white} +{most}
        </text>
        <polygon class="graph-area" points={`0,${MIDDLE} ${line((p) => p.discs)} ${x(points.length - 1)},${MIDDLE}`} />
        <line class="graph-zero" x1="0" x2={WIDTH} y1={MIDDLE} y2={MIDDLE} />
        <polyline class="graph-discs" points={line((p) => p.discs)} />
        <polyline class="graph-mobility" points={line((p) => p.mobility)} />
        {mistakes.map((ply) => (
          <circle key={ply} class="graph-mistake" cx={x(ply + 1)} cy={y(points[ply + 1]?.discs ?? 0)} r="4" />
        ))}
        {at !== undefined && <line class="graph-at" x1={x(at)} x2={x(at)} y1="0" y2={HEIGHT} />}
      </svg>
      <figcaption>
        <span class="key discs-key">{game.discBalance}</span>
        <span class="key mobility-key">{game.mobility}</span>
        {now && (
          <span class="numbers">
            {signed(now.discs)} / {signed(now.mobility)}
          </span>
        )}
      </figcaption>
    </figure>
  );
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : value < 0 ? `−${-value}` : "0";
}
