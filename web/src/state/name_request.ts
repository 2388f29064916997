import { signal } from "@preact/signals";

/** Answers whether the visitor has logged in. */
export type NameRequest = (loggedIn: boolean) => void;

/** Set while the page asks the visitor for a name. */
export const nameRequest = signal<NameRequest | undefined>();

/** Asks the visitor for a name. Returns whether the visitor has logged in. */
export function askName(): Promise<boolean> {
  nameRequest.peek()?.(false);
  return new Promise((resolve) => {
    nameRequest.value = (loggedIn) => {
      nameRequest.value = undefined;
      resolve(loggedIn);
    };
  });
}
