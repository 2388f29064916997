-- Bans by an administrator.
CREATE TABLE bans (
    subject TEXT PRIMARY KEY NOT NULL,  -- as: name Ada, or: network 192.0.2.0/24
    reason TEXT NOT NULL,               -- empty for none
    since_us INTEGER NOT NULL,
    until_us INTEGER                    -- null for ever
);
