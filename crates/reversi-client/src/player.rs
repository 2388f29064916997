//! Players, their results and the invitations that they accept.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use super::{GameId, Malformed, PlayerId, PlayerKind, RoomId, UnratedReason, parse};
use crate::{
    rules::Color,
    settings::wire_count,
    v1::{self, ErrorReason, GameEndReason, player_problem::Kind},
};

/// The public data of a player.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Player {
    /// Never reused.
    pub id: PlayerId,
    /// Unique among current players.
    pub name: String,
    /// Human or bot.
    pub kind: PlayerKind,
    /// The version of a bot's engine; empty if it has named none.
    pub engine_version: String,
}

impl TryFrom<v1::Player> for Player {
    type Error = Malformed;

    fn try_from(player: v1::Player) -> Result<Self, Malformed> {
        let kind = if player.kind() == PlayerKind::Bot { PlayerKind::Bot } else { PlayerKind::Human };
        Ok(Self {
            id: PlayerId::parse(player.player_id)?,
            name: parse::plain(player.display_name, "display name")?,
            kind,
            engine_version: parse::plain(player.engine_version, "version of an engine")?,
        })
    }
}

/// Numbers of finished games, without aborted ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// All games.
    pub played: u32,
    /// Games won.
    pub won: u32,
    /// Games drawn.
    pub drawn: u32,
    /// Games lost.
    pub lost: u32,
    /// Games against humans.
    pub humans: OpponentStats,
    /// Games against bots.
    pub bots: OpponentStats,
    /// Games against AIs.
    pub ais: OpponentStats,
    /// The rating; `None` before the first rated game.
    pub rating: Option<Rating>,
}

/// Results against one kind of opponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpponentStats {
    /// Games won.
    pub won: u32,
    /// Games drawn.
    pub drawn: u32,
    /// Games lost.
    pub lost: u32,
}

/// A Glicko-2 rating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// The strength, at first 1500.
    pub value: f64,
    /// The rating deviation, half of the half-width of the 95 % interval.
    pub deviation: f64,
    /// The number of games that have changed it.
    pub games: u32,
    /// Whether it may still change by much.
    pub provisional: bool,
}

/// What a finished game did to the rating of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RatingChange {
    /// The rating before the game, rounded; none before the first rated game.
    pub before: Option<u32>,
    /// What it did.
    pub effect: Result<Rated, UnratedReason>,
}

/// The effect of a game that counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rated {
    /// The rating after the game, rounded.
    pub after: u32,
    /// Its deviation, rounded.
    pub deviation: u32,
    /// How much the game counted, in sixteenths.
    pub weight: u32,
    /// Whether the rating would have risen further without the limits on how fast it may rise.
    pub limited: bool,
}

/// A rounded rating; none for 0.
pub(super) fn rating(wire: i32) -> Result<Option<u32>, Malformed> {
    Ok(Some(parse::count(wire, "rating")?).filter(|&rating| rating > 0))
}

impl TryFrom<v1::RatingChange> for RatingChange {
    type Error = Malformed;

    fn try_from(change: v1::RatingChange) -> Result<Self, Malformed> {
        let effect = if change.unrated == 0 {
            Ok(Rated {
                after: parse::count(change.after, "rating")?,
                deviation: parse::count(change.deviation, "rating deviation")?,
                weight: parse::count(change.weight, "weight")?,
                limited: change.limited,
            })
        } else {
            Err(change.unrated())
        };
        Ok(Self { before: rating(change.before)?, effect })
    }
}

impl RatingChange {
    /// The points by which the rating has changed; none if the game did not count.
    #[must_use]
    pub fn points(&self) -> Option<i64> {
        let rated = self.effect.ok()?;
        Some(i64::from(rated.after) - i64::from(self.before.unwrap_or(BEGINNER)))
    }
}

/// As "1500 to 1662 (+162)", or "unchanged: the game was aborted".
impl fmt::Display for RatingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.effect {
            Ok(Rated { after, weight, limited, .. }) => {
                let (before, points) = (self.before.unwrap_or(BEGINNER), self.points().unwrap_or_default());
                write!(f, "{before} to {after} ({points:+})")?;
                if weight < FULL_WEIGHT {
                    write!(f, ", counted {weight}/{FULL_WEIGHT}")?;
                }
                f.write_str(if limited { ", limited" } else { "" })
            }
            Err(reason) => write!(f, "unchanged: {}", describe(reason)),
        }
    }
}

/// The rating before the first rated game.
const BEGINNER: u32 = 1500;

/// The weight of a game that counts in full.
const FULL_WEIGHT: u32 = 16;

fn describe(reason: UnratedReason) -> &'static str {
    match reason {
        UnratedReason::Unspecified => "for an unknown reason",
        UnratedReason::Unrated => "the game is not rated",
        UnratedReason::TooShort => "the game ended too soon",
        UnratedReason::SameAddress => "both players are at the same address",
        UnratedReason::Aborted => "the game was aborted",
        UnratedReason::HouseShort => "the AI had too little time",
    }
}

