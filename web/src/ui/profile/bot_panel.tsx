import { instant } from "../../game/clock";
import type { GetMeResponse, PlayerProblem } from "../../gen/reversi/v1/session_pb";
import { ErrorReason } from "../../gen/reversi/v1/types_pb";
import { SEATS } from "../../room/seat";
import { address } from "../../route";
import { type BotState, isTokenRefused } from "../../state/bots/bots";
import { dateTime } from "../../text/date_time";
import { refusalText, text } from "../../text/text";

/** What the server says of one bot, without a state while it is asked for the first time. */
export function BotPanel({ state, remove }: { state: BotState | undefined; remove: () => void }) {
  const { bots, connection } = text.value;
  const { me, refused } = state ?? {};
  const name = me?.player?.displayName;
  const isInvalid = state !== undefined && isTokenRefused(state);
  return (
    <section class="panel">
      <div class="title-row">
        <h2 class="profile-name">
          {me?.player ? <a href={address({ screen: "player", playerId: me.player.playerId })}>{name}</a> : bots.unknown}
        </h2>
        <button type="button" class="small" aria-label={bots.removeName(name ?? bots.unknown)} onClick={remove}>
          {bots.remove}
        </button>
      </div>
      {!me && !refused && <p class="muted">{connection.loading}</p>}
      {refused && (
        <p class="field-error" role="alert">
          {isInvalid ? bots.invalid : refusalText(text.value, refused)}
        </p>
      )}
      {me && !isInvalid && <Activity of={me} />}
      {me && <Problems of={me} />}
    </section>
  );
}

/** What the bot does now. */
function Activity({ of: { stats, turnsOpen, seats, seatLimit, gameIds } }: { of: GetMeResponse }) {
  const { bots, stats: texts, side } = text.value;
  const rating = stats?.rating;
  return (
    <>
      <p class="facts">
        <span class={`tag${turnsOpen ? " good" : ""}`}>{turnsOpen ? bots.reads : bots.readsNot}</span>
        <span>
          {rating ? `${texts.rating} ${Math.round(rating.value)}${rating.provisional ? "?" : ""}` : texts.unrated}
        </span>
        <span>{bots.games(gameIds.length)}</span>
        <span>{bots.seats(seats.length, seatLimit)}</span>
      </p>
      {seats.length > 0 && (
        <ul class="bot-seats">
          {seats.map(({ roomId, seat }) => (
            <li key={`${roomId} ${seat}`}>
              <a href={address({ screen: "room", roomId })}>{bots.seat(side[SEATS[seat] ?? "black"], roomId)}</a>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Problems({ of: { problems, gameIds } }: { of: GetMeResponse }) {
  const { bots } = text.value;
  if (problems.length === 0) return <p class="muted">{bots.noProblems}</p>;
  return (
    <>
      <h3>{bots.problems}</h3>
      <ul class="bot-problems">
        {problems.map((problem) => (
          <Problem
            key={`${problem.kind.case} ${problem.kind.value} ${problem.method}`}
            of={problem}
            isOver={!gameIds.includes(problem.gameId)}
          />
        ))}
      </ul>
    </>
  );
}

/** One kind of problem. The server says it in English. A game that is not over has no page yet. */
function Problem({ of: { at, kind, method, message, gameId, count }, isOver }: { of: PlayerProblem; isOver: boolean }) {
  const { bots } = text.value;
  return (
    <li>
      <p>
        <strong>{kind.case === "lost" ? (bots.lost[kind.value] ?? bots.lostOtherwise) : bots.refused}</strong>{" "}
        {kind.case === "refused" && (
          <code class="profile-name">
            {ErrorReason[kind.value]} {method}
          </code>
        )}
      </p>
      <p lang="en">{message}</p>
      <p class="muted facts">
        <span>{at && dateTime(instant(at))}</span>
        <span>{bots.times(count)}</span>
        {gameId && isOver && <a href={address({ screen: "game", gameId })}>{bots.game}</a>}
      </p>
    </li>
  );
}
