//! Stored events.

use reversi_engine::match_statistics::{Points, Score};
use reversi_room::{
    ChatText, LeaveReason, PlayerId, Timestamp, TournamentId,
    stored::{
        Numbered, StoredError, checked, narrow, read_player, read_player_or_none, read_room, read_seq, required,
        v1::{self, tournament_event::Kind, tournament_outcome::Kind as StoredOutcome},
    },
};

use super::{
    codec::{fault_number, participant, read_entrant, read_participant},
    settings::read_settings,
};
use crate::{
    entrant::{Fault, PutAside},
    event::{Creation, Ending, Event, Fact},
    meeting::{Adjudication, Forfeiter, Outcome, Pairing, Stage},
};

impl From<&Event> for v1::TournamentEvent {
    fn from(event: &Event) -> Self {
        let kind = match &event.fact {
            Fact::Created(creation) => Kind::Created(v1::TournamentCreation {
                id: creation.id.bits(),
                organiser: creation.organiser.bits(),
                settings: Some((&creation.settings).into()),
            }),
            Fact::Configured(settings) => Kind::Configured((&**settings).into()),
            Fact::Joined { entrant, who, rating } => Kind::Joined(v1::TournamentJoined {
                entrant: entrant.0,
                who: Some(participant(who)),
                rating: (*rating).into(),
            }),
            Fact::Left { entrant, reason } => {
                Kind::Left(v1::TournamentLeft { entrant: entrant.0, reason: reason.number() })
            }
            Fact::PresenceChanged { entrant, present } => {
                Kind::PresenceChanged(v1::TournamentPresence { entrant: entrant.0, present: *present })
            }
            Fact::PutAside { entrant, put_aside, meetings } => Kind::PutAside(v1::TournamentEntrantPutAside {
                entrant: entrant.0,
                put_aside: Some((*put_aside).into()),
                meetings: meetings.clone(),
            }),
            Fact::Started => Kind::Started(()),
            Fact::Paired { stage, round, meetings } => Kind::Paired(v1::TournamentRound {
                stage: stage.number(),
                round: *round,
                meetings: meetings.iter().map(Into::into).collect(),
            }),
            Fact::Finished { number, outcome } => {
                Kind::Finished(v1::TournamentFinished { number: *number, outcome: Some(outcome.into()) })
            }
            Fact::Adjudicated { number, outcome, adjudication } => Kind::Adjudicated(v1::TournamentAdjudicated {
                number: *number,
                outcome: Some(outcome.into()),
                adjudication: Some(adjudication.into()),
            }),
            Fact::Paused => Kind::Paused(()),
            Fact::Resumed => Kind::Resumed(()),
            Fact::ClockCredited { micros } => Kind::ClockCredited(*micros),
            Fact::Ended(ending) => Kind::Ended(ending.number()),
        };
        Self { seq: event.seq.0, at: event.at.0, kind: Some(kind) }
    }
}

pub(super) fn read_event(stored: v1::TournamentEvent) -> Result<Event, StoredError> {
    let fact = match required(stored.kind, "event of a tournament")? {
        Kind::Created(creation) => Fact::Created(Box::new(Creation {
            id: required(TournamentId::from_bits(creation.id), "id of a tournament")?,
            organiser: read_player(creation.organiser)?,
            settings: read_settings(creation.settings)?,
        })),
        Kind::Configured(settings) => Fact::Configured(Box::new(read_settings(Some(settings))?)),
        Kind::Joined(joined) => Fact::Joined {
            entrant: read_entrant(joined.entrant)?,
            who: read_participant(joined.who)?,
            rating: narrow(joined.rating, "rating")?,
        },
        Kind::Left(left) => {
            Fact::Left { entrant: read_entrant(left.entrant)?, reason: LeaveReason::read(left.reason)? }
        }
        Kind::PresenceChanged(change) => {
            Fact::PresenceChanged { entrant: read_entrant(change.entrant)?, present: change.present }
        }
        Kind::PutAside(aside) => Fact::PutAside {
            entrant: read_entrant(aside.entrant)?,
            put_aside: read_put_aside(required(aside.put_aside, "time aside")?)?,
            meetings: aside.meetings,
        },
        Kind::Started(()) => Fact::Started,
        Kind::Paired(round) => Fact::Paired {
            stage: Stage::read(round.stage)?,
            round: round.round,
            meetings: round.meetings.into_iter().map(read_pairing).collect::<Result<_, _>>()?,
        },
        Kind::Finished(finished) => {
            Fact::Finished { number: finished.number, outcome: read_outcome(required(finished.outcome, "outcome")?)? }
        }
        Kind::Adjudicated(decided) => Fact::Adjudicated {
            number: decided.number,
            outcome: read_outcome(required(decided.outcome, "outcome")?)?,
            adjudication: read_adjudication(required(decided.adjudication, "adjudication")?)?,
        },
        Kind::Paused(()) => Fact::Paused,
        Kind::Resumed(()) => Fact::Resumed,
        Kind::ClockCredited(micros) => Fact::ClockCredited { micros },
        Kind::Ended(ending) => Fact::Ended(Ending::read(ending)?),
    };
    let seq = read_seq(stored.seq)?;
    let in_place = matches!(fact, Fact::Created(_)) == (seq.0 == 1);
    Ok(Event { seq: checked(seq, in_place, "sequence number")?, at: Timestamp(stored.at), fact })
}

