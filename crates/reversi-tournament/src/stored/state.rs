//! Stored tournaments.

use std::collections::{BTreeMap, BTreeSet};

use reversi_room::{
    LeaveReason, Timestamp, TournamentId,
    stored::{Numbered, StoredError, checked, narrow, read_player, read_seq, required, v1},
};

use super::{
    codec::{fault_number, participant, read_entrant, read_participant},
    event::{read_adjudication, read_outcome, read_pairing, read_put_aside},
    settings::read_settings,
};
use crate::{
    entrant::{Conduct, Entrant, EntrantId, Fault},
    event::Ending,
    meeting::{Meeting, Stage},
    state::{Phase, PlayTime, Tournament},
};

impl From<&Tournament> for v1::Tournament {
    fn from(tournament: &Tournament) -> Self {
        let (phase, ending) = match tournament.phase {
            Phase::Open => (v1::TournamentPhase::Open, 0),
            Phase::Running => (v1::TournamentPhase::Running, 0),
            Phase::Paused => (v1::TournamentPhase::Paused, 0),
            Phase::Playoff => (v1::TournamentPhase::Playoff, 0),
            Phase::Ended(ending) => (v1::TournamentPhase::Ended, ending.number()),
        };
        Self {
            id: tournament.id.bits(),
            seq: tournament.seq.0,
            organiser: tournament.organiser.bits(),
            settings: Some((&tournament.settings).into()),
            phase: phase.into(),
            ending,
            created: tournament.created.0,
            changed: tournament.changed.0,
            started: tournament.started.map(|at| at.0),
            entrants: tournament.entrants.iter().map(|(id, entrant)| stored_entrant(*id, entrant)).collect(),
            last_entrant: tournament.last_entrant.0,
            order: tournament.order.iter().map(|id| id.0).collect(),
            meetings: tournament.meetings.iter().map(Into::into).collect(),
            paired: tournament.paired.0,
            play_micros: tournament.play_time.micros,
            played_meetings: tournament.play_time.meetings,
        }
    }
}

pub(super) fn read_tournament(stored: v1::Tournament) -> Result<Tournament, StoredError> {
    let phase = match v1::TournamentPhase::try_from(stored.phase) {
        Ok(v1::TournamentPhase::Open) => Phase::Open,
        Ok(v1::TournamentPhase::Running) => Phase::Running,
        Ok(v1::TournamentPhase::Paused) => Phase::Paused,
        Ok(v1::TournamentPhase::Playoff) => Phase::Playoff,
        Ok(v1::TournamentPhase::Ended) => Phase::Ended(Ending::read(stored.ending)?),
        Ok(v1::TournamentPhase::Unspecified) | Err(_) => return Err(StoredError::Malformed("phase")),
    };
    let mut entrants = stored.entrants.into_iter().map(read_stored_entrant).collect::<Result<BTreeMap<_, _>, _>>()?;
    let meetings = stored.meetings.into_iter().map(read_meeting).collect::<Result<Vec<_>, _>>()?;
    let unfinished = unfinished(&meetings, &mut entrants)?;
    let last_entrant = EntrantId(stored.last_entrant);
    let is_last = entrants.last_key_value().is_none_or(|(id, _)| *id <= last_entrant);
    Ok(Tournament {
        id: required(TournamentId::from_bits(stored.id), "id of a tournament")?,
        seq: read_seq(stored.seq)?,
        organiser: read_player(stored.organiser)?,
        settings: read_settings(stored.settings)?,
        phase: checked(phase, unfinished.is_empty() || !matches!(phase, Phase::Ended(_)), "phase")?,
        created: Timestamp(stored.created),
        changed: Timestamp(stored.changed),
        started: stored.started.map(Timestamp),
        entrants,
        last_entrant: checked(last_entrant, is_last, "last entrant")?,
        order: stored.order.into_iter().map(read_entrant).collect::<Result<_, _>>()?,
        meetings: meetings.into(),
        unfinished,
        paired: Timestamp(stored.paired),
        play_time: PlayTime { micros: stored.play_micros, meetings: stored.played_meetings },
    })
}

