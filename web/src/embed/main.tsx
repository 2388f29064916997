import { render } from "preact";
import "../style/embed.css";
import "../state/preference";
import { Embed } from "./embed";

const board = document.getElementById("board");
if (board) render(<Embed />, board);