impl From<PutAside> for v1::TournamentPutAside {
    fn from(PutAside { until, reason }: PutAside) -> Self {
        Self { until: until.0, reason: reason.number() }
    }
}

/// Reads a stored value.
///
/// # Errors
/// [`StoredError::Malformed`] for an unknown fault.
pub fn read_put_aside(stored: v1::TournamentPutAside) -> Result<PutAside, StoredError> {
    Ok(PutAside { until: Timestamp(stored.until), reason: Fault::read(stored.reason)? })
}

impl From<&Pairing> for v1::TournamentPairing {
    fn from(pairing: &Pairing) -> Self {
        let Pairing { number, first, second, room, opening } = *pairing;
        Self { number, first: first.0, second: second.map(|second| second.0), room: room.bits(), opening }
    }
}

pub(super) fn read_pairing(stored: v1::TournamentPairing) -> Result<Pairing, StoredError> {
    let first = read_entrant(stored.first)?;
    let second = stored.second.map(read_entrant).transpose()?;
    Ok(Pairing {
        number: checked(stored.number, stored.number > 0, "number of a meeting")?,
        first,
        second: checked(second, second != Some(first), "opponent")?,
        room: read_room(stored.room)?,
        opening: stored.opening,
    })
}

impl From<&Adjudication> for v1::TournamentAdjudication {
    fn from(Adjudication { by, why }: &Adjudication) -> Self {
        Self { by: by.map_or(0, PlayerId::bits), why: why.to_string() }
    }
}

pub(super) fn read_adjudication(stored: v1::TournamentAdjudication) -> Result<Adjudication, StoredError> {
    let why = ChatText::from_stored(&stored.why).map_err(|_| StoredError::Malformed("reason of an adjudication"))?;
    Ok(Adjudication { by: read_player_or_none(stored.by)?, why })
}

impl From<&Outcome> for v1::TournamentOutcome {
    fn from(outcome: &Outcome) -> Self {
        let kind = match outcome {
            Outcome::Played { score, discs, faults } => StoredOutcome::Played(v1::TournamentPlayed {
                wins: score.wins,
                draws: score.draws,
                losses: score.losses,
                pairs: score.pairs.to_vec(),
                half: score.half.map_or(0, Points::number),
                first_discs: discs[0],
                second_discs: discs[1],
                first_fault: fault_number(faults[0]),
                second_fault: fault_number(faults[1]),
            }),
            Outcome::Forfeit { by, fault } => {
                StoredOutcome::Forfeit(v1::TournamentForfeit { by: by.number(), is_fault: *fault })
            }
            Outcome::Void => StoredOutcome::Void(()),
        };
        Self { kind: Some(kind) }
    }
}

pub(super) fn read_outcome(stored: v1::TournamentOutcome) -> Result<Outcome, StoredError> {
    Ok(match required(stored.kind, "outcome")? {
        StoredOutcome::Played(played) => Outcome::Played {
            score: Score {
                wins: played.wins,
                draws: played.draws,
                losses: played.losses,
                pairs: required(played.pairs.try_into().ok(), "pairs")?,
                half: Points::read_optional(played.half)?,
            },
            discs: [played.first_discs, played.second_discs],
            faults: [Fault::read_optional(played.first_fault)?, Fault::read_optional(played.second_fault)?],
        },
        StoredOutcome::Forfeit(forfeit) => {
            Outcome::Forfeit { by: Forfeiter::read(forfeit.by)?, fault: forfeit.is_fault }
        }
        StoredOutcome::Void(()) => Outcome::Void,
    })
}
