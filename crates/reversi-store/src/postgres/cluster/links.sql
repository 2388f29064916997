-- What servers say of themselves.
CREATE TABLE node_status (
    node bigint PRIMARY KEY REFERENCES node ON DELETE CASCADE,
    version text NOT NULL,              -- of its program
    serving boolean NOT NULL,           -- whether it serves clients: not while it stands by, or is out of service
    ahead_us bigint                     -- its clock minus that of this database, to a tenth of a second; null if unknown
);
-- The others that a node does not reach over its links. A node is linked with those that it reaches and that reach it; it
-- serves while these are a majority.
CREATE TABLE node_unreached (
    node bigint NOT NULL REFERENCES node ON DELETE CASCADE,
    peer bigint NOT NULL,               -- not referenced: it may end at any time
    since timestamptz NOT NULL,
    PRIMARY KEY (node, peer)
);
