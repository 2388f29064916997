import { render } from "preact";
import "../style/embed.css";
import "../state/preference";
import "../state/page/theme";
import { showLanguage } from "../state/page/language";
import { language } from "../text/text";
import { Embed } from "./embed";

const board = document.getElementById("board");
// No top-level await: the texts import from the file that has this module, and would wait for its end.
void showLanguage(language.peek()).then(() => board && render(<Embed />, board));
