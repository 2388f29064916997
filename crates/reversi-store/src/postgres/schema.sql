-- The tables of version 10. They never change: a later column of games is in game_row.rs.
-- Columns that end in us are times, in microseconds since 1970-01-01 UTC: to_timestamp(ended_us / 1e6). The least number is an
-- unknown time. But move_limit_us, total_time_us, increment_us and ahead_us are durations. Ids and names of contestants sort
-- as bytes, as in SQLite.

-- One row: the version of these tables.
CREATE TABLE reversi (
    id int PRIMARY KEY CHECK (id = 1),
    version int NOT NULL
);
INSERT INTO reversi (id, version) VALUES (1, 0);

-- The servers and commands that use these tables. Each renews its lease over a connection on which it also holds an
-- advisory lock. One that no longer does is declared dead: its rows here and in fence are deleted, and its shards are free.
-- Nodes with an address share the shards; one without takes all or none.
CREATE TABLE node (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,     -- never used again
    host text NOT NULL,                 -- the address from which it is connected; empty for a UNIX socket
    listens text,                       -- where it serves players; null for a command
    address text,                       -- where it serves other nodes; null if it does not
    role text NOT NULL,                 -- always rooms: unused
    draining boolean NOT NULL DEFAULT false, -- whether it ends, and gives its shards to others; anyone may ask for it by this
    renewed timestamptz NOT NULL,       -- when the lease was last renewed
    until timestamptz NOT NULL,         -- when it ends
    since timestamptz NOT NULL          -- since when it was renewed in time, over one connection
) WITH (fillfactor = 10);

-- What permits a node to write. Each of its transactions locks the row (FOR SHARE) until it is committed, so that who deletes
-- it waits for a write in progress, and every later one finds no row. A new connection raises the session: writes on their
-- way over an earlier one are refused.
CREATE TABLE fence (
    node bigint PRIMARY KEY REFERENCES node,
    session bigint NOT NULL,
    backend int,                        -- the process of the database that serves that connection
    alive_us bigint,                    -- the last mark of the node, by its own clock
    alive_at timestamptz                -- when it was written, by the clock of this database
) WITH (fillfactor = 10);

-- Shards of the rooms: the highest 12 of the 60 bits of an id (id >> 48).
CREATE TABLE shard (
    id int PRIMARY KEY CHECK (id BETWEEN 0 AND 4095),
    node bigint REFERENCES node,        -- the only one that writes to its rooms; null for none
    version bigint NOT NULL DEFAULT 0,  -- higher with each new node
    changed timestamptz NOT NULL DEFAULT now(), -- when it got a node or a version, or was given back
    away_us bigint                      -- when an earlier node last lived, while clocks may have to be credited: by the clock of
                                        -- that node
) WITH (fillfactor = 50);
CREATE INDEX shards_of_node ON shard (node);
INSERT INTO shard (id) SELECT generate_series(0, 4095);

