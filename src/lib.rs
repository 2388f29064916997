//! A multiplayer Reversi room server over gRPC.
//!
//! `docs/ARCHITECTURE.md` follows one move through these layers, and says where state lives.
//! Dependencies point down only, and no files import each other in a circle, which Cargo and `tests/core/tidy` check:
//!
//! ```text
//!   cli ───────────────────────────  the `reversi` command
//!    │      │                  │
//!   web   grpc                 │     edges: the page for browsers, the gRPC services
//!          │  \                │
//!          │   proto ─────── client  conversion of wire types; the client library, with the generated code
//!          │
//!   runtime ───────────────────────  room actors, players, streams, limits, AI threads
//!    │      │      │
//!   store  tournament  ai            storage; a tournament as a pure value; AI players
//!     \     │    /   \
//!       room    /   search           a room as a pure value; game-tree search for any game
//!          \   /
//!          rules                     the rules of Reversi
//! ```
//!
//! `rules`, `search`, `ai` and `match_statistics` are the crate `reversi-engine`, `room` is the crate `reversi-room`,
//! `store` is the crate `reversi-store`, `tournament` is the crate `reversi-tournament`, `client` is the crate
//! `reversi-client`.
//!
//! | topic | place |
//! |---|---|
//! | moves, passes, notation, perft | [`rules`] |
//! | alpha-beta, UCT, budgets, stopping | [`search`] |
//! | AI players and their levels | [`ai`] |
//! | Elo difference with its interval, sequential tests | [`match_statistics`] |
//! | permissions, clocks, series, offers: every rule of a room | [`room`] |
//! | pairing, standings: every rule of a tournament | [`tournament`] |
//! | storage, in memory, in one SQLite file or in PostgreSQL | [`store`] |
//! | actors, watchers, turns, limits, shutdown | [`runtime`] |
//! | the public API | `proto/reversi/v1/`, [`proto`], [`grpc`] |
//! | several servers that share the rooms | `proto/reversi/cluster/v1/`, `grpc/links`, `runtime/cluster`, `runtime/node`, `runtime/room/mirror.rs`, `reversi-store/src/postgres/cluster` |
//! | the stored form of rooms and events | `proto/reversi/stored/v1/`, `reversi-room/src/stored` |
//! | calling a server from Rust | [`client`] |
//! | the page for browsers | `web/`, [`web`] |
//! | the `reversi` command | [`cli`] |

pub mod cli;
pub mod grpc;
pub mod proto;
pub mod runtime;
pub mod web;

pub use reversi_client as client;
pub use reversi_engine::{ai, match_statistics, rules, search};
pub use reversi_room as room;
pub use reversi_store as store;
pub use reversi_tournament as tournament;
