//! Deciding commands.

use reversi_room::{Issuer, LeaveReason, Participant, PasswordHash, PlayerId, RoomId, Timestamp};
use sha2::{Digest as _, Sha256};

use super::{
    command::{Command, Control},
    deadline::DueAction,
    entrant::{EntrantId, Fault},
    event::{Ending, Event, Fact},
    lot::lot,
    meeting::{Adjudication, Forfeiter, Meeting, Outcome, Pairing, Stage},
    rejection::Rejection,
    round::Round,
    settings::{Format, Settings},
    state::{Phase, Tournament},
};

impl Tournament {
    /// The events that a command causes at a given time; none if there is nothing to change.
    ///
    /// If [`Tournament::deadline`] has passed, the driver must first issue [`Command::Tick`], until it has not.
    ///
    /// # Errors
    /// Why the command is rejected.
    pub fn decide(&self, now: Timestamp, issuer: Issuer, command: Command) -> Result<Vec<Event>, Rejection> {
        let facts = self.judge(now, issuer, command)?;
        let mut seq = self.seq;
        let event = |fact| {
            seq = seq.next();
            Event { seq, at: now, fact }
        };
        Ok(facts.into_iter().map(event).collect())
    }

    fn judge(&self, now: Timestamp, issuer: Issuer, command: Command) -> Result<Vec<Fact>, Rejection> {
        if let Phase::Ended(_) = self.phase {
            return match command {
                // Rooms may still tell their ends.
                Command::Finish { .. } | Command::SetPresence(..) | Command::Credit { .. } | Command::Tick { .. } => {
                    Ok(Vec::new())
                }
                Command::Leave => self.find(player_of(issuer)?).map(|_| Vec::new()),
                Command::Join { who: Participant::Player(_), .. } => Err(Rejection::TournamentEnded),
                // The end may be hidden from others by the delay for spectators.
                Command::Configure(_)
                | Command::Join { who: Participant::Ai(_), .. }
                | Command::Exclude(_)
                | Command::Admit(_)
                | Command::Control(_)
                | Command::Adjudicate { .. } => self.require_organiser(issuer).and(Err(Rejection::TournamentEnded)),
            };
        }
        match command {
            Command::Configure(settings) => {
                self.require_organiser(issuer)?;
                self.configure(*settings)
            }
            Command::Join { who, rating, password } => self.join(issuer, who, rating, password.as_ref()),
            Command::Leave => self.leave(self.find(player_of(issuer)?)?, LeaveReason::Left),
            Command::Exclude(entrant) => {
                self.require_organiser(issuer)?;
                self.leave(entrant, LeaveReason::Banned)
            }
            Command::Admit(entrant) => {
                self.require_organiser(issuer)?;
                let excluded = self.entrants.get(&entrant).ok_or(Rejection::EntrantNotFound)?;
                let is_excluded = excluded.left == Some(LeaveReason::Banned);
                let left = Fact::Left { entrant, reason: LeaveReason::Left };
                Ok(is_excluded.then_some(left).into_iter().collect())
            }
            Command::SetPresence(player, present) => {
                require_server(issuer)?;
                Ok(self.set_presence(player, present))
            }
            Command::Control(Control::Cancel) if issuer == Issuer::Server => Ok(self.end(Ending::Stale)),
            Command::Control(control) => {
                self.require_organiser(issuer)?;
                self.control(control)
            }
            Command::Finish { number, outcome } => {
                require_server(issuer)?;
                self.finish(now, number, outcome)
            }
            Command::Adjudicate { number, outcome, why } => {
                self.require_organiser(issuer)?;
                self.check_outcome(self.meeting(number).ok_or(Rejection::MeetingNotFound)?, &outcome)?;
                let by = Some(self.organiser).filter(|organiser| issuer == Issuer::Player(*organiser));
                Ok(vec![Fact::Adjudicated { number, outcome, adjudication: Adjudication { by, why } }])
            }
            Command::Credit { micros } => {
                require_server(issuer)?;
                let counts = micros < 0 && self.started.is_some() || micros > 0 && self.running().next().is_some();
                Ok(counts.then_some(Fact::ClockCredited { micros }).into_iter().collect())
            }
            Command::Tick { random } => {
                require_server(issuer)?;
                self.tick(now, random)
            }
        }
    }

