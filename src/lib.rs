//! A multiplayer Reversi room server over gRPC, and what it is made of.
//!
//! Dependencies point one way, and `tests/core/tidy` keeps them so:
//!
//! ```text
//!   cli ───────────────────────  serve, rooms, play, watch, host, bot, demo, games, admin, arena, bench
//!    │      │           │
//!   web   grpc        client     edges: the page, the services, and the typed library for whoever calls them
//!          │  \      /
//!          │   proto             the wire: generated code, and its conversion
//!   runtime ───────────────────  tasks, rooms as actors, streams, players, AI threads
//!    │      │      │
//!   store   │      ai            what must not be lost / players that choose a move
//!     \     │    /   \
//!       room    /   search       one room as a pure value / game-tree search over any game
//!          \   /
//!          rules                 Reversi itself; beside it rating, who is how much stronger
//! ```
//!
//! | looking for | go to |
//! |---|---|
//! | what a move does, passes, notation, perft | [`rules`] |
//! | alpha-beta, UCT, budgets, stopping | [`search`] |
//! | the computer players and their levels | [`ai`] |
//! | how much stronger one of two players is | [`rating`] |
//! | who may do what, clocks, series, offers: every rule of a room | [`room`] |
//! | what is kept, in memory or in one SQLite file | [`store`] |
//! | what runs: actors, watchers, turns, limits, shutdown | [`runtime`] |
//! | the public API | `proto/reversi/v1/`, [`proto`], [`grpc`] |
//! | calling a server from Rust | [`client`] |
//! | the page for browsers | `web/`, [`web`] |
//! | the `reversi` command | [`cli`] |

pub mod cli;
pub mod grpc;
pub mod proto;
pub mod room;
pub mod runtime;
pub mod store;
pub mod web;

pub use reversi_client as client;
pub use reversi_engine::{ai, rating, rules, search};
