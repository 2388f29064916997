import { render } from "preact";
import "./style/base.css";
import "./style/control.css";
import "./style/shell.css";
import "./style/board.css";
import "./style/screen.css";
import "./style/room.css";
import "./style/record.css";
import "./style/wall.css";
import "./style/player.css";
import "./style/course.css";
import { App } from "./app";
import { listenForTurns } from "./state/turns";
import { hearPlay } from "./state/calling";

listenForTurns(hearPlay);
const page = document.getElementById("page");
if (page) render(<App />, page);
