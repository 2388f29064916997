-- The ratings of the players before the game, rounded; null without one. The usual name of the opening. Whether the explorer
-- has counted the game.
ALTER TABLE games ADD COLUMN black_rating INTEGER;
ALTER TABLE games ADD COLUMN white_rating INTEGER;
ALTER TABLE games ADD COLUMN opening_name TEXT;
ALTER TABLE games ADD COLUMN explored INTEGER NOT NULL DEFAULT 0;
CREATE INDEX games_of_opening ON games (opening_name, ended_us, id) WHERE opening_name IS NOT NULL;
CREATE INDEX unexplored_games ON games (ended_us, id) WHERE explored = 0;
-- The opening explorer: the moves of public games that count.
CREATE TABLE explored_moves (
    position BLOB NOT NULL,             -- of the side to move and of the other, eight bytes each, in the least image
    square INTEGER NOT NULL,            -- in that image, a1 is 0, b1 is 1
    mover INTEGER NOT NULL,             -- 64 for a bot, 128 for an AI; plus 1 + rating / 50, or 0 without a rating
    won INTEGER NOT NULL,               -- by the mover
    drawn INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    latest BLOB NOT NULL,               -- rowids of the latest such games, eight bytes each; they may be gone, or others
    PRIMARY KEY (position, square, mover)
) WITHOUT ROWID;
-- The order of the leaderboard.
CREATE INDEX standings_by_rating ON standings (rating) WHERE rating IS NOT NULL;
