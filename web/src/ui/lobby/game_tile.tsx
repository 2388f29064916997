import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { type Color, isOver, unpackBoard } from "../../game/board";
import { colorOf } from "../../game/history";
import type { Seat } from "../../gen/reversi/v1/types_pb";
import { discsOf, headline } from "../../room/outcome";
import { occupantName, SEATS, watching } from "../../room/seat";
import type { LiveGame } from "../../room/row/live_games";
import { address } from "../../route";
import { announce } from "../../state/notice";
import { text } from "../../text/text";
import { GameClock } from "../board/game_clock";
import { SmallBoard } from "../board/small_board";

/** A small board of one running game, with its clocks in a tournament, linked to its room. */
export function GameTile({ tile, announced }: { tile: LiveGame; announced: boolean }) {
  const texts = text.value;
  const { liveGames, room } = texts;
  const { row, outcome } = tile;
  const board = useMemo(() => unpackBoard(row.black, row.white), [row.black, row.white]);
  const watchers = watching(row.watchers, row.seats);
  const over = tile.until !== undefined;
  const names = { black: nameOf(row.seats[0]), white: nameOf(row.seats[1]) };
  const points = outcome ? discsOf(outcome) : { black: row.blackDiscs, white: row.whiteDiscs };
  const ending = outcome ? headline(texts, outcome, names) : byDiscs();
  const said = over && announced ? liveGames.ended(ending, `${points.black}–${points.white}`) : "";
  useEffect(() => announce(said), [said]);

  return (
    <a class={`tile${over ? " over" : ""}`} href={address({ screen: "room", roomId: row.roomId })}>
      {SEATS.map((color) => (
        <Side key={color} color={color} name={names[color]} discs={points[color]} ahead={isAhead(color)}>
          {!over && row.clocks && row.meeting && (
            <GameClock clocks={row.clocks} color={color} mover={colorOf(row.sideToMove)} moveLimit={row.moveLimit} />
          )}
        </Side>
      ))}
      <span class="tile-board">
        <SmallBoard board={board} last={row.lastMove} />
        {over && <strong class="tile-ending">{ending}</strong>}
      </span>
      <span class="tile-state">
        <span>{over ? liveGames.over : liveGames.move(row.ply + 1)}</span>
        {watchers > 0 && (
          <span title={room.watchers(watchers)}>
            <svg class="eye" viewBox="0 0 20 20" aria-hidden="true">
              <path
                d="M1.500 10q8.500-10 17 0q-8.500 10-17 0z"
                fill="none"
                stroke="currentColor"
                stroke-width="1.800"
              />
              <circle cx="10" cy="10" r="2.600" fill="currentColor" />
            </svg>{" "}
            <span aria-hidden="true">{watchers}</span>
            <span class="visually-hidden">{room.watchers(watchers)}</span>
          </span>
        )}
      </span>
    </a>
  );

  function nameOf(seat: Seat | undefined): string {
    return seat ? occupantName(texts, seat) : "";
  }

  function isAhead(color: Color): boolean {
    return points[color] * 2 > points.black + points.white;
  }

  /** The result by discs, if the outcome is not known: between the games of a series. */
  function byDiscs(): string {
    if (!isOver(board)) return liveGames.over;
    const winner = SEATS.find(isAhead);
    return winner ? texts.result[winner](names[winner]) : texts.result.draw;
  }
}

interface SideProps {
  color: Color;
  name: string;
  discs: number;
  ahead: boolean;
  /** Its clock. */
  children: ComponentChildren;
}

function Side({ color, name, discs, ahead, children }: SideProps) {
  return (
    <span class={`tile-side${ahead ? " ahead" : ""}`}>
      <span class={`chip ${color}`} aria-hidden="true" />
      <span class="visually-hidden">{text.value.side[color]}: </span>
      <span class="tile-name">{name}</span>
      {children}
      <span class="numbers">{discs}</span>
    </span>
  );
}
