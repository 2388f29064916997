//! Pools: arenas without an end that the server itself organises.

use sha2::{Digest as _, Sha256};

use crate::{
    room::{
        AiSeat, Issuer, Opening, Opponents, Participant, PlayerId, PlayerKind, RoomName, Seq, Settings as RoomSettings,
        TimeControl, Timestamp, TournamentId,
    },
    tournament::{Command, Control, Creation, Event, Fact, Format, Rejection, Settings, Tournament},
};

/// The house players of a pool: they play an entrant without an opponent.
const HOUSE: [(&str, u8); 4] = [("random", 1), ("roxanne", 1), ("expert", 1), ("expert", 3)];

/// A pool: two players who are free and connected play two rated games with one opening, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its clock as text, such as "60+1".
    pub name: String,
    /// The clock of its games.
    pub time: TimeControl,
    /// Whether people may join, and bots.
    pub admits: Opponents,
    /// Whether its games are rated.
    pub rated: bool,
}

impl Pool {
    /// Its id, which follows from what it is: nodes with the same options have the same pools, and so has a server after a
    /// restart.
    #[must_use]
    pub fn id(&self) -> TournamentId {
        let Self { name, admits, rated, .. } = self;
        let text = format!("pool {name} people {} bots {} rated {rated}", admits.people, admits.bots);
        let hash = Sha256::digest(text);
        TournamentId::from_random(hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes)))
    }

    /// Whether it is meant by this text, and admits players of this kind.
    pub(super) fn is_for(&self, name: &str, kind: PlayerKind) -> bool {
        self.name == name && self.admits.accept_kind(kind)
    }

    /// A new pool that has started, with its house players, and the events that lead to it. `seed` decides openings.
    ///
    /// # Errors
    /// When it cannot have these settings.
    pub(super) fn begin(&self, seed: u64, now: Timestamp) -> Result<(Tournament, Vec<Event>), Rejection> {
        let id = self.id();
        let organiser = PlayerId::from_random(id.bits());
        let creation = Creation { id, organiser, settings: self.settings(seed)? };
        let created = Event { seq: Seq(1), at: now, fact: Fact::Created(Box::new(creation.clone())) };
        let (mut pool, mut events) = (Tournament::new(creation, now), vec![created]);
        let house = HOUSE.map(|(kind, level)| AiSeat { kind: kind.into(), level, seed: u64::from(level) ^ seed });
        let joins = house.map(|ai| Command::Join { who: Participant::Ai(ai), rating: 0, password: None });
        for command in joins.into_iter().chain([Command::Control(Control::Start)]) {
            for event in pool.decide(now, Issuer::Player(organiser), command)? {
                pool.apply(&event);
                events.push(event);
            }
        }
        Ok((pool, events))
    }

    fn settings(&self, seed: u64) -> Result<Settings, Rejection> {
        let kinds = match (self.admits.people, self.admits.bots) {
            (true, true) => "all",
            (true, false) => "people",
            (false, _) => "bots",
        };
        let rated = if self.rated { "rated" } else { "unrated" };
        let name = RoomName::parse(&format!("Pool {} {kinds} {rated}", self.name));
        let name = name.map_err(|_| Rejection::BadSettings(BAD_NAME))?;
        let game = RoomSettings {
            time: self.time,
            rated: self.rated,
            opening: Opening::Balanced { seed: 0 },
            swap_sides: true,
            ..RoomSettings::named(name.clone())
        };
        let format = Format::Arena { duration: std::time::Duration::ZERO };
        let settings = Settings {
            admits: self.admits,
            max_entrants: Settings::MAX_ENTRANTS,
            max_running: Settings::MAX_ENTRANTS / 2,
            seed,
            ..Settings::new(name, format, game)
        };
        settings.check().map_err(Rejection::BadSettings)?;
        Ok(settings)
    }
}

const BAD_NAME: crate::room::SettingsError =
    crate::room::SettingsError { field: "name", problem: "must be a short text" };

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tournament::Phase;

    fn pool() -> Pool {
        let time = TimeControl { per_move: None, total: Some(Duration::from_secs(60)), increment: Duration::ZERO };
        Pool { name: "60+0".into(), time, admits: Opponents { people: false, ..Opponents::default() }, rated: true }
    }

    #[test]
    fn a_pool_begins_with_its_house_players_and_is_another_with_other_terms() {
        let (begun, events) = pool().begin(7, Timestamp(5)).unwrap();
        assert_eq!((begun.phase(), begun.entrants().len()), (Phase::Running, HOUSE.len()));
        assert_eq!(Tournament::replay(&events).as_ref(), Some(&begun));
        assert!(begun.settings().is_pool() && begun.deadline().is_none(), "it waits for a player");
        let ids = [
            pool().id(),
            Pool { name: "30+0".into(), ..pool() }.id(),
            Pool { rated: false, ..pool() }.id(),
            Pool { admits: Opponents::default(), ..pool() }.id(),
        ];
        assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), ids.len());
        assert!(pool().is_for("60+0", PlayerKind::Bot) && !pool().is_for("60+0", PlayerKind::Human));
    }
}
