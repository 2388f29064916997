//! Everything acknowledged is in the journal: the room after the event named by an answer shows the effect of the
//! request.

use std::collections::BTreeMap;

use reversi::room::{Availability, Command, PlayerId, Room, RoomId, Seq};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{Action, LogEntry, Outcome, SimEvent},
    recorded_history::RecordedHistory,
};

/// A call that sets what a player accepts.
struct AvailabilityCall {
    call: u64,
    accepted: Availability,
    /// The place of the request in the history.
    from: usize,
    /// The place of the answer, if it was acknowledged.
    until: Option<usize>,
}

/// What is stored of the invitations that a player accepts was set by a call that no later one has replaced: none that
/// began after the answer to it.
fn check_availability(history: &RecordedHistory) -> CheckResult {
    let (mut players, mut calls) = (BTreeMap::new(), BTreeMap::<PlayerId, Vec<AvailabilityCall>>::new());
    for (at, LogEntry { what, .. }) in history.entries.iter().enumerate() {
        match what {
            SimEvent::Answered { call, outcome: Outcome::LoggedIn(player) } => {
                players.insert(history.call(*call).0, *player);
            }
            SimEvent::Requested { call, client, action: Action::SetAvailability(accepted) } => {
                let made = AvailabilityCall { call: *call, accepted: *accepted, from: at, until: None };
                calls.entry(players[client]).or_default().push(made);
            }
            SimEvent::Answered { call, outcome: Outcome::AvailabilitySet } => {
                let made = calls.values_mut().flatten().find(|made| made.call == *call);
                made.expect("the request of an answer").until = Some(at);
            }
            _ => {}
        }
    }
    for stored in history.players_at_the_end() {
        let Some(calls) = calls.get(&stored.profile.id) else { continue };
        let is_replaced = |until: usize| calls.iter().any(|later| later.until.is_some() && later.from > until);
        let mut last = calls.iter().filter(|made| !made.until.is_some_and(is_replaced));
        let is_unset = stored.availability.is_none() && calls.iter().all(|made| made.until.is_none());
        ensure(is_unset || last.any(|made| Some(made.accepted) == stored.availability), || {
            format!("{} accepts {:?}, which is not what was set last", stored.profile.name, stored.availability)
        })?;
    }
    Ok(())
}

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    check_availability(history)?;
    for entry in &history.entries {
        let SimEvent::Answered { call, outcome } = &entry.what else { continue };
        match outcome {
            Outcome::RoomCreated(room, seq) => {
                let room_history = history.room(*room)?;
                ensure(room_history.at(*seq).is_some(), || format!("call {call}: room {room} has no event {seq}"))?;
            }
            Outcome::Done(Seq(0)) => check_repeated_move(history, *call)?,
            Outcome::Done(seq) => {
                let Some(id) = history.call(*call).1.room() else { continue };
                check_effect(history, *call, id, *seq)?;
            }
            Outcome::Joined(id, seq) => check_effect(history, *call, *id, *seq)?,
            _ => {}
        }
    }
    Ok(())
}

/// Checks a call that names no event: it repeats a move of a game that has ended.
fn check_repeated_move(history: &RecordedHistory, call: u64) -> CheckResult {
    let (_, action) = history.call(call);
    let is_repeat = if let Action::Play(game, ply, square) = action {
        let game = history.archived(*game);
        let ply = game.as_ref().and_then(|game| game.plies.get(usize::from(*ply)));
        ply.is_some_and(|ply| ply.square == Some(*square))
    } else {
        false
    };
    ensure(is_repeat, || format!("call {call}: {action:?} names no event, and repeats no move of an ended game"))
}

fn check_effect(history: &RecordedHistory, call: u64, id: RoomId, seq: Seq) -> CheckResult {
    let (client, action) = history.call(call);
    let room = history.room(id)?.at(seq);
    let room = room.ok_or_else(|| format!("call {call}: room {id} has no event {seq}"))?;
    ensure(has_effect(action, room, history, client), || {
        format!("call {call}: {action:?} has no effect in {id} at {seq}")
    })
}

/// Whether the room after a request shows its effect.
fn has_effect(action: &Action, room: &Room, history: &RecordedHistory, client: usize) -> bool {
    let is_client = |player| history.was_player(client, player);
    match action {
        Action::Command(_, Command::Join(profile, _)) => room.member(profile.id).is_some(),
        Action::Command(_, Command::TakeSeat(side)) => room.seats()[*side].occupant.player().is_some_and(is_client),
        Action::Command(_, Command::Kick { player, .. }) => room.member(*player).is_none(),
        Action::Command(_, Command::Configure(settings, _)) => room.settings() == &**settings,
        Action::Command(_, Command::Transfer(player)) => room.owner().is_some_and(|owner| owner.id == *player),
        Action::Play(id, ply, square) => room.game().is_some_and(|game| {
            let decided = game.plies.get(usize::from(*ply));
            game.number == id.number && decided.is_some_and(|ply| ply.square == Some(*square))
        }),
        Action::Start(..) => room.game().is_some(),
        Action::JoinByCode(code) => {
            room.code() == *code && room.members().iter().any(|member| is_client(member.profile.id))
        }
        _ => true,
    }
}
