-- Tournaments, in both databases. Events and snapshots are in the stored form of reversi-tournament, with checksums.
CREATE TABLE tournaments (
    id bigint PRIMARY KEY,              -- its highest 12 bits of 60 are the shard, as of a room
    created_us bigint NOT NULL,
    seq bigint NOT NULL,                -- the last event
    ended boolean NOT NULL,
    snapshot_seq bigint NOT NULL,       -- the last event in the snapshot; 0 without one
    snapshot bytea NOT NULL             -- the state; empty without one
);
CREATE INDEX tournaments_by_time ON tournaments (created_us, id);
CREATE INDEX running_tournaments ON tournaments (id) WHERE NOT ended;
-- The events of tournaments after their snapshots.
CREATE TABLE tournament_events (
    tournament bigint NOT NULL,
    event bytea NOT NULL,
    seq bigint NOT NULL,                -- the number of the event
    PRIMARY KEY (tournament, seq)
);
