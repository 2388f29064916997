-- Bans by an administrator.
CREATE TABLE bans (
    subject text COLLATE "C" PRIMARY KEY, -- as: name Ada, or: network 192.0.2.0/24
    reason text NOT NULL,               -- empty for none
    since_us bigint NOT NULL,
    until_us bigint                     -- null for ever
);
