import { render } from "preact";
import "./style/base.css";
import "./style/control.css";
import "./style/shell.css";
import "./style/board.css";
import "./style/screen.css";
import "./style/room.css";
import "./style/replay.css";
import "./style/profile.css";
import "./style/live_games.css";
import "./style/player.css";
import "./style/progress.css";
import { App } from "./app";
import { watchTurns } from "./state/stream/turn_stream";
import { handlePlayerEvent } from "./state/player_events";

watchTurns(handlePlayerEvent);
const page = document.getElementById("page");
if (page) render(<App />, page);