    fn require_organiser(&self, issuer: Issuer) -> Result<(), Rejection> {
        match issuer {
            Issuer::Player(player) if player == self.organiser => Ok(()),
            Issuer::Admin => Ok(()),
            Issuer::Player(_) | Issuer::Server => Err(Rejection::NotOrganiser),
        }
    }

    fn configure(&self, settings: Settings) -> Result<Vec<Fact>, Rejection> {
        if self.phase != Phase::Open {
            return Err(Rejection::AlreadyStarted);
        }
        settings.check().map_err(Rejection::BadSettings)?;
        if self.active().count() > settings.max_entrants.into() {
            return Err(Rejection::TournamentFull);
        }
        let changed = settings != self.settings;
        Ok(changed.then(|| Fact::Configured(Box::new(settings))).into_iter().collect())
    }

    fn find(&self, player: PlayerId) -> Result<EntrantId, Rejection> {
        let found = self.entrants.iter().find(|(_, entrant)| entrant.who.is(player));
        found.map(|(id, _)| *id).ok_or(Rejection::EntrantNotFound)
    }

    fn join(
        &self,
        issuer: Issuer,
        who: Participant,
        rating: u16,
        password: Option<&PasswordHash>,
    ) -> Result<Vec<Fact>, Rejection> {
        let known = self.entrant(&who);
        let left = known.and_then(|id| self.entrants.get(&id)).map(|entrant| entrant.left);
        match &who {
            // An entrant needs no password to come back.
            Participant::Player(profile) if issuer == Issuer::Player(profile.id) && left == Some(None) => {}
            Participant::Player(profile) if issuer == Issuer::Player(profile.id) => {
                let admits = &self.settings.admits;
                if !admits.accept_kind(profile.kind) || !admits.accept_rating(rating) {
                    return Err(Rejection::NotAdmitted);
                }
                if self.settings.password.is_some() && self.settings.password.as_ref() != password {
                    return Err(Rejection::BadPassword);
                }
            }
            Participant::Player(_) => return Err(Rejection::NotYou),
            Participant::Ai(_) => self.require_organiser(issuer)?,
        }
        match left {
            Some(None) => return Ok(Vec::new()),
            Some(Some(LeaveReason::Banned)) => return Err(Rejection::Excluded),
            Some(Some(LeaveReason::Left | LeaveReason::Kicked | LeaveReason::Absent)) | None => {}
        }
        let is_late = self.phase != Phase::Open && matches!(self.settings.format, Format::AllPlayAll { .. });
        if is_late || self.in_playoff() {
            return Err(Rejection::AlreadyStarted);
        }
        if self.active().count() >= self.settings.max_entrants.into() {
            return Err(Rejection::TournamentFull);
        }
        let entrant = known.unwrap_or(EntrantId(self.last_entrant.0.saturating_add(1)));
        Ok(vec![Fact::Joined { entrant, who, rating }])
    }

    /// Who leaves forfeits a running meeting.
    fn leave(&self, entrant: EntrantId, reason: LeaveReason) -> Result<Vec<Fact>, Rejection> {
        let leaving = self.entrants.get(&entrant).ok_or(Rejection::EntrantNotFound)?;
        let banned = || self.entrants.values().filter(|one| one.left == Some(LeaveReason::Banned)).count();
        if leaving.left.is_some() && (reason == LeaveReason::Left || leaving.left == Some(reason)) {
            return Ok(Vec::new());
        }
        if reason == LeaveReason::Banned && banned() >= Self::MAX_EXCLUDED {
            return Err(Rejection::TooManyExcluded);
        }
        let meeting = leaving.meeting.and_then(|number| self.meeting(number));
        let forfeit = meeting.map(|meeting| {
            let by = if meeting.side_of(entrant) == Some(0) { Forfeiter::First } else { Forfeiter::Second };
            Fact::Finished { number: meeting.pairing.number, outcome: Outcome::Forfeit { by, fault: false } }
        });
        Ok(forfeit.into_iter().chain([Fact::Left { entrant, reason }]).collect())
    }

    fn set_presence(&self, player: PlayerId, present: bool) -> Vec<Fact> {
        let changes = |id: &EntrantId| {
            self.entrants.get(id).is_some_and(|entrant| entrant.left.is_none() && entrant.present != present)
        };
        let entrant = self.find(player).ok().filter(changes);
        entrant.map(|entrant| Fact::PresenceChanged { entrant, present }).into_iter().collect()
    }

