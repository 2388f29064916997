//! Stored settings.

use reversi_room::{
    Opponents, PasswordHash, RoomName, Timestamp,
    stored::{
        StoredError, narrow, read_player, required,
        v1::{self, tournament_settings::Format as StoredFormat},
    },
};

use crate::settings::{Format, Playoff, Settings};

impl From<&Settings> for v1::TournamentSettings {
    fn from(settings: &Settings) -> Self {
        let format = match &settings.format {
            Format::AllPlayAll { cycles, challengers } => StoredFormat::AllPlayAll(v1::TournamentAllPlayAll {
                cycles: (*cycles).into(),
                challengers: challengers.iter().map(|player| player.bits()).collect(),
            }),
            Format::Swiss { rounds } => StoredFormat::Swiss((*rounds).into()),
            Format::Arena { duration } => StoredFormat::Arena((*duration).into()),
        };
        Self {
            name: settings.name.to_string(),
            format: Some(format),
            playoff: settings.playoff.map_or(0, |playoff| u32::try_from(playoff.size()).unwrap_or(0)),
            game: Some((&settings.game).into()),
            admits: (settings.admits != Opponents::default()).then(|| settings.admits.into()),
            password: settings.password.as_ref().map(|hash| hash.0.to_vec()),
            max_entrants: settings.max_entrants.into(),
            max_running: settings.max_running.into(),
            starts_at: settings.starts_at.map(|at| at.0),
            no_show: Some(settings.no_show.into()),
            fills_bye: settings.fills_bye.as_ref().map(Into::into),
            sprt: settings.sprt.map(Into::into),
            seed: settings.seed,
        }
    }
}

/// Settings were within bounds when written: a tightened bound must still accept those of existing tournaments.
pub(super) fn read_settings(stored: Option<v1::TournamentSettings>) -> Result<Settings, StoredError> {
    let stored = required(stored, "settings")?;
    let settings = Settings {
        name: RoomName::from_stored(&stored.name).map_err(|_| StoredError::Malformed("name of a tournament"))?,
        format: match required(stored.format, "format")? {
            StoredFormat::AllPlayAll(all) => Format::AllPlayAll {
                cycles: narrow(all.cycles, "cycles")?,
                challengers: all.challengers.into_iter().map(read_player).collect::<Result<_, _>>()?,
            },
            StoredFormat::Swiss(rounds) => Format::Swiss { rounds: narrow(rounds, "rounds")? },
            StoredFormat::Arena(duration) => Format::Arena { duration: duration.read()? },
        },
        playoff: match stored.playoff {
            0 => None,
            size => Some(required(Playoff::of_size(size), "playoff")?),
        },
        game: required(stored.game, "settings of a room")?.read()?,
        admits: stored.admits.map(v1::Opponents::read).transpose()?.unwrap_or_default(),
        password: stored.password.map(|hash| PasswordHash(hash.into())),
        max_entrants: narrow(stored.max_entrants, "entrants")?,
        max_running: narrow(stored.max_running, "running meetings")?,
        starts_at: stored.starts_at.map(Timestamp),
        no_show: v1::Duration::read_or_zero(stored.no_show)?,
        fills_bye: stored.fills_bye.map(v1::Ai::read).transpose()?,
        sprt: stored.sprt.map(v1::Sprt::read).transpose()?,
        seed: stored.seed,
    };
    settings.check().map_err(|error| StoredError::Malformed(error.field))?;
    Ok(settings)
}
