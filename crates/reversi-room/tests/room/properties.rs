//! Properties of a room, checked on random histories with humans, bots, AIs, an administrator and passing time.

use std::{cell::RefCell, collections::BTreeSet, time::Duration};

use proptest::prelude::*;
use reversi_engine::rules::{Color, Position};
use reversi_room::{
    Command, EndReason, Event, Fact, Issuer, Member, Occupant, Offer, Phase, Profile, Room, Series, Settings,
    Timestamp, Viewer,
};

use crate::fixtures::{
    random_history::{for_every_command, for_random_histories},
    script::PLAYERS,
    test_room::{id, password},
};

#[test]
fn replaying_the_events_gives_the_live_room() {
    for_random_histories(|random| {
        prop_assert_eq!(Room::replay(&random.test.history), Some(random.test.room.clone()));
        let half = random.commands.len() / 2;
        if let Some(trace) = random.commands.get(half) {
            let until = usize::try_from(trace.after.seq().0).expect("short");
            prop_assert_eq!(Room::replay(&random.test.history[..until]), Some(trace.after.clone()));
        }
        Ok(())
    });
}

#[test]
fn deciding_is_repeatable_and_a_refusal_changes_nothing() {
    for_every_command(|trace| {
        let again = trace.before.decide(trace.now, trace.actor, trace.command.clone());
        prop_assert_eq!(&again, &trace.result);
        if trace.result.as_ref().map_or(true, Vec::is_empty) {
            prop_assert_eq!(&trace.before, &trace.after);
        }
        Ok(())
    });
}

#[test]
fn accepted_commands_take_effect_at_once_and_events_have_no_gaps() {
    for_every_command(|trace| {
        let events = trace.result.as_deref().unwrap_or(&[]);
        for (event, number) in events.iter().zip(trace.before.seq().0 + 1..) {
            prop_assert_eq!(event.seq.0, number);
            prop_assert_eq!(event.at, trace.now);
            prop_assert!(!matches!(event.fact, Fact::Created(_)));
        }
        prop_assert_eq!(trace.after.seq().0, trace.before.seq().0 + events.len() as u64);
        Ok(())
    });
}

#[test]
fn every_game_ends_once_and_nothing_follows_the_end_of_the_room() {
    for_random_histories(|random| {
        let (mut games, mut running, mut closed) = (0, false, false);
        for event in &random.test.history {
            prop_assert!(!closed, "{event:?} in a closed room");
            match &event.fact {
                Fact::GameStarted { number, .. } => {
                    prop_assert!(!running);
                    games += 1;
                    prop_assert_eq!(*number, games);
                    running = true;
                }
                Fact::Played { .. } | Fact::Passed | Fact::Struck => prop_assert!(running, "{event:?} without a game"),
                Fact::GameEnded(_) => {
                    prop_assert!(running, "ended twice");
                    running = false;
                }
                Fact::Closed(_) => {
                    prop_assert!(!running, "closed during a game");
                    closed = true;
                }
                _ => {}
            }
        }
        prop_assert_eq!(random.test.room.running().is_some(), running);
        Ok(())
    });
}

#[test]
fn the_board_is_the_record_replayed() {
    for_every_command(|trace| {
        let Some(game) = trace.after.game() else {
            return Ok(());
        };
        let mut position = Position::START;
        for ply in &game.plies {
            let next = match ply.square {
                Some(square) => position.play(square).ok(),
                None => position.pass(),
            };
            position = next.ok_or_else(|| TestCaseError::fail(format!("{ply:?} cannot be in a record")))?;
        }
        prop_assert_eq!(position, game.position);
        prop_assert_eq!(game.end.is_some_and(|end| end.reason == EndReason::Discs), position.is_over());
        Ok(())
    });
}

#[test]
fn the_side_to_move_has_a_move_and_an_ai_is_asked_only_in_its_turn() {
    for_every_command(|trace| {
        let room = &trace.after;
        let Some(game) = room.running() else {
            prop_assert!(room.ai_turn().is_none() && room.flag_falls().is_none());
            return Ok(());
        };
        prop_assert!(!game.position.legal_moves().is_empty());
        prop_assert!(room.flag_falls().is_some(), "a turn without a clock");
        prop_assert!(game.strikes < Room::STRIKES);
        prop_assert!(room.seats().iter().all(|(_, seat)| seat.occupant.can_play()));
        let ai_to_move = matches!(room.seats()[game.position.turn()].occupant, Occupant::Ai(_));
        prop_assert_eq!(room.ai_turn().is_some(), ai_to_move);
        if let Some(turn) = room.ai_turn() {
            prop_assert_eq!((turn.game, turn.ply, turn.position), (game.number, game.ply(), game.position));
            prop_assert!(Some(turn.begins.after(turn.budget)) <= room.flag_falls());
        }
        Ok(())
    });
}

