/** The strength of the computer opponents that are offered first, by name, from the weakest to the strongest. */
export const opponent = {
  "random 1": "Good for a first game.",
  "expert 1": "Plays two of three moves at random.",
  "expert 3": "Plays one of three moves at random, and the others well.",
  "expert 6": "Plays well, with a mistake now and then.",
  "expert 9": "Plays no random moves and looks some moves ahead.",
  "expert 11": "Examines up to 10,000 positions for each move.",
  "expert 13": "Examines up to 160,000 positions for each move.",
  "expert 16": "Examines up to 12 million positions for each move.",
};

export type OpponentTexts = typeof opponent;