/// The numbers of the unfinished meetings, which their entrants get. Meetings have consecutive numbers, and an entrant
/// plays one at a time.
fn unfinished(meetings: &[Meeting], entrants: &mut BTreeMap<EntrantId, Entrant>) -> Result<BTreeSet<u32>, StoredError> {
    let in_order =
        meetings.windows(2).all(|pair| pair[0].pairing.number.checked_add(1) == Some(pair[1].pairing.number));
    checked((), in_order, "number of a meeting")?;
    let mut unfinished = BTreeSet::new();
    for meeting in meetings.iter().filter(|meeting| !meeting.is_finished()) {
        let number = meeting.pairing.number;
        for side in meeting.sides() {
            let entrant = required(entrants.get_mut(&side), "side of a meeting")?;
            checked((), entrant.meeting.replace(number).is_none(), "side of a meeting")?;
        }
        unfinished.insert(number);
    }
    Ok(unfinished)
}

fn stored_entrant(id: EntrantId, entrant: &Entrant) -> v1::TournamentEntrant {
    let recent = entrant.conduct.recent.iter();
    v1::TournamentEntrant {
        id: id.0,
        who: Some(participant(&entrant.who)),
        rating: entrant.rating.into(),
        joined: entrant.joined.0,
        present: entrant.present,
        left: entrant.left.map_or(0, LeaveReason::number),
        put_aside: entrant.put_aside.map(Into::into),
        waits_since: entrant.waits_since.0,
        recent: recent
            .map(|(meeting, fault)| v1::TournamentConduct { meeting: *meeting, fault: fault_number(*fault) })
            .collect(),
        put_asides: entrant.conduct.put_asides.into(),
    }
}

fn read_stored_entrant(stored: v1::TournamentEntrant) -> Result<(EntrantId, Entrant), StoredError> {
    let of = |one: v1::TournamentConduct| Ok::<_, StoredError>((one.meeting, Fault::read_optional(one.fault)?));
    let bounded = stored.recent.len() <= Conduct::MEETINGS;
    let recent = stored.recent.into_iter().map(of).collect::<Result<_, _>>()?;
    let entrant = Entrant {
        who: read_participant(stored.who)?,
        rating: narrow(stored.rating, "rating")?,
        joined: Timestamp(stored.joined),
        present: stored.present,
        left: LeaveReason::read_optional(stored.left)?,
        put_aside: stored.put_aside.map(read_put_aside).transpose()?,
        meeting: None,
        conduct: Conduct {
            recent: checked(recent, bounded, "conduct")?,
            put_asides: narrow(stored.put_asides, "conduct")?,
        },
        waits_since: Timestamp(stored.waits_since),
    };
    Ok((read_entrant(stored.id)?, entrant))
}

impl From<&Meeting> for v1::TournamentMeeting {
    fn from(meeting: &Meeting) -> Self {
        Self {
            pairing: Some((&meeting.pairing).into()),
            stage: meeting.stage.number(),
            round: meeting.round,
            paired: meeting.paired.0,
            opened: meeting.opened.map(|at| at.0),
            first_appeared: meeting.appeared[0],
            second_appeared: meeting.appeared[1],
            outcome: meeting.outcome.as_ref().map(Into::into),
            finished: meeting.finished.map(|at| at.0),
            adjudication: meeting.adjudication.as_ref().map(Into::into),
        }
    }
}

fn read_meeting(stored: v1::TournamentMeeting) -> Result<Meeting, StoredError> {
    Ok(Meeting {
        pairing: read_pairing(required(stored.pairing, "pairing")?)?,
        stage: Stage::read(stored.stage)?,
        round: stored.round,
        paired: Timestamp(stored.paired),
        opened: stored.opened.map(Timestamp),
        appeared: [stored.first_appeared, stored.second_appeared],
        outcome: stored.outcome.map(read_outcome).transpose()?,
        finished: stored.finished.map(Timestamp),
        adjudication: stored.adjudication.map(read_adjudication).transpose()?,
    })
}
