import { Component } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Board, type Color, flips } from "../../game/board";
import { FILES, parseSquare, type Square, squareName } from "../../game/square";
import { announce } from "../../state/notice";
import { text } from "../../text/text";

export interface BoardProps {
  board: Board;
  label: string;
  /** The last move, from which the turned discs are animated. */
  last?: Square | undefined;
  /** The side whose legal moves are shown. */
  mover?: Color | undefined;
  legal?: readonly Square[];
  /** Whether to mark legal moves, and the discs that the aimed one turns. */
  marked?: boolean;
  /** Called with legal squares only. Absent if the board is read-only. */
  play?: ((square: Square) => void) | undefined;
  /** Whether the last move is not sent yet. */
  pending?: boolean;
  /** Short texts on empty squares, instead of the marks of legal moves. */
  values?: ReadonlyMap<Square, string> | undefined;
  /** Words over the middle of the board, where all squares have discs after the start. */
  note?: string | undefined;
}

const ROWS = [0, 1, 2, 3, 4, 5, 6, 7];

/** The board, operated by pointer or by arrow keys and Enter. */
export function BoardGrid(props: BoardProps) {
  const { board, mover, legal = [], marked = true } = props;
  const [focus, setFocus] = useState<Square>(19);
  const [aim, setAim] = useState<Square | undefined>();
  const [refused, setRefused] = useState<{ square: Square } | undefined>();
  const grid = useRef<HTMLDivElement>(null);
  const aimed = aim !== undefined && props.play && legal.includes(aim) ? aim : undefined;
  const turned = aimed !== undefined && mover && marked ? flips(board, mover, aimed) : [];

  useEffect(() => {
    if (!refused) return;
    const timer = setTimeout(() => setRefused(undefined), REFUSED_SHOWN);
    return () => clearTimeout(timer);
  }, [refused]);

  const choose = (square: Square) => {
    if (!props.play) return;
    if (legal.includes(square)) return props.play(square);
    const { refusal } = text.value;
    announce(legal.length > 0 ? refusal.ILLEGAL_MOVE : refusal.NOT_YOUR_TURN);
    setRefused({ square });
  };
  const move = (event: KeyboardEvent) => {
    // A board to look at leaves the keys to the screen, whose arrows may step through a game.
    if (!props.play || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = target(event.key, focus);
    if (to !== undefined) {
      setFocus(to);
      grid.current?.querySelector<HTMLElement>(`[data-square="${squareName(to)}"]`)?.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      choose(focus);
    } else return;
    event.preventDefault();
  };

  return (
    <div class={`board-frame${props.pending ? " pending" : ""}`}>
      <Coordinates />
      <div
        ref={grid}
        class="board"
        role="grid"
        aria-label={props.label}
        onKeyDown={move}
        onClick={at(choose)}
        onFocusIn={at((square) => (setFocus(square), setAim(square)))}
        onFocusOut={() => setAim(undefined)}
        onPointerOver={at(setAim)}
        onPointerLeave={() => setAim(undefined)}
      >
        {ROWS.map((row) => (
          <div key={row} role="row" class="rank">
            {ROWS.map((column) => {
              const square = row * 8 + column;
              return (
                <Cell
                  key={square}
                  square={square}
                  color={board[square]}
                  last={square === props.last}
                  delay={board[square] ? delay(square, props.last) : 0}
                  legal={props.play !== undefined && legal.includes(square)}
                  mark={marked && legal.includes(square) ? mover : undefined}
                  refused={square === refused?.square}
                  turns={turned.includes(square)}
                  value={props.values?.get(square)}
                  label={cellLabel(props, square)}
                  reachable={square === focus}
                />
              );
            })}
          </div>
        ))}
      </div>
      {props.note && <p class="board-note">{props.note}</p>}
    </div>
  );
}

/** How long the sign of an illegal move stays, in milliseconds; as in board.css. */
const REFUSED_SHOWN = 450;

interface CellProps {
  square: Square;
  color: Color | undefined;
  last: boolean;
  /** The delay before its disc turns, in milliseconds. */
  delay: number;
  legal: boolean;
  /** The side whose legal move is marked. */
  mark: Color | undefined;
  refused: boolean;
  turns: boolean;
  value: string | undefined;
  label: string;
  reachable: boolean;
}

/** Its props are plain values, so that of 64 cells only those that have changed are rendered again. */
class Cell extends Component<CellProps> {
  override shouldComponentUpdate(next: CellProps): boolean {
    const names = Object.keys(next) as (keyof CellProps)[];
    return names.some((name) => next[name] !== this.props[name]);
  }

  render({ square, color, last, delay, legal, mark, refused, turns, value, label, reachable }: CellProps) {
    const classes = ["cell"];
    if (last) classes.push("last");
    if (legal) classes.push("legal");
    if (refused) classes.push("refused");
    if (mark) classes.push("marked", `for-${mark}`);
    if (turns) classes.push("turns");
    if (value) classes.push("valued");
    return (
      <div
        role="gridcell"
        class={classes.join(" ")}
        tabIndex={reachable ? 0 : -1}
        aria-label={label}
        data-square={squareName(square)}
      >
        {value && <span class="move-value">{value}</span>}
        {color && <span class={`disc ${color}`} style={{ transitionDelay: `${delay}ms` }} />}
      </div>
    );
  }
}

/** Handles an event of the board at the square where it happened. */
function at(handle: (square: Square) => void): (event: Event) => void {
  return ({ target }) => {
    const cell = (target as Element).closest<HTMLElement>("[data-square]");
    const square = parseSquare(cell?.dataset["square"] ?? "");
    if (square !== undefined) handle(square);
  };
}

function Coordinates() {
  return (
    <>
      <div class="files" aria-hidden="true">
        {[...FILES].map((file) => (
          <span key={file}>{file}</span>
        ))}
      </div>
      <div class="ranks" aria-hidden="true">
        {ROWS.map((row) => (
          <span key={row}>{row + 1}</span>
        ))}
      </div>
    </>
  );
}

/** The square that a key moves the focus to; undefined for other keys. */
function target(key: string, from: Square): Square | undefined {
  const [file, rank] = [from % 8, Math.floor(from / 8)];
  switch (key) {
    case "ArrowLeft":
      return file > 0 ? from - 1 : from;
    case "ArrowRight":
      return file < 7 ? from + 1 : from;
    case "ArrowUp":
      return rank > 0 ? from - 8 : from;
    case "ArrowDown":
      return rank < 7 ? from + 8 : from;
    case "Home":
      return rank * 8;
    case "End":
      return rank * 8 + 7;
    default:
      return undefined;
  }
}

/** The duration of a disc's turn, in milliseconds; as in board.css. */
const TURN = 380;

/** The duration of a move's whole animation, in milliseconds. */
export function turningTime(flipped: readonly Square[], from: Square): number {
  return TURN + Math.max(0, ...flipped.map((square) => delay(square, from)));
}

/** The delay before a disc turns, in milliseconds: 50 for each square of distance. */
function delay(square: Square, last: Square | undefined): number {
  if (last === undefined) return 0;
  const files = Math.abs((square % 8) - (last % 8));
  const ranks = Math.abs(Math.floor(square / 8) - Math.floor(last / 8));
  return Math.max(files, ranks) * 50;
}

function cellLabel({ board, legal, mover, last, values }: BoardProps, square: Square): string {
  const { game } = text.value;
  const color = board[square];
  const parts = [squareName(square), color ? game[color] : game.empty];
  if (mover && legal?.includes(square)) parts.push(game.legal, game.flips(flips(board, mover, square).length));
  const value = values?.get(square);
  if (value) parts.push(value);
  if (square === last) parts.push(game.last);
  return parts.join(", ");
}