#[test]
fn clocks_grow_only_by_the_increment() {
    for_every_command(|trace| {
        let (Some(before), Some(after)) = (trace.before.running(), trace.after.game()) else {
            return Ok(());
        };
        if before.number != after.number {
            return Ok(());
        }
        let time = trace.after.settings().time;
        let moved = (after.ply() > before.ply()).then_some(before.position.turn());
        for side in Color::ALL {
            let increment = if moved == Some(side) { time.increment } else { Duration::ZERO };
            prop_assert_eq!(before.clocks[side].is_some(), after.clocks[side].is_some());
            prop_assert!(after.clocks[side] <= before.clocks[side].map(|left| left + increment));
        }
        Ok(())
    });
}

#[test]
fn a_credit_adds_exactly_its_time_and_changes_nothing_else() {
    for_every_command(|trace| {
        let Command::Credit { micros } = trace.command else {
            return Ok(());
        };
        let (before, after) = (&trace.before, &trace.after);
        if before.seq() == after.seq() {
            let absent = before.members().iter().any(|member| member.absent_since.is_some());
            let awaited = before.series().is_some_and(|series| series.next_at.is_some());
            let due = micros != 0 && (before.running().is_some() || awaited || absent);
            prop_assert!(
                !due || trace.actor != Issuer::Server || before.phase() == Phase::Closed,
                "the credit had no effect"
            );
            return Ok(());
        }
        let shifted = |at: &Option<Timestamp>| at.map(|at| Timestamp(at.0.saturating_add(micros)));
        let away = |since: &Option<Timestamp>| shifted(since).map(|since| since.min(trace.now));
        let mut game = before.game().cloned();
        if let Some(game) = game.as_mut().filter(|game| game.end.is_none()) {
            game.turn_began = game.turn_began.shifted(micros);
            let gained = after.flag_falls().zip(before.flag_falls()).map(|(after, before)| after.0.abs_diff(before.0));
            let in_range = micros.unsigned_abs() < 1 << 60;
            prop_assert!(!in_range || gained == Some(micros.unsigned_abs()), "{:?}", gained);
        }
        prop_assert_eq!(after.game(), game.as_ref());
        let series = before.series().map(|series| Series { next_at: shifted(&series.next_at), ..series });
        prop_assert_eq!(after.series(), series);
        let members = before.members().iter();
        let members: Vec<_> = members.map(|it| Member { absent_since: away(&it.absent_since), ..it.clone() }).collect();
        prop_assert_eq!(after.members(), members);
        prop_assert_eq!((before.seats(), before.settings()), (after.seats(), after.settings()));
        prop_assert_eq!((before.phase(), before.rematch_offer()), (after.phase(), after.rematch_offer()));
        prop_assert!(before.chat().eq(after.chat()) && before.banned().eq(after.banned()));
        Ok(())
    });
}

#[test]
fn a_move_is_accepted_only_in_its_turn_and_in_time() {
    for_every_command(|trace| {
        let Ok([Event { fact: Fact::Played { square, spent, .. }, .. }, ..]) = trace.result.as_deref() else {
            return Ok(());
        };
        let game = trace.before.running().ok_or_else(|| TestCaseError::fail("no game"))?;
        let turn = game.position.turn();
        prop_assert!(game.position.legal_moves().contains(*square));
        prop_assert!(Some(trace.now) < trace.before.flag_falls());
        prop_assert_eq!(*spent, trace.now.since(game.turn_began));
        let occupant = trace.before.seats()[turn].occupant.player();
        prop_assert_eq!(trace.actor, occupant.map_or(Issuer::Server, Issuer::Player));
        Ok(())
    });
}

#[test]
fn only_members_see_the_join_code_and_no_viewer_sees_a_password() {
    for_every_command(|trace| {
        let room = &trace.after;
        prop_assert_eq!(room.view(Viewer::Public).code(), None);
        for who in PLAYERS {
            let seen = room.view(Viewer::Player(id(who))).code();
            prop_assert_eq!(seen, room.member(id(who)).map(|_| room.code()));
        }
        let bytes = format!("{:?}", password().0);
        let shown = format!("{room:?}");
        prop_assert!(!shown.contains(bytes.trim_matches(['[', ']'])));
        Ok(())
    });
}

