-- Events of open rooms, in runs: those that were moved out of the log together lie in one row, up to 256, in the form
-- that the log has. A run is never changed; those that a state has taken in are removed. They take the place of the
-- table of events, of which each makes a run.
CREATE TABLE runs (
    room INTEGER NOT NULL,
    last INTEGER NOT NULL,              -- the number of its last event
    events BLOB NOT NULL,
    PRIMARY KEY (room, last)
);
