-- The search reports of the game's AIs, in the stored form of room/stored; null without any.
ALTER TABLE games ADD COLUMN thoughts BLOB;
