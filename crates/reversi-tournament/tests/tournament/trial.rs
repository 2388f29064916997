//! A tournament with a clock, a driver and players of known strength.

use std::time::Duration;

use reversi_engine::match_statistics::{Points, Score};
use reversi_room::{
    AiSeat, DisplayName, Issuer, Participant, PlayerId, PlayerKind, Profile, RoomName, Settings as RoomSettings,
    Timestamp, TournamentId,
};
use reversi_tournament::{
    Command, Control, Creation, EntrantId, Event, Fact, Format, Meeting, Outcome, Phase, Rejection, Settings,
    Tournament,
};

pub(crate) const ORGANISER: Issuer = Issuer::Player(PlayerId::from_random(1 << 40));

pub(crate) fn player(number: u32) -> PlayerId {
    PlayerId::from_random(number.into())
}

pub(crate) fn profile(number: u32) -> Profile {
    let name = DisplayName::parse(&format!("p{number}")).expect("a name");
    Profile { id: player(number), name, kind: PlayerKind::Bot, engine_version: None }
}

pub(crate) fn ai() -> AiSeat {
    AiSeat { kind: "roxanne".into(), level: 1, seed: 7 }
}

pub(crate) fn settings(format: Format) -> Settings {
    let name = RoomName::parse("Weekend").expect("a name");
    Settings::new(name.clone(), format, RoomSettings::named(name))
}

pub(crate) fn arena(seconds: u64) -> Format {
    Format::Arena { duration: Duration::from_secs(seconds) }
}

/// A played meeting with these results of the first side.
pub(crate) fn played(games: &[Points]) -> Outcome {
    let mut score = Score::default();
    (0..).zip(games).for_each(|(index, points)| score.count(index, *points));
    let discs = |points: &Points| match points {
        Points::Win => 40,
        Points::Draw => 32,
        Points::Loss => 24,
    };
    let first = games.iter().map(discs).sum();
    Outcome::Played { score, discs: [first, 64 * score.games() - first], faults: [None; 2] }
}

pub(crate) const WON: [Points; 2] = [Points::Win, Points::Win];
pub(crate) const DRAWN: [Points; 2] = [Points::Win, Points::Loss];

pub(crate) struct Trial {
    pub(crate) tournament: Tournament,
    pub(crate) now: Timestamp,
    pub(crate) history: Vec<Event>,
    random: u64,
}

impl Trial {
    /// A tournament that players 1, 2 and so on have joined, with ratings from 2000 down.
    pub(crate) fn new(settings: Settings, players: u32) -> Self {
        settings.check().expect("settings");
        let Issuer::Player(organiser) = ORGANISER else { unreachable!() };
        let creation = Creation { id: TournamentId::from_random(5), organiser, settings };
        let now = Timestamp(1_000_000);
        let tournament = Tournament::new(creation.clone(), now);
        let first = Event { seq: tournament.seq(), at: now, fact: Fact::Created(Box::new(creation)) };
        let mut trial = Self { tournament, now, history: vec![first], random: 1 };
        (1..=players).for_each(|number| drop(trial.join(number).expect("joins")));
        trial
    }

    pub(crate) fn started(settings: Settings, players: u32) -> Self {
        let mut trial = Self::new(settings, players);
        trial.control(Control::Start).expect("starts");
        trial.tick();
        trial
    }

    pub(crate) fn issue(&mut self, issuer: Issuer, command: Command) -> Result<Vec<Event>, Rejection> {
        let events = self.tournament.decide(self.now, issuer, command)?;
        events.iter().for_each(|event| self.tournament.apply(event));
        self.history.extend(events.iter().cloned());
        Ok(events)
    }

    pub(crate) fn server(&mut self, command: Command) -> Vec<Event> {
        self.issue(Issuer::Server, command).expect("the server may do this")
    }

    pub(crate) fn control(&mut self, control: Control) -> Result<Vec<Event>, Rejection> {
        self.issue(ORGANISER, Command::Control(control))
    }

    pub(crate) fn join(&mut self, number: u32) -> Result<Vec<Event>, Rejection> {
        let who = Participant::Player(profile(number));
        let rating = u16::try_from(2000 - number).expect("few");
        self.issue(Issuer::Player(player(number)), Command::Join { who, rating, password: None })
    }

    pub(crate) fn presence(&mut self, number: u32, present: bool) -> Vec<Event> {
        self.server(Command::SetPresence(player(number), present))
    }

    /// A number that differs from call to call.
    pub(crate) fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random >> 33
    }

    /// Ticks until no deadline has passed.
    pub(crate) fn tick(&mut self) {
        let mut ticks = 0;
        while self.tournament.deadline().is_some_and(|at| at <= self.now) {
            let random = self.draw();
            self.server(Command::Tick { random });
            ticks += 1;
            assert!(ticks < 2000, "ticking does not come to an end");
        }
    }

    pub(crate) fn wait(&mut self, seconds: u64) {
        self.now = self.now.after(Duration::from_secs(seconds));
        self.tick();
    }

    /// A meeting of a pool takes at least as long as its entrants must wait for the next one.
    pub(crate) fn finish(&mut self, number: u32, outcome: Outcome) -> Vec<Event> {
        let opened = self.tournament.meeting(number).and_then(|meeting| meeting.opened);
        if let Some(opened) = opened.filter(|_| self.tournament.settings().is_pool()) {
            self.now = self.now.max(opened.after(Tournament::POOL_PACE));
            self.tick();
        }
        let events = self.server(Command::Finish { number, outcome });
        self.tick();
        events
    }

    pub(crate) fn running(&self) -> Vec<Meeting> {
        self.tournament.running().cloned().collect()
    }

    /// The better rated side wins about three games of four.
    pub(crate) fn any_result(&mut self, meeting: &Meeting) -> Outcome {
        let second = meeting.pairing.second.expect("an opponent");
        let favourite_is_first = meeting.pairing.first < second;
        let game = |random: u64| match random % 8 {
            0 => Points::Draw,
            1 | 2 => {
                if favourite_is_first {
                    Points::Loss
                } else {
                    Points::Win
                }
            }
            _ => {
                if favourite_is_first {
                    Points::Win
                } else {
                    Points::Loss
                }
            }
        };
        let games: Vec<Points> = (0..self.tournament.settings().game.games).map(|_| game(self.draw())).collect();
        played(&games)
    }

    /// Plays all meetings that run.
    pub(crate) fn play_round(&mut self) {
        for meeting in self.running() {
            let outcome = self.any_result(&meeting);
            self.finish(meeting.pairing.number, outcome);
        }
    }

    pub(crate) fn play_to_the_end(&mut self) {
        while !matches!(self.tournament.phase(), Phase::Ended(_)) {
            self.play_round();
        }
    }

    /// The pairs of a round, byes too.
    pub(crate) fn round(&self, number: u32) -> Vec<(EntrantId, Option<EntrantId>)> {
        let meetings = self.tournament.meetings().filter(|meeting| meeting.round == number);
        meetings.map(|meeting| (meeting.pairing.first, meeting.pairing.second)).collect()
    }
}
