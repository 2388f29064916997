-- The tables of version 10. They never change: a later column of games is in game_row.rs.

-- Open rooms. States and events are in the stored form of room/stored: a byte for its version, then a message of Protocol
-- Buffers.
CREATE TABLE states (
    room INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,               -- the last event in it
    state BLOB NOT NULL
);
-- Events of open rooms, in runs: those that were moved out of the log together lie in one row, up to 256, in the form
-- that the log has. A run is never changed; those that a state has taken in are removed.
CREATE TABLE runs (
    room INTEGER NOT NULL,
    last INTEGER NOT NULL,              -- the number of its last event
    events BLOB NOT NULL,
    PRIMARY KEY (room, last)
);
-- What was appended to rooms and is not in states and runs yet: a row for each commit, in their order. The rows are
-- moved there, and removed, when there are many of them; whatever opens the file does that first. An entry whose room
-- has its events already is ignored.
--   row:    version | entries | checksum      a byte (1), and the CRC-32 of all before it, least byte first
--   entry:  room | length | events            eight bytes, least first, and a varint; without events the room has closed
--   event:  number | length | event           two varints, and the stored form as in events
-- An entry that begins no later than those before it of its room stands for all of them. A damaged row is kept with a
-- negative id, for `reversi doctor`.
CREATE TABLE log (
    id INTEGER PRIMARY KEY,
    entries BLOB NOT NULL
);

-- One row: the last recorded time at which the server ran.
CREATE TABLE alive (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    us INTEGER NOT NULL                 -- microseconds since 1970-01-01 UTC, as in all columns of times that end so
);

-- Players. Those who have a token can come back with it; the others are here because of their games.
CREATE TABLE players (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,                 -- human or bot
    seats INTEGER NOT NULL,             -- how many they may hold at a time
    token BLOB,                         -- SHA-256 of it
    seen_us INTEGER NOT NULL,
    seen TEXT AS (datetime(seen_us / 1000000, 'unixepoch')),
    name_key TEXT NOT NULL DEFAULT '',  -- the name in lower case, by which former players are found
    claimed INTEGER NOT NULL DEFAULT 0  -- whether its holder has claimed the name
);
CREATE INDEX players_with_token ON players (id) WHERE token IS NOT NULL;
CREATE INDEX players_by_name ON players (name_key, seen_us);

-- Finished games. A contestant is a player's id, or an AI as kind:level.
CREATE TABLE games (
    id TEXT PRIMARY KEY,                -- the room, and the number of the game in it
    room TEXT NOT NULL,
    room_name TEXT NOT NULL,
    black TEXT NOT NULL,
    black_name TEXT NOT NULL,
    black_kind TEXT NOT NULL,           -- human, bot or ai
    white TEXT NOT NULL,
    white_name TEXT NOT NULL,
    white_kind TEXT NOT NULL,
    started_us INTEGER NOT NULL,
    ended_us INTEGER NOT NULL,
    started TEXT AS (datetime(started_us / 1000000, 'unixepoch')),
    ended TEXT AS (datetime(ended_us / 1000000, 'unixepoch')),
    winner TEXT NOT NULL,               -- black, white, or none for a draw and for what does not count
    reason TEXT NOT NULL,               -- discs, resignation, timeout, left, kicked, agreed, aborted, aborted_by_black,
                                        -- aborted_by_white, aborted_by_owner, aborted_by_admin or server; in an imported
                                        -- game that its moves do not end with black's lead, as in: agreed +12
    black_discs INTEGER NOT NULL,
    white_discs INTEGER NOT NULL,
    transcript TEXT NOT NULL,           -- f5d6c3..., without passes
    times_ms TEXT NOT NULL,             -- of each disc placed, separated by spaces
    opening INTEGER NOT NULL,           -- plies that the room's opening made, passes among them
    move_limit_us INTEGER,
    total_time_us INTEGER,
    increment_us INTEGER NOT NULL,
    rated INTEGER NOT NULL,
    private INTEGER NOT NULL,
    black_rating INTEGER,               -- before the game, rounded; null without one
    white_rating INTEGER,
    opening_name TEXT,                  -- the usual one
    explored INTEGER NOT NULL DEFAULT 0, -- whether the explorer has counted the game
    thoughts BLOB,                      -- search reports of AIs, in the stored form of room/stored; null without any
    checksum INTEGER                    -- the CRC-32 of the other values but those of the explorer, by which a changed one is
                                        -- noticed; null in rows of earlier versions, until a copy or a repair
);
CREATE INDEX games_by_end ON games (ended_us, id);
CREATE INDEX games_of_room ON games (room, ended_us, id);
CREATE INDEX games_of_opening ON games (opening_name, ended_us, id) WHERE opening_name IS NOT NULL;
CREATE INDEX unexplored_games ON games (ended_us, id) WHERE explored = 0;
-- Oldest first: the order in which a bound on the archive removes them.
CREATE INDEX unrated_games ON games (ended_us, id) WHERE rated = 0;
-- One row: the number of rows in games, which the triggers keep right, so that nobody has to count them.
CREATE TABLE archive (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    games INTEGER NOT NULL
);
INSERT INTO archive (id, games) VALUES (1, 0);
CREATE TRIGGER game_added AFTER INSERT ON games BEGIN UPDATE archive SET games = games + 1; END;
CREATE TRIGGER game_removed AFTER DELETE ON games BEGIN UPDATE archive SET games = games - 1; END;
CREATE TABLE played (
    contestant TEXT NOT NULL,
    ended_us INTEGER NOT NULL,
    game TEXT NOT NULL,
    PRIMARY KEY (contestant, ended_us, game)
) WITHOUT ROWID;

-- What contestants made of all games that count, by the kind of opponent, and their Glicko-2 ratings.
CREATE TABLE standings (
    contestant TEXT PRIMARY KEY,
    name TEXT NOT NULL,                 -- the latest
    won_against_humans INTEGER NOT NULL,
    drawn_against_humans INTEGER NOT NULL,
    lost_against_humans INTEGER NOT NULL,
    won_against_bots INTEGER NOT NULL,
    drawn_against_bots INTEGER NOT NULL,
    lost_against_bots INTEGER NOT NULL,
    won_against_ais INTEGER NOT NULL,
    drawn_against_ais INTEGER NOT NULL,
    lost_against_ais INTEGER NOT NULL,
    won INTEGER AS (won_against_humans + won_against_bots + won_against_ais),
    drawn INTEGER AS (drawn_against_humans + drawn_against_bots + drawn_against_ais),
    lost INTEGER AS (lost_against_humans + lost_against_bots + lost_against_ais),
    played INTEGER AS (won + drawn + lost),
    rating REAL,                        -- none before the first rated game
    deviation REAL,
    volatility REAL,
    rated_games INTEGER NOT NULL
) WITHOUT ROWID;
-- The order of the leaderboard.
CREATE INDEX standings_by_rating ON standings (rating) WHERE rating IS NOT NULL;

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

-- Bans by an administrator.
CREATE TABLE bans (
    subject TEXT PRIMARY KEY NOT NULL,  -- as: name Ada, or: network 192.0.2.0/24
    reason TEXT NOT NULL,               -- empty for none
    since_us INTEGER NOT NULL,
    until_us INTEGER                    -- null for ever
);
