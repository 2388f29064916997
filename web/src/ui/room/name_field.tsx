import { lastName, session } from "../../state/session";
import { text } from "../../text/text";

/** The field "name" of a form by which a visitor joins a room; nothing for those who have a name. */
export function NameField() {
  const { logIn, visitor } = text.value;
  if (session.value) return null;
  return (
    <label class="field">
      <span>{logIn.name}</span>
      <input
        name="name"
        maxLength={24}
        autoComplete="nickname"
        placeholder={visitor.playAs}
        defaultValue={lastName.value}
      />
    </label>
  );
}
