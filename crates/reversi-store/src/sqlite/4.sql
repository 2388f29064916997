-- The name in lower case, by which former players are found, and whether its holder has claimed it.
ALTER TABLE players ADD COLUMN name_key TEXT NOT NULL DEFAULT '';
ALTER TABLE players ADD COLUMN claimed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX players_by_name ON players (name_key, seen_us);