impl TryFrom<v1::PlayerStats> for Stats {
    type Error = Malformed;

    fn try_from(stats: v1::PlayerStats) -> Result<Self, Malformed> {
        Ok(Self {
            played: parse::count(stats.played, "games played")?,
            won: parse::count(stats.won, "games won")?,
            drawn: parse::count(stats.drawn, "games drawn")?,
            lost: parse::count(stats.lost, "games lost")?,
            humans: stats.against_humans.unwrap_or_default().try_into()?,
            bots: stats.against_bots.unwrap_or_default().try_into()?,
            ais: stats.against_ais.unwrap_or_default().try_into()?,
            rating: stats.rating.map(Rating::try_from).transpose()?,
        })
    }
}

impl TryFrom<v1::Score> for OpponentStats {
    type Error = Malformed;

    fn try_from(score: v1::Score) -> Result<Self, Malformed> {
        Ok(Self {
            won: parse::count(score.won, "games won")?,
            drawn: parse::count(score.drawn, "games drawn")?,
            lost: parse::count(score.lost, "games lost")?,
        })
    }
}

impl TryFrom<v1::Rating> for Rating {
    type Error = Malformed;

    fn try_from(rating: v1::Rating) -> Result<Self, Malformed> {
        let v1::Rating { value, deviation, games, provisional } = rating;
        if !(value.is_finite() && deviation.is_finite()) {
            return Err(Malformed::new("rating", format_args!("{value} with deviation {deviation}")));
        }
        Ok(Self { value, deviation, games: parse::count(games, "rated games")?, provisional })
    }
}

/// The caller's own state.
#[derive(Clone, Debug, PartialEq)]
pub struct Me {
    /// The caller.
    pub player: Player,
    /// Rooms that the caller has joined.
    pub rooms: Vec<RoomId>,
    /// Seats held.
    pub seats: Vec<(RoomId, Color)>,
    /// Games being played.
    pub games: Vec<GameId>,
    /// The results so far.
    pub stats: Stats,
    /// Maximum number of held seats.
    pub seat_limit: u32,
    /// Maximum number of owned rooms.
    pub room_limit: u32,
    /// Whether the name is claimed.
    pub claimed: bool,
    /// Whether a program reads the caller's turns now.
    pub turns_open: bool,
    /// The invitations that it accepts; `None` if it has not said so, and accepts all.
    pub availability: Option<Availability>,
    /// What went wrong lately, the latest first.
    pub problems: Vec<Problem>,
    /// The token that is limited to playing; none if the session has one, or a token of a server before these.
    pub play_token: Option<String>,
}

/// Refusals for one reason by one method, or games lost in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The time of the latest.
    pub at: Option<SystemTime>,
    /// What happened.
    pub kind: ProblemKind,
    /// The latest in words.
    pub message: String,
    /// The latest game, if it is about one.
    pub game: Option<GameId>,
    /// How often it happened.
    pub count: u32,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A call was refused, or a move was rejected, for this reason, such as `ILLEGAL_MOVE`.
    Refused {
        /// The reason.
        reason: String,
        /// The method, such as `GameService/PlayMove`.
        method: String,
    },
    /// A game was lost by this.
    Lost(GameEndReason),
    /// Another kind, of a newer server.
    Other,
}

impl TryFrom<v1::PlayerProblem> for Problem {
    type Error = Malformed;

    fn try_from(problem: v1::PlayerProblem) -> Result<Self, Malformed> {
        let kind = match problem.kind {
            Some(Kind::Refused(reason)) => {
                let known = ErrorReason::try_from(reason).map(|reason| reason.as_str_name());
                let name = known.map(|name| name.strip_prefix("ERROR_REASON_").unwrap_or(name).to_owned());
                ProblemKind::Refused { reason: name.unwrap_or_else(|_| reason.to_string()), method: problem.method }
            }
            Some(Kind::Lost(reason)) => ProblemKind::Lost(GameEndReason::try_from(reason).unwrap_or_default()),
            None => ProblemKind::Other,
        };
        let game = Some(problem.game_id).filter(|game| !game.is_empty());
        Ok(Self {
            at: parse::maybe_time(problem.at, "time of a problem")?,
            kind,
            message: problem.message,
            game: game.map(GameId::parse).transpose()?,
            count: parse::count(problem.count, "number of problems")?,
        })
    }
}

impl TryFrom<v1::GetMeResponse> for Me {
    type Error = Malformed;

    fn try_from(me: v1::GetMeResponse) -> Result<Self, Malformed> {
        let held = |held: v1::HeldSeat| Ok((RoomId::parse(held.room_id)?, parse::seat(held.seat, "held seat")?));
        Ok(Self {
            player: parse::required(me.player, "player")?.try_into()?,
            rooms: me.room_ids.into_iter().map(RoomId::parse).collect::<Result<_, _>>()?,
            seats: me.seats.into_iter().map(held).collect::<Result<_, Malformed>>()?,
            games: me.game_ids.into_iter().map(GameId::parse).collect::<Result<_, _>>()?,
            stats: me.stats.unwrap_or_default().try_into()?,
            seat_limit: parse::count(me.seat_limit, "seat limit")?,
            room_limit: parse::count(me.room_limit, "room limit")?,
            claimed: me.claimed,
            turns_open: me.turns_open,
            problems: me.problems.into_iter().map(Problem::try_from).collect::<Result<_, _>>()?,
            availability: me.availability.map(Availability::try_from).transpose()?,
            play_token: Some(me.play_token).filter(|token| !token.is_empty()),
        })
    }
}

