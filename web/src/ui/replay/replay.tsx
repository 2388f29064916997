import { useEffect, useMemo } from "preact/hooks";
import { type Color, count } from "../../game/board";
import { milliseconds } from "../../game/clock";
import { balance, type Frame, history, movesTo } from "../../game/history";
import type { Picture } from "../../game/picture";
import { squareName } from "../../game/square";
import type { MoveAnalysis } from "../../gen/reversi/v1/analysis_pb";
import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import type { Ply } from "../../gen/reversi/v1/types_pb";
import { participantName } from "../../room/game_record";
import { announce } from "../../state/notice";
import { useGameAnalysis } from "../../state/stream/game_analysis";
import { address } from "../../route";
import { text } from "../../text/text";
import { BoardGrid } from "../board/board_grid";
import { passText } from "../board/use_pass_note";
import { ProgressPanel } from "../game/progress_panel";
import { ExportPanel } from "./export_panel";
import { MoveList } from "../game/move_list";
import { ParticipantLink } from "../profile/participant_link";
import { gamePictures } from "../share/game_pictures";
import { SharePanel } from "../share/share_panel";
import { MISTAKE, MistakesPanel } from "./mistakes_panel";
import { ResultPanel } from "./result_panel";
import { ReplayControls } from "./replay_controls";
import { usePlayback } from "./use_playback";

/** A finished game, shown ply by ply, from the position after `first` plies. */
export function Replay({ record, first }: { record: GameRecord; first: number }) {
  const { game, replay } = text.value;
  const frames = useMemo(() => history(record.plies), [record]);
  const points = useMemo(() => frames.map(balance), [frames]);
  const plies = record.plies.length;
  const playback = usePlayback(plies, first);
  const { at, go } = playback;
  const frame = frames[at] as Frame;
  const said = caption(record, frame, record.plies[at - 1]);
  const names = { black: participantName(text.value, record.black), white: participantName(text.value, record.white) };

  const pictures = gamePictures(frames, record.plies, names);

  const { state, start } = useGameAnalysis(record.gameId);
  const losses = new Map([...state.moves.values()].filter(isMistake).map(({ ply, loss }) => [ply, loss]));

  useEffect(() => announce(said), [said]);

  return (
    <div class="replay">
      <section class="room-board" aria-label={game.board}>
        <Side record={record} frame={frame} color="white" />
        <BoardGrid board={frame.board} label={game.board} last={frame.square} note={passText(record.plies[at - 1])} />
        <Side record={record} frame={frame} color="black" />
        <ReplayControls {...playback} />
        <p class="replay-caption">
          <span class="muted">{replay.at(at, plies)}</span> {said}
        </p>
        <p class="hint replay-keys">{replay.keys}</p>
      </section>
      <div class="replay-side">
        <div class="column">
          <ResultPanel record={record} />
          <a class="button" href={address({ screen: "analysis", start: "", moves: movesTo(record.plies, at) })}>
            {text.value.analysis.open}
          </a>
          <ProgressPanel
            points={points}
            plies={record.plies}
            names={names}
            at={at}
            mistakes={[...losses.keys()]}
            choose={go}
          />
          <MistakesPanel state={state} start={start} ply={at - 1} />
        </div>
        <div class="column">
          <MoveList plies={record.plies} at={at} losses={losses} choose={go} />
          <SharePanel
            open
            route={{ screen: "game", gameId: record.gameId, ply: at }}
            title={replay.title(names.black, names.white)}
            name={record.gameId}
            picture={pictures[at] as Picture}
            pictures={pictures}
          />
          <ExportPanel record={record} />
        </div>
      </div>
    </div>
  );
}

/** One player's name and number of discs. */
function Side({ record, frame, color }: { record: GameRecord; frame: Frame; color: Color }) {
  const { side, game } = text.value;
  return (
    <div class="player-bar">
      <span class={`chip large-chip ${color}`} aria-hidden="true" />
      <span class="visually-hidden">{side[color]}: </span>
      <div class="player-who">
        <strong>
          <ParticipantLink of={record[color]} />
        </strong>
      </div>
      <span class="discs" title={game.discs}>
        <span class="visually-hidden">{game.discs}: </span>
        {count(frame.board, color)}
      </span>
    </div>
  );
}

function isMistake({ loss }: MoveAnalysis): boolean {
  return loss >= MISTAKE;
}

/** The last ply in words. */
function caption(record: GameRecord, { mover, square, flipped }: Frame, ply: Ply | undefined): string {
  const { game, replay } = text.value;
  if (!mover || !ply) return replay.start;
  const who = participantName(text.value, record[mover]);
  const what = square === undefined ? game.passes(who) : game.played(who, squareName(square), flipped.length);
  return ply.spent && !ply.opening ? `${what} ${replay.spent((milliseconds(ply.spent) / 1000).toFixed(1))}` : what;
}
