import { render } from "preact";
import "./style/control.css";
import "./style/shell.css";
import "./style/archive.css";
import "./style/board.css";
import "./style/board_view.css";
import "./style/screen.css";
import "./style/room.css";
import "./style/replay.css";
import "./style/profile.css";
import "./style/live_games.css";
import "./style/player.css";
import "./style/progress.css";
import "./style/tournament.css";
import { App } from "./app";
import { showLanguage } from "./state/page/language";
import { watchTurns } from "./state/stream/turn_stream";
import { keepForOffline } from "./state/page/offline";
import { handlePlayerEvent } from "./state/player_events";
import { language } from "./text/text";

/** No top-level await: files with texts import from this one, and would wait for it in turn. */
async function start(): Promise<void> {
  watchTurns(handlePlayerEvent);
  // Until the texts are there, index.html shows a page without texts.
  await showLanguage(language.peek());
  const page = document.getElementById("page");
  page?.replaceChildren();
  if (page) render(<App />, page);
  keepForOffline();
}

void start();
