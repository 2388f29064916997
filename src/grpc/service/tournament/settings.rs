//! The settings of tournaments on the wire.

use std::time::Duration;

use crate::{
    proto::{
        convert::{self, Malformed, duration, read_duration, read_timestamp, timestamp},
        v1::{self, tournament_settings::Format as Wire},
    },
    room::{AiSeat, DisplayName, Opponents, PlayerId, RoomName, Settings as RoomSettings, Timestamp},
    runtime::{RoomError, Rooms},
    tournament::{Format, Playoff, Settings},
};

/// A tournament that is not over counts for the limits of the server.
const LATEST_START: Duration = Duration::from_secs(366 * 24 * 60 * 60);

fn bad(field: &str, problem: &str) -> Malformed {
    Malformed::setting(field, problem)
}

/// Settings for the wire, without the seed, which decides openings and lots.
pub(super) fn settings(settings: &Settings) -> v1::TournamentSettings {
    let format = match &settings.format {
        Format::AllPlayAll { cycles, challengers } => Wire::AllPlayAll(v1::AllPlayAll {
            cycles: (*cycles).into(),
            challenger_ids: challengers.iter().map(ToString::to_string).collect(),
        }),
        Format::Swiss { rounds } => Wire::Swiss(v1::Swiss { rounds: (*rounds).into() }),
        Format::Arena { duration: lasts } => Wire::Arena(v1::Arena { duration: Some(duration(*lasts)) }),
    };
    v1::TournamentSettings {
        name: settings.name.to_string(),
        format: Some(format),
        playoff: settings.playoff.map_or(0, |playoff| convert::count(playoff.size())),
        game: Some(convert::room_settings(&settings.game)),
        admits: Some(admits(settings.admits)),
        max_entrants: settings.max_entrants.into(),
        max_running: settings.max_running.into(),
        starts_at: settings.starts_at.map(timestamp),
        no_show: Some(duration(settings.no_show)),
        fills_bye: settings.fills_bye.as_ref().map(convert::ai_seat),
        sprt: settings.sprt.map(convert::sprt),
    }
}

/// The kinds are named even if they are all.
fn admits(admits: Opponents) -> v1::Opponents {
    let all =
        v1::Opponents { kinds: vec![v1::PlayerKind::Human.into(), v1::PlayerKind::Bot.into()], ..Default::default() };
    let wire = convert::opponents(admits).unwrap_or_else(|| all.clone());
    if wire.kinds.is_empty() { v1::Opponents { kinds: all.kinds, ..wire } } else { wire }
}

/// Checked settings without a password; unset fields have their defaults.
///
/// # Errors
/// `BAD_SETTINGS` for a path below `settings`, or an unknown AI.
pub(super) fn read_settings(
    rooms: &Rooms,
    wire: Option<v1::TournamentSettings>,
    organiser: &DisplayName,
    now: Timestamp,
) -> Result<Settings, tonic::Status> {
    let wire = wire.unwrap_or_default();
    let name = RoomName::parse(&wire.name).map_err(|error| bad("name", &error.to_string()))?;
    let format = read_format(wire.format)?;
    let game = read_game(wire.game, organiser)?;
    let games = game.games;
    let mut settings = Settings::new(name, format, game);
    settings.game.games = games;
    settings.playoff = match wire.playoff {
        0 => None,
        size => {
            let playoff = u32::try_from(size).ok().and_then(Playoff::of_size);
            Some(playoff.ok_or_else(|| bad("playoff", "must be 0, 2, 4 or 8"))?)
        }
    };
    let admits = wire.admits.filter(|admits| !admits.kinds.is_empty());
    let admits = admits.ok_or_else(|| bad("admits.kinds", "must name the kinds of players who may join"))?;
    settings.admits = convert::read_opponents("admits", &admits)?;
    let read_count = |field: &str, wire: i32, default: u16| match wire {
        0 => Ok(default),
        _ => u16::try_from(wire).map_err(|_| bad(field, "must not be negative, nor above 1000")),
    };
    settings.max_entrants = read_count("max_entrants", wire.max_entrants, settings.max_entrants)?;
    settings.max_running = read_count("max_running", wire.max_running, settings.max_running)?;
    settings.starts_at = wire.starts_at.map(|at| read_timestamp("settings.starts_at", at)).transpose()?;
    if settings.starts_at.is_some_and(|at| at < now || at > now.after(LATEST_START)) {
        return Err(bad("starts_at", "must be in the future, within a year").into());
    }
    if let Some(no_show) = wire.no_show {
        settings.no_show = read_duration("settings.no_show", no_show)?;
    }
    settings.fills_bye = wire.fills_bye.map(|ai| read_ai(rooms, ai)).transpose()?;
    settings.sprt = wire.sprt.as_ref().map(convert::read_sprt).transpose()?;
    settings.check().map_err(|error| bad(error.field, error.problem))?;
    if settings.is_pool() {
        return Err(bad("arena.duration", "must be more than 0 and at most 31 days").into());
    }
    Ok(settings)
}

fn read_format(wire: Option<Wire>) -> Result<Format, Malformed> {
    // Beyond all bounds, which are checked later.
    let small = |wire: i32| u8::try_from(wire).unwrap_or(u8::MAX);
    Ok(match wire {
        None => return Err(bad("format", "must be all_play_all, swiss or arena")),
        Some(Wire::AllPlayAll(all)) => {
            let read =
                |id: &String| id.parse().map_err(|_| bad("all_play_all.challenger_ids", "must be ids of players"));
            let challengers = all.challenger_ids.iter().map(read).collect::<Result<Vec<PlayerId>, _>>()?;
            Format::AllPlayAll { cycles: small(all.cycles).max(1), challengers }
        }
        Some(Wire::Swiss(swiss)) => Format::Swiss { rounds: small(swiss.rounds) },
        Some(Wire::Arena(arena)) => Format::Arena {
            duration: match arena.duration {
                Some(lasts) => read_duration("settings.arena.duration", lasts)?,
                None => Duration::ZERO,
            },
        },
    })
}

/// Two games with one balanced opening by default. Rated games need their own openings in any case.
fn read_game(wire: Option<v1::RoomSettings>, organiser: &DisplayName) -> Result<RoomSettings, Malformed> {
    let mut wire = wire.unwrap_or_default();
    if wire.games == 0 {
        wire.games = 2;
    }
    if wire.opening.is_none() {
        let balanced = v1::opening::Opening::Balanced(v1::BalancedOpening { seed: 0 });
        wire.opening = Some(v1::Opening { opening: Some(balanced) });
    }
    let below_game = |mut malformed: Malformed| {
        if let Some(field) = malformed.field.strip_prefix("settings.") {
            malformed.field = format!("settings.game.{field}");
        }
        malformed
    };
    convert::read_new_settings(Some(wire), organiser).map_err(below_game)
}

/// An AI of a kind and level that this server has.
pub(super) fn read_ai(rooms: &Rooms, wire: v1::AiSeat) -> Result<AiSeat, tonic::Status> {
    let spec = convert::read_ai("ai", wire)?;
    rooms.ai_seat(&spec).map_err(|error: RoomError| error.into())
}