    fn control(&self, control: Control) -> Result<Vec<Fact>, Rejection> {
        let is_open = self.phase == Phase::Open;
        match control {
            Control::Start if is_open => self.start(),
            Control::Start => Err(Rejection::AlreadyStarted),
            Control::Cancel => Ok(self.end(Ending::Cancelled)),
            Control::Pause | Control::Resume | Control::End if is_open => Err(Rejection::NotStarted),
            Control::Pause if self.phase == Phase::Paused => Ok(Vec::new()),
            Control::Pause => Ok(vec![Fact::Paused]),
            Control::Resume if self.phase == Phase::Paused => Ok(vec![Fact::Resumed]),
            Control::Resume => Ok(Vec::new()),
            Control::End => Ok(self.end(Ending::Stopped)),
        }
    }

    /// An arena may start empty.
    fn start(&self) -> Result<Vec<Fact>, Rejection> {
        let entrants = self.contenders().count();
        if !self.has_opponents() && !matches!(self.settings.format, Format::Arena { .. }) {
            return Err(Rejection::TooFewEntrants);
        }
        match &self.settings.format {
            Format::Swiss { rounds } => {
                let highest = highest_rounds(entrants, self.settings.fills_bye.is_some());
                if u32::from(*rounds) > highest {
                    return Err(Rejection::TooManyRounds(highest));
                }
            }
            Format::AllPlayAll { cycles, .. } => {
                let meetings = match self.side_of_gauntlet(true).count() {
                    0 => entrants * (entrants - 1) / 2,
                    count => count * (entrants - count),
                };
                if meetings * usize::from(*cycles) > Self::MAX_MEETINGS as usize {
                    return Err(Rejection::TooManyMeetings(Self::MAX_MEETINGS));
                }
            }
            Format::Arena { .. } => {}
        }
        Ok(self.starting_facts().collect())
    }

    /// The start, with the AI that fills byes, if there is one.
    fn starting_facts(&self) -> impl Iterator<Item = Fact> {
        let entrant = EntrantId(self.last_entrant.0.saturating_add(1));
        let filler = self.settings.fills_bye.clone().map(Participant::Ai);
        let filler = filler.filter(|who| self.entrant(who).is_none());
        let joins = filler.map(|who| Fact::Joined { entrant, who, rating: 0 });
        joins.into_iter().chain([Fact::Started])
    }

    /// As [`Self::start`]. With too few entrants for its rounds, a Swiss tournament starts with fewer rounds.
    fn scheduled_start(&self) -> Vec<Fact> {
        match self.start() {
            Ok(facts) => facts,
            Err(Rejection::TooManyRounds(highest)) => {
                let rounds = u8::try_from(highest).unwrap_or(Settings::MAX_ROUNDS);
                let settings = Settings { format: Format::Swiss { rounds }, ..self.settings.clone() };
                std::iter::once(Fact::Configured(Box::new(settings))).chain(self.starting_facts()).collect()
            }
            Err(Rejection::TooFewEntrants) => self.end(Ending::TooFewEntrants),
            Err(_) => self.end(Ending::Cancelled),
        }
    }

    fn end(&self, ending: Ending) -> Vec<Fact> {
        let void = |number: &u32| Fact::Finished { number: *number, outcome: Outcome::Void };
        self.unfinished.iter().map(void).chain([Fact::Ended(ending)]).collect()
    }

    /// A meeting that is finished, or that a pool has forgotten, stays as it is.
    fn finish(&self, now: Timestamp, number: u32, outcome: Outcome) -> Result<Vec<Fact>, Rejection> {
        if !self.unfinished.contains(&number) {
            let known = (1..self.next_number()).contains(&number);
            return if known { Ok(Vec::new()) } else { Err(Rejection::MeetingNotFound) };
        }
        let meeting = self.meeting(number).ok_or(Rejection::MeetingNotFound)?;
        self.check_outcome(meeting, &outcome)?;
        let put_aside = meeting.sides().zip(outcome.conduct());
        let put_aside = put_aside.filter_map(|(entrant, fault)| self.put_aside(now, entrant, number, fault?));
        Ok(std::iter::once(Fact::Finished { number, outcome }).chain(put_aside).collect())
    }

    fn put_aside(&self, now: Timestamp, entrant: EntrantId, number: u32, fault: Option<Fault>) -> Option<Fact> {
        let mut conduct = self.entrants.get(&entrant)?.conduct.clone();
        conduct.count(number, fault);
        let (put_aside, meetings) = conduct.put_aside(now)?;
        Some(Fact::PutAside { entrant, put_aside, meetings })
    }

