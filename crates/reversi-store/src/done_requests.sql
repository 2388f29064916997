-- What the requests with ids of the last day did, in both databases. Removed later than that, with the next ones.
CREATE TABLE done_requests (
    key bigint PRIMARY KEY,             -- a hash of the player and the id
    digest bigint NOT NULL,             -- a hash of these, the method and the body
    room bigint NOT NULL,               -- that it created or joined, or in which it started a game; it may have closed
    seq bigint NOT NULL,                -- the last event that it caused
    game bigint NOT NULL,               -- the number of the game that it started; 0 for a room that it created or joined
    done_us bigint NOT NULL
);
CREATE INDEX done_requests_by_time ON done_requests (done_us);
