import { useEffect, useMemo, useState } from "preact/hooks";
import { type Color, opposite } from "../../game/board";
import { history, movesTo } from "../../game/history";
import type { Room } from "../../gen/reversi/v1/types_pb";
import { roomTitle } from "../../room/row/title";
import { isRunning, namesOf, sideOf } from "../../room/seat";
import { address } from "../../route";
import { screenName } from "../../state/page/title";
import { lossesOf, useGameAnalysis } from "../../state/stream/game_analysis";
import { text } from "../../text/text";
import { MistakesPanel } from "../game/mistakes_panel";
import { ActionPanel } from "./action_panel";
import { Chat } from "./chat";
import { ProgressPanel } from "../game/progress_panel";
import { MemberList } from "./member_list";
import { MoveList } from "../game/move_list";
import { BoardGrid } from "../board/board_grid";
import { passText } from "../board/use_pass_note";
import { PastPosition } from "./past_position";
import { PlayBoard } from "../board/play_board";
import { PlayerBar } from "./player_bar";
import { RoomPanel } from "./room_panel";
import { RoomShare } from "./room_share";

/** The props of every component in a room. */
export interface RoomProps {
  room: Room;
  /** The id of the logged-in player. */
  me: string;
  /** The player's side, if seated. */
  side: Color | undefined;
}

/** A room with its board. The player's own side is at the bottom; for watchers, black. */
export function RoomView({ room, me, watchers }: { room: Room; me: string; watchers: number }) {
  const { game } = text.value;
  const side = sideOf(room, me);
  const props: RoomProps = { room, me, side };
  const below = side ?? "black";
  const plies = room.game?.plies ?? [];
  const frames = useMemo(() => history(plies), [plies]);
  const { at, look } = useLookBack(room.game?.gameId, plies.length);
  const looking = at !== undefined && { at };
  const { state, start } = useGameAnalysis(room.game?.gameId ?? "");
  const losses = lossesOf(state);
  const past = at === undefined ? undefined : frames[at];
  const title = roomTitle(text.value, room);
  useEffect(() => void (screenName.value = title), [title]);
  return (
    <div class="board-view room-view">
      <h1 class="visually-hidden">{title}</h1>
      <section class={`board-main${past ? " past" : ""}`} aria-label={game.board}>
        <PlayerBar {...props} color={opposite(below)} past={past?.board} />
        {past && at !== undefined ? (
          <BoardGrid board={past.board} label={game.board} last={past.square} note={passText(plies[at - 1])} />
        ) : (
          <PlayBoard {...props} frame={frames[frames.length - 1]} />
        )}
        <PlayerBar {...props} color={below} past={past?.board} />
      </section>
      <div class="board-controls">
        <ActionPanel {...props} />
        {room.game && !(side && isRunning(room)) && (
          <ProgressPanel
            frames={frames}
            plies={plies}
            names={namesOf(text.value, room)}
            mistakes={[...losses.keys()]}
            choose={look}
            {...looking}
          />
        )}
        {room.game && !(side && isRunning(room)) && (
          <a
            class="button"
            href={address({ screen: "analysis", start: "", moves: movesTo(plies, at ?? plies.length) })}
          >
            {text.value.analysis.open}
          </a>
        )}
        {room.game?.outcome && <MistakesPanel state={state} start={start} ply={(at ?? plies.length) - 1} />}
        <MoveList plies={plies} losses={losses} choose={look} {...looking} />
        {at !== undefined && <PastPosition at={at} plies={plies.length} go={look} />}
      </div>
      <div class="board-panels">
        <RoomPanel {...props} watchers={watchers} />
        <MemberList {...props} />
        <Chat {...props} />
        <RoomShare room={room} frames={frames} at={at ?? plies.length} />
      </div>
    </div>
  );
}

/** The number of plies after which the board is shown, undefined for the current position, and how to change it. */
function useLookBack(gameId: string | undefined, plies: number) {
  const [shown, setShown] = useState<{ gameId: string | undefined; at: number } | undefined>();
  const at = shown?.gameId === gameId ? shown?.at : undefined;
  const look = (to: number) => setShown(to < plies ? { gameId, at: to } : undefined);
  return { at, look };
}
