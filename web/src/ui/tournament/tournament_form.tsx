import { useEffect, useRef } from "preact/hooks";
import type { Refusal } from "../../api/refusal";
import { type Ai, isOffered, offeredOpponents } from "../../room/opponent";
import { serverInfo } from "../../state/server_info";
import { aiName } from "../../text/ai_name";
import { refusalText, text } from "../../text/text";
import { type Draft, fieldOf, PLAYOFFS } from "../../tournament/draft";
import { SegmentedControl } from "../control/segmented_control";

interface FormProps {
  draft: Draft;
  change: (draft: Draft) => void;
  /** Why the settings were refused; shown at the field that the refusal names. */
  refused: Refusal | undefined;
  /** Whether the tournament exists: its password stays. */
  exists?: boolean;
}

type KeysOf<T> = { [K in keyof Draft]-?: Draft[K] extends T ? K : never }[keyof Draft];
type NumberKey = KeysOf<number>;
type CheckKey = KeysOf<boolean>;

/** The settings of a tournament that has not started. */
export function TournamentForm(props: FormProps) {
  const { draft, change, refused } = props;
  const { form } = text.value.tournament;
  const fields = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (refused) fields.current?.querySelector<HTMLElement>("[aria-invalid='true']")?.focus();
  }, [refused]);
  return (
    <div ref={fields} class="stack">
      <section class="panel">
        <label class="field">
          <span>{form.name}</span>
          <input
            value={draft.name}
            required
            maxLength={serverInfo.value?.limits?.roomNameCharacters ?? 40}
            aria-invalid={isWrong(props, "name")}
            onInput={(event) => change({ ...draft, name: event.currentTarget.value })}
          />
          <Why {...props} of="name" />
        </label>
        <FormatFields {...props} />
      </section>
      <GameFields {...props} />
      <EntryFields {...props} />
      <AdvancedFields {...props} />
    </div>
  );
}

function FormatFields(props: FormProps) {
  const { draft, change } = props;
  const { form } = text.value.tournament;
  return (
    <>
      <SegmentedControl
        label={form.format}
        value={draft.format}
        choose={(format) => change({ ...draft, format })}
        options={[
          ["swiss", form.swiss],
          ["allPlayAll", form.allPlayAll],
          ["arena", form.arena],
        ]}
      />
      <div class="pair">
        {draft.format === "swiss" && (
          <NumberField {...props} of="rounds" label={form.rounds} least={draft.playoff > 0 ? 0 : 1} most={99} />
        )}
        {draft.format === "allPlayAll" && (
          <NumberField {...props} of="cycles" label={form.cycles} least={1} most={100} />
        )}
        {draft.format === "arena" && (
          <NumberField {...props} of="minutes" label={form.minutes} least={1} most={44_640} />
        )}
        {draft.format !== "arena" && <PlayoffField {...props} />}
      </div>
    </>
  );
}

function PlayoffField(props: FormProps) {
  const { draft, change } = props;
  const { form } = text.value.tournament;
  return (
    <label class="field">
      <span>{form.playoff}</span>
      <select
        value={String(draft.playoff)}
        aria-invalid={isWrong(props, "playoff")}
        onChange={(event) => change({ ...draft, playoff: Number(event.currentTarget.value) })}
      >
        {PLAYOFFS.map((size) => (
          <option key={size} value={String(size)}>
            {size === 0 ? form.noPlayoff : form.best(size)}
          </option>
        ))}
      </select>
      <Why {...props} of="playoff" />
    </label>
  );
}

/** The clock, and the number of games, as in the form for a room. */
function GameFields(props: FormProps) {
  const { totalMinutes } = props.draft;
  const { create } = text.value;
  const { form } = text.value.tournament;
  const limit = totalMinutes > 0 ? { hint: create.zero, least: 0 } : { least: 1 };
  return (
    <section class="panel">
      <div class="pair">
        <NumberField {...props} of="totalMinutes" label={create.total} hint={create.zero} most={1440} step={0.5} />
        <NumberField {...props} of="incrementSeconds" label={create.increment} most={3600} />
        <NumberField {...props} of="moveSeconds" label={create.moveLimit} {...limit} most={86_400} />
        <NumberField
          {...props}
          of="games"
          label={form.games}
          least={1}
          most={serverInfo.value?.limits?.gamesPerSeries ?? 1000}
        />
      </div>
      <Check {...props} of="rated" label={create.rated} />
    </section>
  );
}