/// The invitations that a player accepts; by default all. A game without a limit has an endless time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Availability {
    /// No invitations at all.
    pub unavailable: bool,
    /// Only those of players of these kinds; of all if empty.
    pub kinds: Vec<PlayerKind>,
    /// Only to rated games, or only to unrated ones; `None` for both.
    pub rated: Option<bool>,
    /// The shortest and the longest limit of a move.
    pub per_move: (Option<Duration>, Option<Duration>),
    /// The shortest and the longest total time of a side.
    pub total: (Option<Duration>, Option<Duration>),
    /// The shortest and the longest increment, which is zero in a game without a total time.
    pub increment: (Option<Duration>, Option<Duration>),
    /// The lowest rating of a player who invites; 0 for no bound.
    pub min_rating: u32,
    /// The highest rating of a player who invites; 0 for no bound.
    pub max_rating: u32,
    /// Maximum number of seats that it holds with the new one; 0 for the limit of the player.
    pub games_at_once: u32,
    /// Maximum number of opponents within 24 hours, with the new one; 0 for no bound.
    pub opponents_a_day: u32,
}

impl From<Availability> for v1::Availability {
    fn from(availability: Availability) -> Self {
        let rated = match availability.rated {
            None => v1::RatedPreference::Unspecified,
            Some(true) => v1::RatedPreference::Rated,
            Some(false) => v1::RatedPreference::Unrated,
        };
        let Availability { per_move, total, increment, .. } = availability;
        Self {
            unavailable: availability.unavailable,
            kinds: availability.kinds.into_iter().map(Into::into).collect(),
            rated: rated.into(),
            shortest_move: per_move.0.map(parse::to_wire),
            longest_move: per_move.1.map(parse::to_wire),
            shortest_total: total.0.map(parse::to_wire),
            longest_total: total.1.map(parse::to_wire),
            games_at_once: wire_count(availability.games_at_once),
            opponents_a_day: wire_count(availability.opponents_a_day),
            shortest_increment: increment.0.map(parse::to_wire),
            longest_increment: increment.1.map(parse::to_wire),
            min_rating: wire_count(availability.min_rating),
            max_rating: wire_count(availability.max_rating),
        }
    }
}

impl TryFrom<v1::Availability> for Availability {
    type Error = Malformed;

    fn try_from(wire: v1::Availability) -> Result<Self, Malformed> {
        let time = |wire| parse::maybe_duration(wire, "time of an invitation");
        Ok(Self {
            unavailable: wire.unavailable,
            kinds: wire.kinds().collect(),
            rated: match wire.rated() {
                v1::RatedPreference::Unspecified => None,
                v1::RatedPreference::Rated => Some(true),
                v1::RatedPreference::Unrated => Some(false),
            },
            per_move: (time(wire.shortest_move)?, time(wire.longest_move)?),
            total: (time(wire.shortest_total)?, time(wire.longest_total)?),
            increment: (time(wire.shortest_increment)?, time(wire.longest_increment)?),
            min_rating: parse::count(wire.min_rating, "lowest rating")?,
            max_rating: parse::count(wire.max_rating, "highest rating")?,
            games_at_once: parse::count(wire.games_at_once, "games at once")?,
            opponents_a_day: parse::count(wire.opponents_a_day, "opponents a day")?,
        })
    }
}

/// A filter of players; the default has all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerFilter {
    /// Only of this kind.
    pub kind: Option<PlayerKind>,
    /// Only those without a seat.
    pub free: bool,
    /// Only players who accept invitations.
    pub available: bool,
}

/// A player who is online.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnlinePlayer {
    /// The player.
    pub player: Player,
    /// The rating; 0 without one.
    pub rating: u32,
    /// The number of seats that the player holds.
    pub seats: u32,
    /// Maximum number of its seats.
    pub seat_limit: u32,
    /// The invitations that it accepts; `None` if it has not said so, and accepts all.
    pub availability: Option<Availability>,
}

impl TryFrom<v1::OnlinePlayer> for OnlinePlayer {
    type Error = Malformed;

    fn try_from(online: v1::OnlinePlayer) -> Result<Self, Malformed> {
        Ok(Self {
            player: parse::required(online.player, "player")?.try_into()?,
            rating: parse::count(online.rating, "rating")?,
            seats: parse::count(online.seats, "seats")?,
            seat_limit: parse::count(online.seat_limit, "seats")?,
            availability: online.availability.map(Availability::try_from).transpose()?,
        })
    }
}
