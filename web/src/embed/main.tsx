import { render } from "preact";
import "../style/embed.css";
import "../state/preference";
import "../state/page/theme";
import { language, loadTexts } from "../text/text";
import { Embed } from "./embed";

const board = document.getElementById("board");
const show = () => board && render(<Embed />, board);
// No top-level await: the texts import from the file that has this module, and would wait for its end. Without them the
// board is in English.
void loadTexts(language.peek()).then(show, show);
