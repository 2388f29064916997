import { text } from "../text/text";

export function CreateScreen() {
  return <h1>{text.value.create.title}</h1>;
}