#[test]
fn a_tick_terminates_and_leaves_nothing_due() {
    for_every_command(|trace| {
        let ticked = trace.after.decide(trace.now, Issuer::Server, Command::Tick);
        let events = ticked.map_err(|refusal| TestCaseError::fail(refusal.to_string()))?;
        let due = trace.after.deadline().is_some_and(|due| due <= trace.now);
        prop_assert_eq!(due, !events.is_empty(), "a tick has events exactly if something is due");
        let mut room = trace.after.clone();
        events.iter().for_each(|event| room.apply(event));
        prop_assert!(room.deadline().is_none_or(|due| due > trace.now), "still due: {:?}", room.deadline());
        Ok(())
    });
}

#[test]
fn an_open_room_always_has_a_deadline_and_a_closed_one_never() {
    for_every_command(|trace| {
        let room = &trace.after;
        prop_assert_eq!(room.deadline().is_none(), room.phase() == Phase::Closed);
        Ok(())
    });
}

#[test]
fn the_owner_and_players_are_members_and_no_member_has_two_seats() {
    for_every_command(|trace| {
        let room = &trace.after;
        if room.phase() == Phase::Closed {
            return Ok(());
        }
        let plays = |member: &Member| room.phase() == Phase::Playing && room.seat_of(member.profile.id).is_some();
        prop_assert!(
            room.owner().is_some() || room.meeting().is_some() || room.members().iter().all(plays),
            "no owner"
        );
        let seated: Vec<_> = room.seats().iter().filter_map(|(_, seat)| seat.occupant.player()).collect();
        prop_assert!(seated.iter().all(|&player| room.member(player).is_some()), "a seated player is no member");
        prop_assert_eq!(seated.len(), seated.iter().collect::<BTreeSet<_>>().len(), "seated twice");
        Ok(())
    });
}

#[test]
fn no_player_of_a_running_series_inherits_a_room() {
    for_every_command(|trace| {
        let mut room = trace.before.clone();
        for event in trace.result.as_deref().unwrap_or(&[]) {
            if let Fact::OwnerChanged { owner, stands_in_for } = event.fact
                && !matches!(trace.command, Command::Transfer(_))
            {
                let plays = room.phase() == Phase::Playing && room.seat_of(owner).is_some();
                prop_assert!(!plays || stands_in_for.is_none(), "{:?}", event);
            }
            room.apply(event);
        }
        Ok(())
    });
}

#[test]
fn a_game_is_claimed_only_from_one_who_has_been_away_long_enough() {
    for_every_command(|trace| {
        if matches!(trace.command, Command::Claim { .. }) && trace.result.as_ref().is_ok_and(|made| !made.is_empty()) {
            let Issuer::Player(claimant) = trace.actor else { return Err(TestCaseError::fail("no player")) };
            let gone = trace.before.seat_of(claimant).map(Color::opposite);
            prop_assert!(gone.and_then(|gone| trace.before.claim_from(gone)).is_some_and(|from| from <= trace.now));
        }
        Ok(())
    });
}

#[test]
fn a_draw_or_to_take_back_is_offered_and_accepted_only_in_the_game_that_was_named() {
    for_every_command(|trace| {
        let (Command::Offer(Offer::Draw | Offer::TakeBack, Some(named))
        | Command::Answer(Offer::Draw | Offer::TakeBack, Some(named), _)) = trace.command
        else {
            return Ok(());
        };
        let is_meant = trace.before.running().is_some_and(|game| game.number == named);
        prop_assert!(is_meant || trace.before == trace.after);
        Ok(())
    });
}

#[test]
fn seats_change_only_between_games() {
    for_every_command(|trace| {
        let (Some(before), Some(after)) = (trace.before.running(), trace.after.running()) else {
            return Ok(());
        };
        if before.number == after.number {
            prop_assert_eq!(trace.before.seats(), trace.after.seats());
            let (before, after) = (trace.before.settings(), trace.after.settings());
            prop_assert_eq!((&before.time, before.spectator_delay), (&after.time, after.spectator_delay));
        }
        Ok(())
    });
}

/// The settings that are terms of a game.
fn terms(room: &Room) -> Settings {
    let Settings { name, .. } = room.settings().clone();
    let (visibility, watching, password, auto_start) = Default::default();
    Settings { name, visibility, watching, password, auto_start, ..room.settings().clone() }
}

