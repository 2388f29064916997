//! A typed client of the server, for the command line and for bots in Rust.
//!
//! Messages are parsed into types of this crate and of [`rules`]; an invalid one is [`ClientError::Malformed`].
//!
//! ```text
//!   Client ── log_in ──▶ Session ── turns(), play_stream() ──▶ PlayEvent ...
//!  (a connection)       (a player) ── watch(room) ─────────▶ RoomUpdate ... ── Room::apply
//!                                  ── watch_rooms(filter) ─▶ ListUpdate ... ── RoomList::apply
//! ```
//!
//! A bot that plays one game against the server's `greedy`:
//!
//! ```no_run
//! # async fn play() -> Result<(), reversi_client::ClientError> {
//! use reversi_client::{Ai, Client, PlayEvent, PlayerKind, SideWish};
//!
//! let client = Client::connect("http://127.0.0.1:50051").await?;
//! let me = client.log_in("ada", PlayerKind::Bot).await?;
//! let mut stream = me.play_stream().await?;
//! me.quick_start(Some(Ai::new("greedy")), SideWish::Random).await?;
//! while let Some(event) = stream.next().await {
//!     match event? {
//!         PlayEvent::Turn(turn) => stream.play(&turn, turn.legal.first().expect("never empty")).await?,
//!         PlayEvent::GameEnded { outcome, .. } => {
//!             println!("{outcome}");
//!             break;
//!         }
//!         _ => {}
//!     }
//! }
//! me.log_out().await
//! # }
//! ```

mod analysis;
mod connection;
mod error;
mod event;
mod explorer;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixture;
mod game;
mod id;
mod parse;
mod player;
mod reader;
mod record;
mod room;
mod room_list;
mod seat;
mod session;
mod settings;
mod stream;
mod tournament;
mod turn;
pub mod v1;

pub use analysis::{AnalysisBudget, AnalysisLine, AnalysisSubject, GameAnalysis, MoveAnalysis, PositionAnalysis};
pub use connection::{Client, Trust};
pub use error::{ClientError, Malformed, Refusal, Unreachable};
pub use event::{Closing, Gap, RoomChange, RoomEvent, RoomState, RoomUpdate};
pub use explorer::{Exploration, ExploredMove, ExplorerFilter, RankedParticipant};
pub use game::{Clocks, Game, GameResult, Offer, Outcome, Ply, Standing};
pub use id::{GameId, MeetingRef, ParseIdError, PlayerId, RoomId, TournamentId};
pub use player::{
    Availability, Me, OnlinePlayer, OpponentStats, Player, PlayerFilter, Problem, ProblemKind, Rated, Rating,
    RatingChange, Stats,
};
pub use reader::Reader;
pub use record::{GameFilter, GameRecord, Page, Participant};
pub use reversi_engine::{match_statistics, rules};
pub use room::{ChatLine, Claim, Member, NewRoom, Phase, Room, Series, SeriesScore};
pub use room_list::{ListUpdate, RoomFilter, RoomList, RoomRow};
pub use seat::{Ai, Guest, Occupant, Seat};
pub use session::Session;
pub use settings::{Opening, Opponents, Settings};
pub use stream::{HEARTBEATS_MISSED, Incoming, PROMPT_HEARTBEAT, PlayStream, backoff};
pub use tournament::MeetingFilter;
pub use turn::{Invited, OfferStatus, PlayEvent, Turn, TurnEnd};
// Generated types that need no validation.
pub use v1::{
    AiKind, Ban, CloseReason, Elo, ExportFormat, GameEndReason as EndReason, GetServerInfoResponse as ServerInfo,
    InvitationEndReason, LeaveReason, Limits, ParticipantKind, PlayerKind, RoomCloseReason, SidePreference as SideWish,
    TournamentControl, TournamentPhase, UnratedReason, Visibility, Watching, ban::Subject as BanSubject,
};
