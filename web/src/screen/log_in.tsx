import { START } from "../game/board";
import { address } from "../route";
import { text } from "../text/text";
import { BoardGrid } from "../ui/board/board_grid";
import { LogInForm } from "../ui/shell/log_in_form";

/** The first screen of a visitor: log in, or look at games. */
export function LogInScreen() {
  const { logIn: texts, game, rules, visitor } = text.value;
  return (
    <div class="log-in">
      <section>
        <h1>{texts.title}</h1>
        <p class="lead">{texts.lead}</p>
        <LogInForm />
        <a href={address({ screen: "tv" })}>{visitor.look}</a>
        <a href={address({ screen: "rules" })}>{rules.title}</a>
      </section>
      <div class="log-in-board">
        <BoardGrid board={START} label={game.board} />
      </div>
    </div>
  );
}