-- Open rooms. The tail has the events after the state, the newest first, in the stored form of room/stored, each with its
-- length in front as a varint. PostgreSQL logs what lies between the equal beginning and the equal end of an old and a new
-- row: a tail that grows in front costs 173 to 190 bytes of its log, one that grows behind 1,072.
CREATE TABLE room (
    id bigint PRIMARY KEY,
    code bigint NOT NULL,               -- by which it is joined
    seq bigint NOT NULL,                -- the last event
    tail bytea NOT NULL
) WITH (fillfactor = 50, toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE room ALTER tail SET STORAGE MAIN;
CREATE INDEX rooms_by_code ON room (code);
-- Rooms in which a player waits for any opponent, the first to be matched first. A match removes those that no longer do.
CREATE TABLE waiting (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    room bigint NOT NULL UNIQUE         -- not referenced: to close a room must not wait for a match
);
-- The node that matches players with them: one at a time, so that two players who come to two nodes at once meet.
CREATE TABLE matching (
    node bigint,
    until timestamptz NOT NULL
);
INSERT INTO matching (until) VALUES ('-infinity');
-- The members of open rooms. Written with the event that changes them.
CREATE TABLE member (
    player text COLLATE "C" NOT NULL,
    room bigint NOT NULL,               -- not referenced: only its node writes both
    seated boolean NOT NULL,            -- whether the player has a seat
    PRIMARY KEY (player, room)
);
CREATE INDEX members_of_room ON member (room);
-- Places that players are about to take, which count for their quotas as those in member do.
CREATE TABLE place_request (
    number bigint PRIMARY KEY,          -- random
    player text COLLATE "C" NOT NULL,
    room bigint NOT NULL,
    seat boolean NOT NULL,              -- a seat, or a membership
    until timestamptz NOT NULL          -- when it ends, if it is not released before
);
CREATE INDEX place_requests_of_player ON place_request (player);
CREATE INDEX place_requests_by_end ON place_request (until);
CREATE TABLE room_state (
    room bigint PRIMARY KEY REFERENCES room ON DELETE CASCADE,
    state bytea NOT NULL
);

-- Players. Those who have a token can come back with it; the others are here because of their games.
CREATE TABLE players (
    id text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    name_key text NOT NULL,             -- the name in lower case
    kind text NOT NULL,                 -- human or bot
    seats int NOT NULL,                 -- how many they may hold at a time
    token bytea,                        -- SHA-256 of it
    seen_us bigint NOT NULL,
    claimed boolean NOT NULL
);
CREATE INDEX players_with_token ON players (id) WHERE token IS NOT NULL;
CREATE INDEX players_by_token ON players (token) WHERE token IS NOT NULL;
CREATE INDEX players_by_seen ON players (claimed, seen_us) WHERE token IS NOT NULL;
CREATE INDEX players_by_name ON players (name_key, seen_us);

-- Finished games. A contestant is a player's id, or an AI as kind:level.
CREATE TABLE games (
    number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    id text COLLATE "C" PRIMARY KEY,    -- the room, and the number of the game in it
    room text NOT NULL,
    room_name text NOT NULL,
    black text NOT NULL,
    black_name text NOT NULL,
    black_kind text NOT NULL,           -- human, bot or ai
    black_rating int,                   -- before the game; null without one
    white text NOT NULL,
    white_name text NOT NULL,
    white_kind text NOT NULL,
    white_rating int,
    started_us bigint NOT NULL,
    ended_us bigint NOT NULL,
    winner text NOT NULL,               -- black, white, or none for a draw and for what does not count
    reason text NOT NULL,               -- discs, resignation, timeout, left, kicked, agreed, aborted, aborted_by_black,
                                        -- aborted_by_white, aborted_by_owner, aborted_by_admin or server; in an imported
                                        -- game that its moves do not end with black's lead, as in: agreed +12
    black_discs int NOT NULL,
    white_discs int NOT NULL,
    transcript text NOT NULL,           -- f5d6c3..., without passes
    times_ms text NOT NULL,             -- of each disc placed, separated by spaces
    opening int NOT NULL,               -- plies that the room's opening made, passes among them
    move_limit_us bigint,
    total_time_us bigint,
    increment_us bigint NOT NULL,
    rated boolean NOT NULL,
    private boolean NOT NULL,
    thoughts bytea,                     -- search reports of AIs, in the stored form of room/stored; null without any
    opening_name text,                  -- the usual one
    explored boolean NOT NULL DEFAULT false
);
CREATE INDEX games_by_end ON games (ended_us, id);
CREATE INDEX games_of_room ON games (room, ended_us, id);
CREATE INDEX games_of_opening ON games (opening_name, ended_us, id) WHERE opening_name IS NOT NULL;
CREATE INDEX unrated_games ON games (ended_us, id) WHERE NOT rated;
CREATE INDEX unexplored_games ON games (ended_us, id) WHERE NOT explored;
CREATE TABLE played (
    contestant text COLLATE "C" NOT NULL,
    ended_us bigint NOT NULL,
    game text COLLATE "C" NOT NULL,
    PRIMARY KEY (contestant, ended_us, game)
);

-- One row: the number of rows in games, since counting them is slow.
CREATE TABLE archive (
    id int PRIMARY KEY CHECK (id = 1),
    games bigint NOT NULL
);
INSERT INTO archive (id, games) VALUES (1, 0);

-- What contestants made of all games that count, by the kind of opponent, and their Glicko-2 ratings.
CREATE TABLE standings (
    contestant text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,                 -- the latest
    won_against_humans int NOT NULL,
    drawn_against_humans int NOT NULL,
    lost_against_humans int NOT NULL,
    won_against_bots int NOT NULL,
    drawn_against_bots int NOT NULL,
    lost_against_bots int NOT NULL,
    won_against_ais int NOT NULL,
    drawn_against_ais int NOT NULL,
    lost_against_ais int NOT NULL,
    won int GENERATED ALWAYS AS (won_against_humans + won_against_bots + won_against_ais) STORED,
    drawn int GENERATED ALWAYS AS (drawn_against_humans + drawn_against_bots + drawn_against_ais) STORED,
    lost int GENERATED ALWAYS AS (lost_against_humans + lost_against_bots + lost_against_ais) STORED,
    rating double precision,            -- none before the first rated game
    deviation double precision,
    volatility double precision,
    rated_games int NOT NULL
);
CREATE INDEX standings_by_rating ON standings (rating) WHERE rating IS NOT NULL;

-- The opening explorer: the moves of public games that count.
CREATE TABLE explored_moves (
    position bytea NOT NULL,            -- of the side to move and of the other, eight bytes each, in the least image
    square int NOT NULL,                -- in that image, a1 is 0, b1 is 1
    mover int NOT NULL,                 -- 64 for a bot, 128 for an AI; plus 1 + rating / 50, or 0 without a rating
    won int NOT NULL,                   -- by the mover
    drawn int NOT NULL,
    lost int NOT NULL,
    latest bigint[] NOT NULL,           -- numbers of the latest such games; they may be gone
    PRIMARY KEY (position, square, mover)
);

-- Bans by an administrator.
CREATE TABLE bans (
    subject text COLLATE "C" PRIMARY KEY, -- as: name Ada, or: network 192.0.2.0/24
    reason text NOT NULL,               -- empty for none
    since_us bigint NOT NULL,
    until_us bigint                     -- null for ever
);