#[test]
fn after_a_change_of_terms_only_its_issuer_is_ready() {
    for_every_command(|trace| {
        let changed = match trace.command {
            Command::SwapSeats | Command::SetSeat(..) => trace.before != trace.after,
            _ => terms(&trace.before) != terms(&trace.after),
        };
        if changed {
            prop_assert_eq!(trace.after.rematch_offer(), None);
            for (_, seat) in trace.after.seats().iter() {
                let agrees = seat.occupant.player().map(Issuer::Player) == Some(trace.actor);
                let is_ready = seat.marked_ready || trace.after.running().is_some();
                prop_assert!(agrees || !is_ready || matches!(seat.occupant, Occupant::Ai(_)));
            }
        }
        Ok(())
    });
}

#[test]
fn members_chat_and_bans_are_bounded_and_members_are_distinct() {
    for_every_command(|trace| {
        let room = &trace.after;
        let ids: BTreeSet<_> = room.members().iter().map(|member| member.profile.id).collect();
        prop_assert_eq!(ids.len(), room.members().len());
        prop_assert!(room.members().len() < 8);
        prop_assert!(room.chat().len() <= Room::CHAT_LINES);
        prop_assert!(room.banned().len() <= Room::MAX_BANS);
        prop_assert!(room.banned().all(|player| room.member(player).is_none()), "a banned member");
        Ok(())
    });
}

#[test]
fn a_room_is_playing_exactly_while_a_game_or_series_runs() {
    for_every_command(|trace| {
        let room = &trace.after;
        let awaited = room.series().is_some_and(|series| series.next_at.is_some());
        match room.phase() {
            Phase::Lobby => prop_assert!(room.running().is_none() && room.series().is_none()),
            Phase::Playing => prop_assert!(room.running().is_some() != awaited),
            Phase::Closed => prop_assert!(room.running().is_none() && room.series().is_none()),
        }
        Ok(())
    });
}

#[test]
fn only_the_server_may_act_for_others() {
    for_every_command(|trace| {
        let foreign = match &trace.command {
            Command::SetPresence(..) | Command::Strike { .. } | Command::Credit { .. } => trace.actor != Issuer::Server,
            Command::Join(Profile { id, .. }, _) => ![Issuer::Server, Issuer::Player(*id)].contains(&trace.actor),
            _ => false,
        };
        prop_assert!(!foreign || trace.before == trace.after);
        Ok(())
    });
}

/// Ensures that the random histories reach all cases that the properties need.
#[test]
fn the_random_histories_reach_every_fact_and_every_end() {
    let seen = RefCell::new(BTreeSet::new());
    for_random_histories(|random| {
        for event in &random.test.history {
            let text = match &event.fact {
                Fact::GameEnded(end) => format!("{:?}", end.reason),
                Fact::MemberLeft { reason, .. } => format!("{reason:?}"),
                Fact::OfferClosed { offer, accepted } => format!("{offer:?} {accepted}"),
                Fact::Closed(reason) => format!("closed {reason:?}"),
                fact => format!("{fact:?}"),
            };
            let name = text.split(['(', '{']).next().unwrap_or_default();
            seen.borrow_mut().insert(name.trim().to_string());
        }
        let claimed = random.commands.iter().any(|trace| {
            matches!(trace.command, Command::Claim { .. }) && trace.result.as_ref().is_ok_and(|made| !made.is_empty())
        });
        seen.borrow_mut().extend(claimed.then(|| "Claimed".to_string()));
        let decided = random.commands.iter().any(|trace| trace.after.verdict().is_some());
        seen.borrow_mut().extend(decided.then(|| "verdict".to_string()));
        let refusals = random.commands.iter().filter_map(|trace| trace.result.as_ref().err());
        seen.borrow_mut().extend(refusals.map(|refusal| refusal.to_string()));
        Ok(())
    });
    let expected = "Created MemberJoined PresenceChanged OwnerChanged CoOwnerChanged Claimed SeatChanged InvitationEnded SeatsSwapped ReadyChanged \
        SettingsChanged GameStarted Played Passed Struck OfferMade SeriesEnded ClockCredited ChatPosted Left Kicked Banned Absent \
        Discs Resignation Timeout Agreed Aborted Server AbortedByBlack AbortedByWhite AbortedByOwner AbortedByAdmin \
        TakenBack verdict";
    let mut expected: BTreeSet<_> = expected.split_whitespace().map(String::from).collect();
    for offer in [Offer::Draw, Offer::Rematch, Offer::TakeBack] {
        expected.extend([format!("{offer:?} true"), format!("{offer:?} false")]);
    }
    for close in ["Empty", "Closed", "Idle", "Server"] {
        expected.insert(format!("closed {close}"));
    }
    let missed: Vec<_> = expected.difference(&seen.borrow()).cloned().collect();
    assert!(missed.is_empty(), "never seen: {missed:?} in {:#?}", seen.borrow());
}
