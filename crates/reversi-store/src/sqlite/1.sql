-- Open rooms. An event is never changed; those that a state has taken in are removed.
-- Both are in the stored form of room/stored: a byte for its version, then a message of Protocol Buffers.
CREATE TABLE states (
    room INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,               -- the last event in it
    state BLOB NOT NULL
);
CREATE TABLE events (
    room INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    event BLOB NOT NULL,
    PRIMARY KEY (room, seq)
) WITHOUT ROWID;

-- One row: the last moment at which the server is known to have lived.
CREATE TABLE alive (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    us INTEGER NOT NULL                 -- microseconds since 1970-01-01 UTC, as in all columns that end so
);

-- Players. Those who have a token can come back with it; the others are here because of their games.
CREATE TABLE players (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,                 -- human or bot
    seats INTEGER NOT NULL,             -- how many they may hold at a time
    token BLOB,                         -- SHA-256 of it
    seen_us INTEGER NOT NULL,
    seen TEXT AS (datetime(seen_us / 1000000, 'unixepoch'))
);
CREATE INDEX players_with_token ON players (id) WHERE token IS NOT NULL;

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
    reason TEXT NOT NULL,               -- discs, resignation, timeout, left, kicked, agreed, aborted or server
    black_discs INTEGER NOT NULL,
    white_discs INTEGER NOT NULL,
    transcript TEXT NOT NULL,           -- f5d6c3..., without passes
    times_ms TEXT NOT NULL,             -- of each disc placed, separated by spaces
    opening INTEGER NOT NULL,           -- plies that the room's opening made, passes among them
    move_limit_us INTEGER,
    total_time_us INTEGER,
    increment_us INTEGER NOT NULL,
    rated INTEGER NOT NULL,
    private INTEGER NOT NULL
);
CREATE INDEX games_by_end ON games (ended_us, id);
CREATE INDEX games_of_room ON games (room, ended_us, id);
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
