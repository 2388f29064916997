-- One row: the number of rows in games, which the triggers keep right, so that nobody has to count them.
CREATE TABLE archive (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    games INTEGER NOT NULL
);
INSERT INTO archive (id, games) SELECT 1, count(*) FROM games;
CREATE TRIGGER game_added AFTER INSERT ON games BEGIN UPDATE archive SET games = games + 1; END;
CREATE TRIGGER game_removed AFTER DELETE ON games BEGIN UPDATE archive SET games = games - 1; END;
-- The unrated games, oldest first: the order in which a bound on the archive removes them.
CREATE INDEX unrated_games ON games (ended_us, id) WHERE rated = 0;
