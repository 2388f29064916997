import { address } from "./route";
import { AiScreen } from "./screen/ai";
import { AisScreen } from "./screen/ais";
import { AnalysisScreen } from "./screen/analysis";
import { CreateRoomScreen } from "./screen/create_room";
import { ExploreScreen } from "./screen/explore";
import { HomeScreen } from "./screen/home";
import { JoinRoomScreen } from "./screen/join_room";
import { LogInScreen } from "./screen/log_in";
import { OpenInOtherTabScreen } from "./screen/open_in_other_tab";
import { PlayerScreen } from "./screen/player";
import { RecordsScreen } from "./screen/records";
import { ReplayScreen } from "./screen/replay";
import { RoomScreen } from "./screen/room";
import { RulesScreen } from "./screen/rules";
import { RoomsScreen } from "./screen/rooms";
import { LiveGamesScreen } from "./screen/live_games";
import { route } from "./state/location";
import { session } from "./state/session";
import { openInOtherTab } from "./state/stream/turn_stream";
import { Shell } from "./ui/shell/shell";

export function App() {
  return (
    <Shell>
      <Screen />
    </Shell>
  );
}

/** The key of each screen resets its state when its subject or the player changes. */
function Screen() {
  const player = session.value;
  // A visitor may look at everything; what needs a name asks for it.
  const token = player?.token ?? "";
  if (openInOtherTab.value) return <OpenInOtherTabScreen />;
  const to = route.value;
  switch (to.screen) {
    case "rooms":
      return <RoomsScreen key={token} />;
    case "create":
      return <CreateRoomScreen />;
    case "room":
      return <RoomScreen key={`${to.roomId} ${token}`} roomId={to.roomId} />;
    case "join":
      return <JoinRoomScreen key={to.joinCode} joinCode={to.joinCode} />;
    case "game":
      return <ReplayScreen key={`${address(to)} ${token}`} gameId={to.gameId} ply={to.ply ?? 0} />;
    case "player":
      return <PlayerScreen key={`${to.playerId} ${token}`} playerId={to.playerId} />;
    case "ai":
      return <AiScreen key={`${to.kind} ${to.level} ${token}`} kind={to.kind} level={to.level} />;
    case "ais":
      return <AisScreen key={token} />;
    case "analysis":
      return <AnalysisScreen start={to.start} moves={to.moves} />;
    case "explore":
      return <ExploreScreen moves={to.moves} />;
    case "records":
      return <RecordsScreen key={token} />;
    case "rules":
      return <RulesScreen />;
    case "tv":
      return <LiveGamesScreen key={token} />;
    case "home":
      return player ? <HomeScreen key={token} /> : <LogInScreen />;
  }
}
