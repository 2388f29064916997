-- What was appended to rooms and is not in states and events yet: a row for each commit, in their order. The rows are
-- moved there, and removed, when there are many of them; whatever opens the file does that first. An entry whose room
-- has it already says nothing new.
--   row:    version | entries | checksum      a byte (1), and the CRC-32 of all before it, least byte first
--   entry:  room | length | events            eight bytes, least first, and a varint; without events the room has closed
--   event:  number | length | event           two varints, and the stored form as in events
-- An entry that begins no later than those before it of its room stands for all of them. A row that is damaged stays, with
-- a negative id, for whoever can mend it.
CREATE TABLE log (
    id INTEGER PRIMARY KEY,
    entries BLOB NOT NULL
);
