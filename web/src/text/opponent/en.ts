/** Name and way of play of each named computer opponent, from the weakest to the strongest. */
export const opponent = {
  beginner: { name: "Beginner", summary: "Plays any legal move: good for a first game." },
  learner: { name: "Learner", summary: "Plays two of three moves at random." },
  casual: { name: "Casual player", summary: "Plays one of three moves at random, and the others well." },
  club: { name: "Club player", summary: "Plays well, with a mistake now and then." },
  strong: { name: "Strong player", summary: "Plays no random moves and looks some moves ahead." },
  tournament: { name: "Tournament player", summary: "Examines up to 10,000 positions for each move." },
  master: { name: "Master", summary: "Examines up to 160,000 positions for each move." },
  champion: { name: "Champion", summary: "Examines up to 12 million positions for each move." },
};

export type OpponentTexts = typeof opponent;
