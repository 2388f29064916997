-- The CRC-32 of the other values of a game but those of the explorer, by which a changed one is noticed. Null in rows of earlier
-- versions: a copy or a repair gives them one, while a migration would read all games, and fail where one is damaged.
ALTER TABLE games ADD COLUMN checksum INTEGER;
