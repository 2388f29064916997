import { useEffect, useMemo } from "preact/hooks";
import { type Color, count } from "../../game/board";
import { clockText, milliseconds } from "../../game/clock";
import { colorOf, type Frame, history, movesTo } from "../../game/history";
import type { Picture } from "../../game/picture/picture";
import { squareName } from "../../game/square";
import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import type { Ply } from "../../gen/reversi/v1/types_pb";
import { participantName } from "../../room/game_record";
import { announce } from "../../state/notice";
import { screenName } from "../../state/page/title";
import { lossesOf, useGameAnalysis } from "../../state/stream/game_analysis";
import { address } from "../../route";
import { text } from "../../text/text";
import { BoardGrid } from "../board/board_grid";
import { SideBar } from "../board/side_bar";
import { passText } from "../board/use_pass_note";
import { ProgressPanel } from "../game/progress_panel";
import { ExportPanel } from "./export_panel";
import { MoveList } from "../game/move_list";
import { ParticipantLink } from "../profile/participant_link";
import { MistakesPanel } from "../game/mistakes_panel";
import { gamePictures } from "../share/game_pictures";
import { SharePanel } from "../share/share_panel";
import { Later } from "../shell/later";
import { ResultPanel } from "./result_panel";
import { ReplayControls } from "./replay_controls";
import { usePlayback } from "./use_playback";

/** A finished game, shown ply by ply, from the position after `first` plies. */
export function Replay({ record, first }: { record: GameRecord; first: number }) {
  const { game, replay } = text.value;
  const frames = useMemo(() => history(record.plies), [record]);
  const plies = record.plies.length;
  const playback = usePlayback(plies, first);
  const { at, go } = playback;
  const frame = frames[at] as Frame;
  const said = caption(record, frame, record.plies[at - 1]);
  const names = { black: participantName(text.value, record.black), white: participantName(text.value, record.white) };

  const pictures = gamePictures(frames, record.plies, names);

  const { state, start } = useGameAnalysis(record.gameId);
  const losses = lossesOf(state);

  const title = replay.title(names.black, names.white);
  useEffect(() => void (screenName.value = title), [title]);
  useEffect(() => announce(said), [said]);

  return (
    <div class="board-view replay-view">
      <section class="board-main" aria-label={game.board}>
        <Side record={record} frame={frame} at={at} color="white" />
        <BoardGrid board={frame.board} label={game.board} last={frame.square} note={passText(record.plies[at - 1])} />
        <Side record={record} frame={frame} at={at} color="black" />
      </section>
      <div class="board-controls tight">
        <ReplayControls {...playback} />
        <p class="replay-caption">
          <span class="muted">{replay.at(at, plies)}</span> {said}
        </p>
        <p class="hint replay-keys">{replay.keys}</p>
      </div>
      <div class="board-panels">
        <div class="column">
          <Later>
            <ResultPanel record={record} />
            <a class="button" href={address({ screen: "analysis", start: "", moves: movesTo(record.plies, at) })}>
              {text.value.analysis.open}
            </a>
          </Later>
          <Later>
            <ProgressPanel
              frames={frames}
              plies={record.plies}
              names={names}
              at={at}
              mistakes={[...losses.keys()]}
              choose={go}
            />
            {plies > 0 && <MistakesPanel state={state} start={start} ply={at - 1} />}
          </Later>
        </div>
        <div class="column">
          <Later>
            <MoveList plies={record.plies} at={at} losses={losses} choose={go} />
          </Later>
          <Later>
            <SharePanel
              open
              route={record.private ? undefined : { screen: "game", gameId: record.gameId, ply: at }}
              title={title}
              name={record.gameId}
              picture={pictures[at] as Picture}
              pictures={pictures}
            />
            <ExportPanel record={record} />
          </Later>
        </div>
      </div>
    </div>
  );
}

interface SideProps {
  record: GameRecord;
  frame: Frame;
  /** How many plies the shown board includes. */
  at: number;
  color: Color;
}

/** One player's name, number of discs, and time used. */
function Side({ record, frame, at, color }: SideProps) {
  const { replay } = text.value;
  return (
    <SideBar color={color} name={<ParticipantLink of={record[color]} />} discs={count(frame.board, color)}>
      <span class="clock" title={replay.timeUsed}>
        <span class="visually-hidden">{replay.timeUsed}: </span>
        {clockText(timeUsed(record.plies.slice(0, at), color))}
      </span>
    </SideBar>
  );
}

/** The time that a side has used for its moves, in milliseconds. */
function timeUsed(plies: readonly Ply[], color: Color): number {
  const own = plies.filter(({ side, opening }) => !opening && colorOf(side) === color);
  return own.reduce((sum, { spent }) => sum + (spent ? milliseconds(spent) : 0), 0);
}

/** The last ply in words. */
function caption(record: GameRecord, { mover, square, flipped }: Frame, ply: Ply | undefined): string {
  const { game, replay } = text.value;
  if (!mover || !ply) return replay.start;
  const who = participantName(text.value, record[mover]);
  const what = square === undefined ? game.passes(who) : game.played(who, squareName(square), flipped.length);
  return ply.spent && !ply.opening ? `${what} ${replay.spent((milliseconds(ply.spent) / 1000).toFixed(1))}` : what;
}
