import { render } from "preact";
import "../style/embed.css";
import "../state/preference";
import "../state/theme";
import { showLanguage } from "../state/language";
import { language } from "../text/text";
import { Embed } from "./embed";

await showLanguage(language.peek());
const board = document.getElementById("board");
if (board) render(<Embed />, board);