    fn check_outcome(&self, meeting: &Meeting, outcome: &Outcome) -> Result<(), Rejection> {
        let games = self.games();
        let possible = meeting.pairing.second.is_some()
            && match outcome {
                Outcome::Played { score, discs, .. } => {
                    let paired: u32 = score.pairs.iter().fold(0, |sum, count| sum.saturating_add(*count));
                    score.games() <= games
                        && paired.saturating_mul(2) <= score.games()
                        && discs.iter().fold(0, |sum: u32, discs| sum.saturating_add(*discs)) <= 64 * games
                }
                Outcome::Forfeit { .. } | Outcome::Void => true,
            };
        if possible { Ok(()) } else { Err(Rejection::BadOutcome) }
    }

    /// Does the first thing whose deadline has passed. Repeated, it comes to an end: each step removes its deadline,
    /// and a deadline that it adds in the past is that of the next round, of which there are finitely many until a
    /// meeting is played.
    fn tick(&self, now: Timestamp, random: u64) -> Result<Vec<Fact>, Rejection> {
        let Some((_, due)) = self.due().filter(|(at, _)| *at <= now) else { return Ok(Vec::new()) };
        match due {
            DueAction::Start => Ok(self.scheduled_start()),
            DueAction::NoShow(number) => {
                let appeared = self.meeting(number).map(|meeting| meeting.appeared);
                let absence = appeared.and_then(Outcome::absence);
                absence.map_or(Ok(Vec::new()), |outcome| self.finish(now, number, outcome))
            }
            DueAction::Pair => Ok(match self.next_round(now) {
                Some(round) => vec![self.paired(round, random)],
                None => self.end(Ending::Completed),
            }),
            DueAction::End => Ok(self.end(Ending::Completed)),
        }
    }

    fn paired(&self, round: Round, random: u64) -> Fact {
        let Round { stage, number: round, pairs } = round;
        let pairing = |(number, (first, second)): (u32, (EntrantId, Option<EntrantId>))| Pairing {
            number,
            first,
            second,
            room: self.room(lot(random, number.into())),
            opening: self.opening(stage, round, number),
        };
        Fact::Paired { stage, round, meetings: (self.next_number()..).zip(pairs).map(pairing).collect() }
    }

    /// The id of a room, with the low bits of `random`. Its high bits are those of the tournament: servers that share the
    /// rooms divide them by these bits, so that one server has both.
    fn room(&self, random: u64) -> RoomId {
        const LOW: u64 = (1 << 48) - 1;
        RoomId::from_random(self.id.bits() & !LOW | random & LOW)
    }

    /// The openings of a meeting: those of the others in its round; in a gauntlet, of all of its cycle; in an arena,
    /// its own.
    fn opening(&self, stage: Stage, round: u32, number: u32) -> u64 {
        let item = match (&self.settings.format, stage) {
            (_, Stage::Playoff) => u64::from(round) << 32,
            _ if self.settings.is_gauntlet() => u64::from(round.saturating_sub(1) / self.cycle()),
            (Format::AllPlayAll { .. } | Format::Swiss { .. }, _) => round.into(),
            (Format::Arena { .. }, _) => number.into(),
        };
        secret_number(self.settings.seed, item)
    }
}

/// A number from which the seed, and so the next openings, cannot be computed: rooms show it.
fn secret_number(seed: u64, item: u64) -> u64 {
    let mut hash = Sha256::new();
    hash.update(seed.to_be_bytes());
    hash.update(item.to_be_bytes());
    hash.finalize().first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// The most rounds that a Swiss tournament can surely pair: each meets each other; or has a bye, which the top third
/// never has.
fn highest_rounds(entrants: usize, fills_bye: bool) -> u32 {
    let rounds = match entrants % 2 {
        0 => entrants - 1,
        _ if fills_bye => entrants,
        _ => entrants - entrants / 3,
    };
    u32::try_from(rounds).unwrap_or(u32::MAX)
}

/// The player who issued the command; refused for others.
fn player_of(issuer: Issuer) -> Result<PlayerId, Rejection> {
    match issuer {
        Issuer::Player(player) => Ok(player),
        Issuer::Admin | Issuer::Server => Err(Rejection::EntrantNotFound),
    }
}

fn require_server(issuer: Issuer) -> Result<(), Rejection> {
    if issuer == Issuer::Server { Ok(()) } else { Err(Rejection::NotServer) }
}
