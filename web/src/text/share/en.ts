/** Texts about links, pictures and embedded boards. */
export const share = {
  title: "Share",
  link: "Link",
  copy: "Copy",
  copied: "Copied.",
  notCopied: "The browser does not allow it. The text is selected: copy it by hand.",
  send: "Send…",
  image: "Picture of this position",
  animation: "Animated picture of the game",
  drawing: "The picture is drawn…",
  failed: "The browser could not make the picture.",
  embed: "Code for a board in another page",
  full: "Open on the server",
  noBoard: "This address shows no board.",
  noGame: "No game yet.",
};

export type ShareTexts = typeof share;