/** Who may join. */
function EntryFields(props: FormProps) {
  const { draft, change } = props;
  const { create, stats } = text.value;
  const { form } = text.value.tournament;
  return (
    <section class="panel">
      <fieldset class="checks">
        <legend>{form.admits}</legend>
        <Check {...props} of="people" label={stats.humans} />
        <Check {...props} of="bots" label={stats.bots} />
        <Why {...props} of="people" />
      </fieldset>
      <div class="pair">
        <NumberField {...props} of="minRating" label={form.minRating} hint={create.zero} most={MOST_RATING} />
        <NumberField {...props} of="maxRating" label={form.maxRating} hint={create.zero} most={MOST_RATING} />
        {!props.exists && (
          <label class="field">
            <span>
              {create.password} <small>({create.passwordWhy})</small>
            </span>
            <input
              type="password"
              autoComplete="new-password"
              value={draft.password}
              aria-invalid={isWrong(props, "password")}
              onInput={(event) => change({ ...draft, password: event.currentTarget.value })}
            />
            <Why {...props} of="password" />
          </label>
        )}
      </div>
    </section>
  );
}

/** What most tournaments leave as it is; unfolded if the server refuses one of it. */
function AdvancedFields(props: FormProps) {
  const { draft, change } = props;
  const { form } = text.value.tournament;
  const isRefused = ADVANCED.some((of) => isWrong(props, of));
  return (
    <details class="panel" open={isRefused || undefined}>
      <summary>{text.value.create.advanced}</summary>
      <div class="pair">
        <label class="field">
          <span>
            {form.startsAt} <small>({form.startsAtWhy})</small>
          </span>
          <input
            type="datetime-local"
            value={draft.startsAt}
            aria-invalid={isWrong(props, "startsAt")}
            onInput={(event) => change({ ...draft, startsAt: event.currentTarget.value })}
          />
          <Why {...props} of="startsAt" />
        </label>
        <NumberField {...props} of="noShowSeconds" label={form.noShow} least={10} most={86_400} />
        <NumberField {...props} of="maxEntrants" label={form.maxEntrants} least={2} most={1000} />
        <NumberField {...props} of="maxRunning" label={form.maxRunning} least={1} most={500} />
        {draft.format === "swiss" && <ByeField {...props} />}
      </div>
    </details>
  );
}

const ADVANCED = ["startsAt", "noShowSeconds", "maxEntrants", "maxRunning", "byeAi"] as const;

function ByeField(props: FormProps) {
  const { draft, change } = props;
  const { form } = text.value.tournament;
  const offered: Ai[] = offeredOpponents(serverInfo.value?.aiKinds ?? []);
  const choices = draft.byeAi && !isOffered(draft.byeAi) ? [...offered, draft.byeAi] : offered;
  const choose = (name: string) => change({ ...draft, byeAi: choices.find((ai) => aiName(ai) === name) });
  return (
    <label class="field">
      <span>{form.byeAi}</span>
      <select
        value={draft.byeAi ? aiName(draft.byeAi) : ""}
        aria-invalid={isWrong(props, "byeAi")}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">{form.noByeAi}</option>
        {choices.map((ai) => (
          <option key={aiName(ai)} value={aiName(ai)}>
            {aiName(ai)}
          </option>
        ))}
      </select>
      <Why {...props} of="byeAi" />
    </label>
  );
}

const MOST_RATING = 4000;

interface NumberFieldProps extends FormProps {
  of: NumberKey;
  label: string;
  most: number;
  least?: number;
  step?: number;
  hint?: string;
}

function NumberField({ of, label, most, least = 0, step = 1, hint, ...form }: NumberFieldProps) {
  const { draft, change } = form;
  return (
    <label class="field">
      <span>
        {label} {hint && <small>({hint})</small>}
      </span>
      <input
        type="number"
        min={least}
        max={most}
        step={step}
        required
        value={draft[of]}
        aria-invalid={isWrong(form, of)}
        onInput={(event) => change({ ...draft, [of]: Number(event.currentTarget.value) })}
      />
      <Why {...form} of={of} />
    </label>
  );
}

function Check({ of, label, ...form }: FormProps & { of: CheckKey; label: string }) {
  const { draft, change } = form;
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={draft[of]}
        aria-invalid={isWrong(form, of)}
        onChange={(event) => change({ ...draft, [of]: event.currentTarget.checked })}
      />
      <span>{label}</span>
    </label>
  );
}

/** Why the server refuses the field, if it does. */
function Why({ of, refused }: Pick<FormProps, "refused"> & { of: keyof Draft }) {
  if (!refused || fieldOf(refused.field) !== of) return null;
  return (
    <span class="field-error" role="alert">
      {refusalText(text.value, refused)}
    </span>
  );
}

function isWrong({ refused }: Pick<FormProps, "refused">, of: keyof Draft): boolean {
  return refused !== undefined && fieldOf(refused.field) === of;
}
