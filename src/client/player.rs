//! Who plays.

use super::{GameId, Malformed, PlayerId, RoomId, read};
use crate::{proto::v1, rules::Color};

/// Whether a person or a program plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlayerKind {
    /// A person: one seat at a time.
    Human,
    /// A program: more seats, and three illegal moves in a turn lose.
    Bot,
}

impl From<PlayerKind> for v1::PlayerKind {
    fn from(kind: PlayerKind) -> Self {
        match kind {
            PlayerKind::Human => Self::Human,
            PlayerKind::Bot => Self::Bot,
        }
    }
}

/// A player, as everybody may see them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Player {
    /// Never reused.
    pub id: PlayerId,
    /// Unique among the players of now.
    pub name: String,
    /// Person or program.
    pub kind: PlayerKind,
}

impl TryFrom<v1::Player> for Player {
    type Error = Malformed;

    fn try_from(player: v1::Player) -> Result<Self, Malformed> {
        let kind = match player.kind() {
            v1::PlayerKind::Bot => PlayerKind::Bot,
            v1::PlayerKind::Human | v1::PlayerKind::Unspecified => PlayerKind::Human,
        };
        Ok(Self {
            id: PlayerId::read(player.player_id)?,
            name: read::plain(player.display_name, "display name")?,
            kind,
        })
    }
}

/// Finished games, aborted ones not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// All.
    pub played: u32,
    /// Those won.
    pub won: u32,
    /// Those that nobody won.
    pub drawn: u32,
    /// Those lost.
    pub lost: u32,
}

impl TryFrom<v1::PlayerStats> for Stats {
    type Error = Malformed;

    fn try_from(stats: v1::PlayerStats) -> Result<Self, Malformed> {
        Ok(Self {
            played: read::count(stats.played, "games played")?,
            won: read::count(stats.won, "games won")?,
            drawn: read::count(stats.drawn, "games drawn")?,
            lost: read::count(stats.lost, "games lost")?,
        })
    }
}

/// The caller's own state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Me {
    /// Who the caller is.
    pub player: Player,
    /// Rooms of which the caller is a member.
    pub rooms: Vec<RoomId>,
    /// Seats held.
    pub seats: Vec<(RoomId, Color)>,
    /// Games being played.
    pub games: Vec<GameId>,
    /// Results so far.
    pub stats: Stats,
    /// How many seats the caller may hold.
    pub seat_limit: u32,
    /// How many rooms the caller may own.
    pub room_limit: u32,
}

impl TryFrom<v1::GetMeResponse> for Me {
    type Error = Malformed;

    fn try_from(me: v1::GetMeResponse) -> Result<Self, Malformed> {
        let held = |held: v1::HeldSeat| Ok((RoomId::read(held.room_id)?, read::seat(held.seat, "held seat")?));
        Ok(Self {
            player: read::required(me.player, "player")?.try_into()?,
            rooms: me.room_ids.into_iter().map(RoomId::read).collect::<Result<_, _>>()?,
            seats: me.seats.into_iter().map(held).collect::<Result<_, Malformed>>()?,
            games: me.game_ids.into_iter().map(GameId::read).collect::<Result<_, _>>()?,
            stats: me.stats.unwrap_or_default().try_into()?,
            seat_limit: read::count(me.seat_limit, "seat limit")?,
            room_limit: read::count(me.room_limit, "room limit")?,
        })
    }
}
