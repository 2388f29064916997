SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE archive (
    id integer NOT NULL,
    games bigint NOT NULL,
    CONSTRAINT archive_id_check CHECK ((id = 1))
);
CREATE TABLE bans (
    subject text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL,
    since_us bigint NOT NULL,
    until_us bigint
);
CREATE TABLE explored_moves (
    "position" bytea NOT NULL,
    square integer NOT NULL,
    mover integer NOT NULL,
    won integer NOT NULL,
    drawn integer NOT NULL,
    lost integer NOT NULL,
    latest bigint[] NOT NULL
);
CREATE TABLE fence (
    node bigint NOT NULL,
    session bigint NOT NULL,
    backend integer,
    alive_us bigint,
    alive_at timestamp with time zone
)
WITH (fillfactor='10');
CREATE TABLE games (
    number bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    room text NOT NULL,
    room_name text NOT NULL,
    black text NOT NULL,
    black_name text NOT NULL,
    black_kind text NOT NULL,
    black_rating integer,
    white text NOT NULL,
    white_name text NOT NULL,
    white_kind text NOT NULL,
    white_rating integer,
    started_us bigint NOT NULL,
    ended_us bigint NOT NULL,
    winner text NOT NULL,
    reason text NOT NULL,
    black_discs integer NOT NULL,
    white_discs integer NOT NULL,
    transcript text NOT NULL,
    times_ms text NOT NULL,
    opening integer NOT NULL,
    move_limit_us bigint,
    total_time_us bigint,
    increment_us bigint NOT NULL,
    rated boolean NOT NULL,
    private boolean NOT NULL,
    thoughts bytea,
    opening_name text,
    explored boolean DEFAULT false NOT NULL
);
ALTER TABLE games ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME games_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE matching (
    node bigint,
    until timestamp with time zone NOT NULL
);
CREATE TABLE member (
    player text NOT NULL COLLATE pg_catalog."C",
    room bigint NOT NULL,
    seated boolean NOT NULL
);
CREATE TABLE node (
    id bigint NOT NULL,
    host text NOT NULL,
    listens text,
    address text,
    role text NOT NULL,
    draining boolean DEFAULT false NOT NULL,
    renewed timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    since timestamp with time zone NOT NULL
)
WITH (fillfactor='10');
ALTER TABLE node ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME node_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE place_request (
    number bigint NOT NULL,
    player text NOT NULL COLLATE pg_catalog."C",
    room bigint NOT NULL,
    seat boolean NOT NULL,
    until timestamp with time zone NOT NULL
);
CREATE TABLE played (
    contestant text NOT NULL COLLATE pg_catalog."C",
    ended_us bigint NOT NULL,
    game text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE players (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    name_key text NOT NULL,
    kind text NOT NULL,
    seats integer NOT NULL,
    token bytea,
    seen_us bigint NOT NULL,
    claimed boolean NOT NULL
);
CREATE TABLE request (
    number bigint NOT NULL,
    player text NOT NULL COLLATE pg_catalog."C",
    id bytea NOT NULL,
    room bigint NOT NULL,
    last_game bigint NOT NULL,
    was_open boolean DEFAULT false NOT NULL
);
ALTER TABLE request ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME request_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE reversi (
    id integer NOT NULL,
    version integer NOT NULL,
    CONSTRAINT reversi_id_check CHECK ((id = 1))
);
CREATE TABLE room (
    id bigint NOT NULL,
    code bigint NOT NULL,
    seq bigint NOT NULL,
    tail bytea NOT NULL
)
WITH (fillfactor='50', toast_tuple_target='8160', autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY room ALTER COLUMN tail SET STORAGE MAIN;
CREATE TABLE room_state (
    room bigint NOT NULL,
    state bytea NOT NULL
);
CREATE TABLE shard (
    id integer NOT NULL,
    node bigint,
    version bigint DEFAULT 0 NOT NULL,
    changed timestamp with time zone DEFAULT now() NOT NULL,
    away_us bigint,
    CONSTRAINT shard_id_check CHECK (((id >= 0) AND (id <= 4095)))
)
WITH (fillfactor='50');
CREATE TABLE standings (
    contestant text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    won_against_humans integer NOT NULL,
    drawn_against_humans integer NOT NULL,
    lost_against_humans integer NOT NULL,
    won_against_bots integer NOT NULL,
    drawn_against_bots integer NOT NULL,
    lost_against_bots integer NOT NULL,
    won_against_ais integer NOT NULL,
    drawn_against_ais integer NOT NULL,
    lost_against_ais integer NOT NULL,
    won integer GENERATED ALWAYS AS (((won_against_humans + won_against_bots) + won_against_ais)) STORED,
    drawn integer GENERATED ALWAYS AS (((drawn_against_humans + drawn_against_bots) + drawn_against_ais)) STORED,
    lost integer GENERATED ALWAYS AS (((lost_against_humans + lost_against_bots) + lost_against_ais)) STORED,
    rating double precision,
    deviation double precision,
    volatility double precision,
    rated_games integer NOT NULL
);
CREATE TABLE waiting (
    number bigint NOT NULL,
    room bigint NOT NULL
);
ALTER TABLE waiting ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME waiting_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
INSERT INTO archive VALUES (1, 4);
INSERT INTO bans VALUES ('name eve', 'spam', 1000000, 9000000);
INSERT INTO bans VALUES ('network 192.0.2.0/24', '', 1000000, NULL);
INSERT INTO explored_moves VALUES ('\x00000008000000000000001038000000', 45, 0, 0, 1, 0, '{4}');
INSERT INTO explored_moves VALUES ('\x00000010080000000000700810000000', 14, 0, 0, 1, 0, '{4}');
INSERT INTO explored_moves VALUES ('\x00002010080000004040500810000000', 7, 0, 0, 1, 0, '{4}');
INSERT INTO explored_moves VALUES ('\x804020000800000000a0103810000000', 23, 0, 0, 1, 0, '{4}');
INSERT INTO explored_moves VALUES ('\xe0400000080000000020703810000000', 12, 0, 0, 1, 0, '{4}');
INSERT INTO explored_moves VALUES ('\xe0400000080000001030703810000000', 3, 0, 0, 1, 0, '{4}');
INSERT INTO explored_moves VALUES ('\xf80000000800000000f0703810000000', 23, 0, 0, 1, 0, '{4}');
INSERT INTO explored_moves VALUES ('\x1f03010000000000000c0e1c38000000', 12, 0, 0, 1, 0, '{4}');
INSERT INTO explored_moves VALUES ('\x1f0f01000000000020100e1c38000000', 6, 0, 0, 1, 0, '{4}');
INSERT INTO explored_moves VALUES ('\x7f0f01000000000000100e1c38000000', 13, 0, 0, 1, 0, '{4}');
INSERT INTO explored_moves VALUES ('\x7f3f01000000000000000e1c38000000', 20, 0, 0, 1, 0, '{4}');
INSERT INTO explored_moves VALUES ('\x00000010080000000000000810000000', 19, 0, 0, 1, 1, '{1,4}');
INSERT INTO explored_moves VALUES ('\x00000008000000000000001038000000', 45, 64, 1, 0, 0, '{1}');
INSERT INTO explored_moves VALUES ('\x00000810080000000000040810000000', 17, 0, 0, 1, 1, '{1,4}');
INSERT INTO explored_moves VALUES ('\x00000010080000000000700810000000', 14, 64, 1, 0, 0, '{1}');
INSERT INTO explored_moves VALUES ('\x00000a10080000000002040810000000', 1, 0, 0, 1, 1, '{1,4}');
INSERT INTO explored_moves VALUES ('\x00002010080000004040500810000000', 7, 64, 1, 0, 0, '{1}');
INSERT INTO explored_moves VALUES ('\x02000a10080000000102040810000000', 26, 0, 0, 1, 1, '{1,4}');
INSERT INTO explored_moves VALUES ('\x804020000800000000a0103810000000', 23, 64, 1, 0, 0, '{1}');
INSERT INTO explored_moves VALUES ('\x0004081c080000000103050010000000', 17, 0, 0, 1, 1, '{1,4}');
INSERT INTO explored_moves VALUES ('\xe0400000080000000020703810000000', 12, 64, 1, 0, 0, '{1}');
INSERT INTO explored_moves VALUES ('\x00040c1c080000000103030210000000', 24, 0, 0, 1, 1, '{1,4}');
INSERT INTO explored_moves VALUES ('\xe0400000080000001030703810000000', 3, 64, 1, 0, 0, '{1}');
INSERT INTO explored_moves VALUES ('\x000c0e1c080000001f02000010000000', 8, 0, 0, 1, 1, '{1,4}');
INSERT INTO explored_moves VALUES ('\xf80000000800000000f0703810000000', 23, 64, 1, 0, 0, '{1}');
INSERT INTO explored_moves VALUES ('\x000c0e1c080000001f03010010000000', 37, 0, 0, 1, 1, '{1,4}');
INSERT INTO explored_moves VALUES ('\x1f03010000000000000c0e1c38000000', 12, 64, 1, 0, 0, '{1}');
INSERT INTO explored_moves VALUES ('\x000070381c000000f8f8800000000000', 2, 0, 0, 1, 1, '{1,4}');
INSERT INTO explored_moves VALUES ('\x1f0f01000000000020100e1c38000000', 6, 64, 1, 0, 0, '{1}');
INSERT INTO explored_moves VALUES ('\x7f0f01000000000000100e1c38000000', 13, 64, 1, 0, 0, '{1}');
INSERT INTO explored_moves VALUES ('\x7f3f01000000000000000e1c38000000', 20, 64, 1, 0, 0, '{1}');
INSERT INTO explored_moves VALUES ('\x00000010080000000000000810000000', 19, 128, 0, 0, 1, '{2}');
INSERT INTO explored_moves VALUES ('\x00000008000000000000001038000000', 45, 27, 1, 0, 0, '{2}');
INSERT INTO explored_moves VALUES ('\x00000810080000000000040810000000', 17, 128, 0, 0, 1, '{2}');
INSERT INTO explored_moves VALUES ('\x00000010080000000000700810000000', 14, 27, 1, 0, 0, '{2}');
INSERT INTO explored_moves VALUES ('\x00000a10080000000002040810000000', 1, 128, 0, 0, 1, '{2}');
INSERT INTO explored_moves VALUES ('\x00002010080000004040500810000000', 7, 27, 1, 0, 0, '{2}');
INSERT INTO explored_moves VALUES ('\x02000a10080000000102040810000000', 26, 128, 0, 0, 1, '{2}');
INSERT INTO explored_moves VALUES ('\x804020000800000000a0103810000000', 23, 27, 1, 0, 0, '{2}');
INSERT INTO explored_moves VALUES ('\x0004081c080000000103050010000000', 17, 128, 0, 0, 1, '{2}');
INSERT INTO explored_moves VALUES ('\xe0400000080000000020703810000000', 12, 27, 1, 0, 0, '{2}');
INSERT INTO explored_moves VALUES ('\x00040c1c080000000103030210000000', 24, 128, 0, 0, 1, '{2}');
INSERT INTO explored_moves VALUES ('\xe0400000080000001030703810000000', 3, 27, 1, 0, 0, '{2}');
INSERT INTO explored_moves VALUES ('\x000c0e1c080000001f02000010000000', 8, 128, 0, 0, 1, '{2}');
INSERT INTO explored_moves VALUES ('\xf80000000800000000f0703810000000', 23, 27, 1, 0, 0, '{2}');
INSERT INTO explored_moves VALUES ('\x000c0e1c080000001f03010010000000', 37, 128, 0, 0, 1, '{2}');
INSERT INTO explored_moves VALUES ('\x1f03010000000000000c0e1c38000000', 12, 27, 1, 0, 0, '{2}');
INSERT INTO explored_moves VALUES ('\x000070381c000000f8f8800000000000', 2, 128, 0, 0, 1, '{2}');
INSERT INTO explored_moves VALUES ('\x1f0f01000000000020100e1c38000000', 6, 27, 1, 0, 0, '{2}');
INSERT INTO explored_moves VALUES ('\x7f0f01000000000000100e1c38000000', 13, 27, 1, 0, 0, '{2}');
INSERT INTO explored_moves VALUES ('\x7f3f01000000000000000e1c38000000', 20, 27, 1, 0, 0, '{2}');
INSERT INTO fence VALUES (1, 1, 11387, 4000000000, '2026-11-27 06:12:42.966104+00');
INSERT INTO games OVERRIDING SYSTEM VALUE VALUES (3, '000000000001-3', '000000000001', 'Ada''s room', '000000002y4y', 'ada', 'human', 1338, '000000002zdn', 'bob', 'human', NULL, 2999000000, 3000000000, 'none', 'aborted', 19, 45, 'd3c3b3b2b1a1c4c1c2d2d1e1a2a3f5e2f1g1f2e3b5b4a5a4c5a6f4f3g3g2h2h1h3h4g4c6g5h5b6c7d6e6f6g6h6h7a7b7a8d7e7f7g7g8b8c8d8e8f8h8', '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0', 0, 60000000, NULL, 0, false, true, '\x020a140802121008f303100918808080808020220213220a11083b120d10091880808080802022021322f93b8006', NULL, false);
INSERT INTO games OVERRIDING SYSTEM VALUE VALUES (4, '000000000002-1', '000000000002', 'Ada''s room', '0000000032em', 'eve', 'human', NULL, '0000000032ry', 'fay', 'human', NULL, -9223372036854775808, -9223372036854775808, 'none', 'agreed +0', 19, 45, 'd3c3b3b2b1a1c4c1c2d2d1e1a2a3f5e2f1g1f2e3b5b4a5a4c5a6f4f3g3g2h2h1h3h4g4c6g5h5b6c7d6e6f6g6h6h7a7b7a8d7e7f7g7g8b8c8d8e8f8h8', '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0', 0, 60000000, NULL, 0, false, false, '\x020a140802121008f303100918808080808020220213220a11083b120d10091880808080802022021322f93b8006', 'Diagonal', true);
INSERT INTO games OVERRIDING SYSTEM VALUE VALUES (1, '000000000001-1', '000000000001', 'Ada''s room', '000000002y4y', 'ada', 'human', NULL, '0000002sjbey', 'bot-d', 'bot', NULL, 999000000, 1000000000, 'white', 'discs', 19, 45, 'd3c3b3b2b1a1c4c1c2d2d1e1a2a3f5e2f1g1f2e3b5b4a5a4c5a6f4f3g3g2h2h1h3h4g4c6g5h5b6c7d6e6f6g6h6h7a7b7a8d7e7f7g7g8b8c8d8e8f8h8', '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0', 0, 60000000, NULL, 0, true, false, '\x020a140802121008f303100918808080808020220213220a11083b120d10091880808080802022021322f93b8006', 'Diagonal', true);
INSERT INTO games OVERRIDING SYSTEM VALUE VALUES (2, '000000000001-2', '000000000001', 'Ada''s room', 'mcts-roxanne:3', 'mcts-roxanne:3', 'ai', NULL, '000000002y4y', 'ada', 'human', 1338, 1999000000, 2000000000, 'white', 'discs', 19, 45, 'd3c3b3b2b1a1c4c1c2d2d1e1a2a3f5e2f1g1f2e3b5b4a5a4c5a6f4f3g3g2h2h1h3h4g4c6g5h5b6c7d6e6f6g6h6h7a7b7a8d7e7f7g7g8b8c8d8e8f8h8', '0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0', 0, 60000000, NULL, 0, false, false, '\x020a140802121008f303100918808080808020220213220a11083b120d10091880808080802022021322f93b8006', 'Diagonal', true);
INSERT INTO matching VALUES (NULL, '-infinity');
INSERT INTO member VALUES ('000000002y4y', 7, true);
INSERT INTO member VALUES ('000000002zdn', 7, true);
INSERT INTO member VALUES ('00000000033p', 7, false);
INSERT INTO node OVERRIDING SYSTEM VALUE VALUES (1, '', NULL, NULL, 'rooms', false, '1970-01-01 00:00:00+00', '1970-01-01 00:00:00+00', '1970-01-01 00:00:00+00');
INSERT INTO place_request VALUES (1, '00000000033p', 7, true, '2026-11-27 06:14:42.983+00');
INSERT INTO played VALUES ('000000002y4y', 1000000000, '000000000001-1');
INSERT INTO played VALUES ('0000002sjbey', 1000000000, '000000000001-1');
INSERT INTO played VALUES ('mcts-roxanne:3', 2000000000, '000000000001-2');
INSERT INTO played VALUES ('000000002y4y', 2000000000, '000000000001-2');
INSERT INTO played VALUES ('000000002y4y', 3000000000, '000000000001-3');
INSERT INTO played VALUES ('000000002zdn', 3000000000, '000000000001-3');
INSERT INTO played VALUES ('0000000032em', -9223372036854775808, '000000000002-1');
INSERT INTO played VALUES ('0000000032ry', -9223372036854775808, '000000000002-1');
INSERT INTO players VALUES ('00000000033p', 'cy', 'cy', 'human', 1, '\xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1', 300000000, true);
INSERT INTO players VALUES ('000000002y4y', 'ada', 'ada', 'human', 1, '\xadadadadadadadadadadadadadadadadadadadadadadadadadadadadadadadad', 100000000, false);
INSERT INTO players VALUES ('0000002sjbey', 'bot-d', 'bot-d', 'bot', 64, '\xb0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0', 200000000, false);
INSERT INTO players VALUES ('000000002zdn', 'bob', 'bob', 'human', 0, NULL, 3000000000, false);
INSERT INTO request OVERRIDING SYSTEM VALUE VALUES (1, '00000000033p', '\x01', 7, 0, false);
INSERT INTO reversi VALUES (1, 2);
INSERT INTO room VALUES (7, 99, 11, '\x25020bc08db7019a01180a0908f618120263791801120b77656c6c20706c617965642ef8166e0c020ac08db7011012c092f5e3100209c08db7010880897a1013812ebc23140208c0843d6a0908f618120263791801ce19ffa70d0207c0843d220208010689d6640f0206c0843d62040802100147e2bed31d0205c0843d8201110802120d1a0b08b5fb051203626f62180172e65f4c0f0204c0843d620408011001238c0dd51d0203c0843d8201110801120d1a0b089ef10512036164611801e131de65160202c0843d6a0b08b5fb051203626f621801edefeb9f');
INSERT INTO room_state VALUES (7, '\x020807106318c0843d220b0a02083c1203088407180828013001389ef10542180a0a416461277320726f6f6d100118012a02083c480150014a110a0b089ef1051203616461180110c0843d5a040a020a0062040a020a008801c0843d819f838b');
INSERT INTO standings VALUES ('mcts-roxanne:3', 'mcts-roxanne:3', 0, 0, 1, 0, 0, 0, 0, 0, 0, DEFAULT, DEFAULT, DEFAULT, NULL, NULL, NULL, 0);
INSERT INTO standings VALUES ('0000002sjbey', 'bot-d', 1, 0, 0, 0, 0, 0, 0, 0, 0, DEFAULT, DEFAULT, DEFAULT, 1662.3108939062977, 290.3189637179804, 0.05999967537233814, 1);
INSERT INTO standings VALUES ('000000002y4y', 'ada', 0, 0, 0, 0, 0, 1, 1, 0, 0, DEFAULT, DEFAULT, DEFAULT, 1337.6891060937023, 290.3189637179804, 0.05999967537233814, 1);
INSERT INTO waiting OVERRIDING SYSTEM VALUE VALUES (1, 7);
SELECT pg_catalog.setval('games_number_seq', 4, true);
SELECT pg_catalog.setval('node_id_seq', 1, true);
SELECT pg_catalog.setval('request_number_seq', 1, true);
SELECT pg_catalog.setval('waiting_number_seq', 1, true);
ALTER TABLE ONLY archive
    ADD CONSTRAINT archive_pkey PRIMARY KEY (id);
ALTER TABLE ONLY bans
    ADD CONSTRAINT bans_pkey PRIMARY KEY (subject);
ALTER TABLE ONLY explored_moves
    ADD CONSTRAINT explored_moves_pkey PRIMARY KEY ("position", square, mover);
ALTER TABLE ONLY fence
    ADD CONSTRAINT fence_pkey PRIMARY KEY (node);
ALTER TABLE ONLY games
    ADD CONSTRAINT games_number_key UNIQUE (number);
ALTER TABLE ONLY games
    ADD CONSTRAINT games_pkey PRIMARY KEY (id);
ALTER TABLE ONLY member
    ADD CONSTRAINT member_pkey PRIMARY KEY (player, room);
ALTER TABLE ONLY node
    ADD CONSTRAINT node_pkey PRIMARY KEY (id);
ALTER TABLE ONLY place_request
    ADD CONSTRAINT place_request_pkey PRIMARY KEY (number);
ALTER TABLE ONLY played
    ADD CONSTRAINT played_pkey PRIMARY KEY (contestant, ended_us, game);
ALTER TABLE ONLY players
    ADD CONSTRAINT players_pkey PRIMARY KEY (id);
ALTER TABLE ONLY request
    ADD CONSTRAINT request_pkey PRIMARY KEY (player, id);
ALTER TABLE ONLY reversi
    ADD CONSTRAINT reversi_pkey PRIMARY KEY (id);
ALTER TABLE ONLY room
    ADD CONSTRAINT room_pkey PRIMARY KEY (id);
ALTER TABLE ONLY room_state
    ADD CONSTRAINT room_state_pkey PRIMARY KEY (room);
ALTER TABLE ONLY shard
    ADD CONSTRAINT shard_pkey PRIMARY KEY (id);
ALTER TABLE ONLY standings
    ADD CONSTRAINT standings_pkey PRIMARY KEY (contestant);
ALTER TABLE ONLY waiting
    ADD CONSTRAINT waiting_pkey PRIMARY KEY (number);
ALTER TABLE ONLY waiting
    ADD CONSTRAINT waiting_room_key UNIQUE (room);
CREATE INDEX games_by_end ON games USING btree (ended_us, id);
CREATE INDEX games_of_opening ON games USING btree (opening_name, ended_us, id) WHERE (opening_name IS NOT NULL);
CREATE INDEX games_of_room ON games USING btree (room, ended_us, id);
CREATE INDEX members_of_room ON member USING btree (room);
CREATE INDEX place_requests_by_end ON place_request USING btree (until);
CREATE INDEX place_requests_of_player ON place_request USING btree (player);
CREATE INDEX players_by_name ON players USING btree (name_key, seen_us);
CREATE INDEX players_by_seen ON players USING btree (claimed, seen_us) WHERE (token IS NOT NULL);
CREATE INDEX players_by_token ON players USING btree (token) WHERE (token IS NOT NULL);
CREATE INDEX players_with_token ON players USING btree (id) WHERE (token IS NOT NULL);
CREATE INDEX requests_of_room ON request USING btree (room);
CREATE INDEX rooms_by_code ON room USING btree (code);
CREATE INDEX shards_of_node ON shard USING btree (node);
CREATE INDEX standings_by_rating ON standings USING btree (rating) WHERE (rating IS NOT NULL);
CREATE INDEX unexplored_games ON games USING btree (ended_us, id) WHERE (NOT explored);
CREATE INDEX unrated_games ON games USING btree (ended_us, id) WHERE (NOT rated);
ALTER TABLE ONLY fence
    ADD CONSTRAINT fence_node_fkey FOREIGN KEY (node) REFERENCES node(id);
ALTER TABLE ONLY room_state
    ADD CONSTRAINT room_state_room_fkey FOREIGN KEY (room) REFERENCES room(id) ON DELETE CASCADE;
ALTER TABLE ONLY shard
    ADD CONSTRAINT shard_node_fkey FOREIGN KEY (node) REFERENCES node(id);
INSERT INTO shard (id, node) SELECT generate_series(0, 4095), id FROM node;
