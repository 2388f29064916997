//! Events of a room.

use bytes::Bytes;
use v1::{room_event::Event as Wire, watch_room_response::Message};

use super::{
    WireEnum as _, clocks, final_position,
    game::{last_ply, outcome, side_or_none, thought as wire_thought},
    member, player, position,
    room::{chat_line, co_owner_ids, last_game, owner_id, score, series},
    room_settings, seat, seat_number, seats, span, squares, timestamp,
};
use crate::{
    proto::{EncodedMessage, v1},
    room::{Event, Fact, Game, GameId, InvitationEnd, Room, Thought, Timestamp},
};

/// Encodes an event as a `WatchRoomResponse`, once for all watchers of its room. `after` is the room after the event.
#[must_use]
pub fn encode_event(event: &Event, after: &Room) -> Bytes {
    let message = Some(Message::Event(room_event(event, after)));
    EncodedMessage::new(&v1::WatchRoomResponse { message }).0
}

/// An event of a room, for the wire; `after` is the room with the event applied.
#[must_use]
pub fn room_event(event: &Event, after: &Room) -> v1::RoomEvent {
    debug_assert_eq!(event.seq, after.seq());
    v1::RoomEvent {
        seq: event.seq.0,
        at: Some(timestamp(event.at)),
        state: changes_state(&event.fact).then(|| room_state(after)),
        event: wire(event, after),
    }
}

/// Whether a fact can change what [`room_state`] returns.
fn changes_state(fact: &Fact) -> bool {
    !matches!(fact, Fact::Played { .. } | Fact::Passed | Fact::Struck | Fact::ChatPosted { .. } | Fact::ChatRemoved(_))
}

fn room_state(room: &Room) -> v1::RoomState {
    v1::RoomState {
        phase: room.phase().wire().into(),
        owner_id: owner_id(room),
        co_owner_ids: co_owner_ids(room),
        seats: seats(room),
        series: room.series().map(series),
        rematch_offered_by: room.rematch_offer().map(seat_number),
        score: score(room),
        draw_offered_by: side_or_none(room.game().and_then(|game| game.draw_offer)).into(),
        take_back_offered_by: side_or_none(room.game().and_then(|game| game.take_back_offer)).into(),
    }
}

/// `None` only if `after` is not the room after the event.
fn wire(event: &Event, after: &Room) -> Option<Wire> {
    Some(match &event.fact {
        Fact::Created(creation) => Wire::Created(v1::RoomCreated { room_id: creation.id.to_string() }),
        Fact::MemberJoined(profile) => {
            Wire::MemberJoined(v1::MemberJoined { member: Some(member(after.member(profile.id)?)) })
        }
        Fact::MemberLeft { player, reason } => {
            Wire::MemberLeft(v1::MemberLeft { player_id: player.to_string(), reason: reason.wire().into() })
        }
        Fact::PresenceChanged { player, present } => {
            Wire::PresenceChanged(v1::PresenceChanged { player_id: player.to_string(), present: *present })
        }
        Fact::OwnerChanged { owner, .. } => Wire::OwnerChanged(v1::OwnerChanged { owner_id: owner.to_string() }),
        Fact::CoOwnerChanged { player, named } => {
            Wire::CoOwnerChanged(v1::CoOwnerChanged { player_id: player.to_string(), co_owner: *named })
        }
        Fact::SeatChanged { seat: color, .. } => {
            Wire::SeatChanged(v1::SeatChanged { seat: seat_number(*color), occupant: Some(seat(after, *color)) })
        }
        Fact::InvitationEnded { seat, guest, end } => Wire::InvitationEnded(v1::InvitationEnded {
            seat: seat_number(*seat),
            player: Some(player(guest)),
            expired: *end == InvitationEnd::Expired,
            reason: match end {
                InvitationEnd::Declined(Some(reason)) => reason.to_string(),
                InvitationEnd::Declined(None) | InvitationEnd::Expired => String::new(),
            },
        }),
        Fact::SeatsSwapped => Wire::SeatsSwapped(v1::SeatsSwapped {}),
        Fact::ReadyChanged { seat, ready, .. } => {
            Wire::ReadyChanged(v1::ReadyChanged { seat: seat_number(*seat), ready: *ready })
        }
        Fact::SettingsChanged(settings) => Wire::SettingsChanged(v1::SettingsChanged {
            settings: Some(room_settings(settings)),
            has_password: settings.password.is_some(),
        }),
        Fact::GameStarted { .. } => Wire::GameStarted(v1::GameStarted {
            game: Some(last_game(after, event.at)?),
            series: after.series().map(series),
            score: score(after),
        }),
        Fact::Played { thought, .. } => Wire::MovePlayed(move_played(event, thought.as_deref(), after)?),
        Fact::Passed => Wire::TurnPassed(turn_passed(event, after)?),
        Fact::Struck => Wire::MoveRefused(move_refused(after)?),
        Fact::OfferMade { offer, by } => {
            Wire::OfferMade(v1::OfferMade { offer: offer.wire().into(), seat: seat_number(*by) })
        }
        Fact::OfferClosed { offer, accepted } => {
            Wire::OfferClosed(v1::OfferClosed { offer: offer.wire().into(), accepted: *accepted })
        }
        Fact::SeriesEnded => Wire::SeriesEnded(v1::SeriesEnded { score: score(after) }),
        Fact::ClockCredited { micros } => {
            Wire::ClockCredited(v1::ClockCredited { credit: Some(span(*micros)), clocks: clocks_of(after, event.at) })
        }
        Fact::GameEnded(_) => Wire::GameEnded(game_ended(after)?),
        Fact::ChatPosted { .. } => {
            let lines = after.chat();
            let count = i32::try_from(lines.len()).unwrap_or(i32::MAX);
            Wire::ChatPosted(v1::ChatPosted { line: lines.last().map(chat_line), lines: count })
        }
        Fact::ChatRemoved(_) => Wire::ChatRemoved(v1::ChatRemoved { chat: after.chat().map(chat_line).collect() }),
        Fact::Closed(reason) => Wire::RoomClosed(v1::RoomClosed { reason: reason.wire().into() }),
    })
}

fn move_played(event: &Event, thought: Option<&Thought>, after: &Room) -> Option<v1::MovePlayed> {
    let game = after.game()?;
    let passed = game.position.must_pass().then(|| {
        // The forced pass is the next event: the clocks are those after it.
        let mut passed = after.clone();
        passed.apply(&Event { seq: after.seq().next(), at: event.at, fact: Fact::Passed });
        passed
    });
    Some(v1::MovePlayed {
        game_id: game_id(after, game),
        ply: last_ply(game).map(|ply| v1::Ply { thought: thought.map(wire_thought), ..ply }),
        position: Some(position(game.position.after_forced_pass().0)),
        clocks: clocks_of(passed.as_ref().unwrap_or(after), event.at),
        flipped: squares(game.flipped),
    })
}

fn clocks_of(room: &Room, now: Timestamp) -> Option<v1::Clocks> {
    let game = room.game().filter(|game| !game.position.is_over())?;
    game.clocks_at(now, &room.settings().time).as_ref().map(clocks)
}

fn turn_passed(event: &Event, after: &Room) -> Option<v1::TurnPassed> {
    let game = after.game()?;
    Some(v1::TurnPassed {
        game_id: game_id(after, game),
        ply: last_ply(game),
        position: Some(position(game.position)),
        clocks: clocks_of(after, event.at),
    })
}

fn move_refused(after: &Room) -> Option<v1::MoveRefused> {
    let game = after.game()?;
    Some(v1::MoveRefused {
        game_id: game_id(after, game),
        side: game.position.turn().wire().into(),
        strikes: game.strikes.into(),
    })
}

fn game_ended(after: &Room) -> Option<v1::GameEnded> {
    let game = after.game()?;
    Some(v1::GameEnded {
        game_id: game_id(after, game),
        outcome: Some(outcome(game.end?, game.position)),
        series: after.series().map(series),
        seats: seats(after),
        score: score(after),
        position: Some(final_position(game.position)),
    })
}

fn game_id(room: &Room, game: &Game) -> String {
    GameId { room: room.id(), number: game.number }.to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        proto::convert::fixture,
        room::{
            ChatText, Command, Issuer, Occupant, Offer, Opening, PlayerKind, Settings, TimeControl, Timestamp, Viewer,
        },
        rules::Color,
    };

    /// A watcher without rules: it flips the discs that events name.
    #[derive(Default)]
    struct Watcher {
        board: String,
        ply: i32,
        passes: usize,
        ended: bool,
    }

    fn index(name: &str) -> usize {
        crate::proto::convert::read_square(name).unwrap().index().into()
    }

    impl Watcher {
        fn apply(&mut self, wire: Wire) {
            match wire {
                Wire::GameStarted(started) => {
                    let game = started.game.unwrap();
                    self.board = game.position.unwrap().board;
                    self.ply = game.ply;
                }
                Wire::MovePlayed(played) => {
                    let ply = played.ply.unwrap();
                    assert_eq!(ply.ply, self.ply);
                    let disc = if ply.side() == v1::Side::Black { "X" } else { "O" };
                    assert!(!played.flipped.is_empty());
                    for name in played.flipped.iter().chain([&ply.square]) {
                        let at = index(name);
                        assert_ne!(&self.board[at..=at], disc);
                        self.board.replace_range(at..=at, disc);
                    }
                    self.end_ply(ply.ply, played.position.unwrap(), played.clocks.as_ref());
                }
                Wire::TurnPassed(passed) => {
                    let ply = passed.ply.unwrap();
                    assert!(ply.pass && ply.square.is_empty() && ply.ply == self.ply);
                    self.passes += 1;
                    self.end_ply(ply.ply, passed.position.unwrap(), passed.clocks.as_ref());
                }
                Wire::GameEnded(ended) => {
                    let outcome = ended.outcome.unwrap();
                    assert_eq!(outcome.reason(), v1::GameEndReason::Discs);
                    assert_eq!(outcome.black_discs, self.board.matches('X').count() as i32);
                    assert_eq!(outcome.black_score + outcome.white_score, 64);
                    self.ended = true;
                }
                other => panic!("unexpected {other:?}"),
            }
        }

        fn end_ply(&mut self, ply: i32, position: v1::Position, clocks: Option<&v1::Clocks>) {
            assert_eq!(position.board, self.board);
            self.ply = ply + 1;
            let over = position.side_to_move() == v1::Side::Unspecified;
            assert_eq!(position.legal_moves.is_empty(), over);
            assert_eq!(clocks.is_none(), over);
            let time_left = clocks.map_or(30, |clocks| clocks.time_left.unwrap().seconds);
            assert_eq!(time_left, 30, "the turn of the side to move has just started");
        }
    }

    proptest! {
        #[test]
        fn applying_events_gives_the_board(
            choices in proptest::collection::vec(any::<usize>(), 60),
            plies in 0..12_u8,
        ) {
            let opening = if plies == 0 { Opening::Standard } else { Opening::Random { plies, seed: 3 } };
            let time = TimeControl { per_move: Some(Duration::from_secs(30)), total: None, increment: Duration::ZERO };
            let mut room = fixture::lobby(Settings { opening, time, ..fixture::settings() });
            let mut watcher = Watcher::default();
            let mut seq = room.seq().0;
            let start = fixture::run(&mut room, fixture::NOW, Issuer::Player(fixture::owner().id), Command::Start(None));
            let mut events = start.into_iter().skip(1).collect::<Vec<_>>();
            seq += 1;
            let mut choices = choices.into_iter();
            let mut now = fixture::NOW;
            loop {
                for (event, after) in events {
                    let wire = room_event(&event, &after);
                    seq += 1;
                    prop_assert_eq!(wire.seq, seq);
                    watcher.apply(wire.event.unwrap());
                }
                if room.running().is_none() {
                    break;
                }
                now = now.after(Duration::from_secs(1));
                events = fixture::play(&mut room, now, choices.next().unwrap());
            }
            prop_assert!(watcher.ended);
            let last = crate::proto::convert::room(room.view(Viewer::Public), now, 0).game.unwrap();
            prop_assert_eq!(last.position.unwrap().board, watcher.board);
            prop_assert_eq!(last.plies.len(), watcher.ply as usize);
            let passes = last.plies.iter().filter(|ply| ply.pass && !ply.opening).count();
            prop_assert_eq!(passes, watcher.passes);
        }
    }

    fn wire_events(room: &mut Room, actor: Issuer, command: Command) -> Vec<Wire> {
        let events = fixture::run(room, fixture::NOW, actor, command);
        events.iter().map(|(event, after)| room_event(event, after).event.unwrap()).collect()
    }

    #[test]
    fn a_strike_has_the_side_and_the_count() {
        let mut creation = fixture::creation(fixture::settings());
        creation.owner.kind = PlayerKind::Bot;
        creation.seats.black = Occupant::Player(creation.owner.clone());
        let owner = Issuer::Player(creation.owner.id);
        let mut room = Room::new(creation, fixture::NOW);
        fixture::run(&mut room, fixture::NOW, owner, Command::Start(None));
        let struck = wire_events(&mut room, Issuer::Server, Command::Strike { game: 1, ply: 0 });
        assert!(matches!(&struck[..], [Wire::MoveRefused(refused)]
            if refused.strikes == 1 && refused.side() == v1::Side::Black));
    }

    #[test]
    fn every_other_fact_is_converted() {
        let mut room = fixture::lobby(fixture::settings());
        let owner = Issuer::Player(fixture::owner().id);
        let guest = fixture::profile(2, "Bea");

        let created = Event {
            seq: room.seq(),
            at: fixture::NOW,
            fact: Fact::Created(Box::new(fixture::creation(fixture::settings()))),
        };
        assert!(matches!(room_event(&created, &room).event, Some(Wire::Created(_))));

        let joined = wire_events(&mut room, Issuer::Player(guest.id), Command::Join(guest.clone(), Default::default()));
        assert!(matches!(&joined[..], [Wire::MemberJoined(joined)]
            if joined.member.as_ref().unwrap().player.as_ref().unwrap().display_name == "Bea"));
        let away = wire_events(&mut room, Issuer::Server, Command::SetPresence(guest.id, false));
        assert!(matches!(&away[..], [Wire::PresenceChanged(away)] if !away.present));
        let chat = wire_events(&mut room, owner, Command::Chat(ChatText::parse("hi").unwrap()));
        assert!(matches!(&chat[..], [Wire::ChatPosted(_)]));
        let changed = Settings { games: 2, ..fixture::settings() };
        let settings = wire_events(&mut room, owner, Command::Configure(Box::new(changed), None));
        assert!(matches!(&settings[..], [Wire::SettingsChanged(changed)]
            if changed.settings.as_ref().unwrap().games == 2 && !changed.has_password));

        let started = wire_events(&mut room, owner, Command::Start(None));
        assert!(matches!(&started[..], [Wire::ReadyChanged(_), Wire::GameStarted(_)]));
        let offered = wire_events(&mut room, owner, Command::Offer(Offer::Draw, None));
        assert!(matches!(&offered[..], [Wire::OfferMade(_), Wire::OfferClosed(closed)] if !closed.accepted));
        let credited = wire_events(&mut room, Issuer::Server, Command::Credit { micros: -1_500_000 });
        let back = prost_types::Duration { seconds: -1, nanos: -500_000_000 };
        assert!(matches!(&credited[..], [Wire::ClockCredited(credited)]
            if credited.credit == Some(back) && credited.clocks.is_some()));
        let resigned = wire_events(&mut room, owner, Command::Resign { game: 1 });
        assert!(matches!(&resigned[..], [Wire::GameEnded(ended)]
            if ended.seats[1].wins == 1 && ended.series.as_ref().unwrap().next_game_at.is_some()));
        let no_more = wire_events(&mut room, owner, Command::Abort { game: 1 });
        assert!(matches!(&no_more[..], [Wire::SeriesEnded(_)]));

        let swapped = wire_events(&mut room, owner, Command::SwapSeats);
        assert!(matches!(&swapped[..], [Wire::SeatsSwapped(_)]));
        let left = wire_events(&mut room, owner, Command::Leave);
        assert!(matches!(&left[..], [Wire::SeatChanged(_), Wire::MemberLeft(_), Wire::OwnerChanged(_)]));
        let closed = wire_events(&mut room, Issuer::Admin, Command::Close);
        assert!(matches!(&closed[..], [Wire::RoomClosed(closed)] if closed.reason() == v1::RoomCloseReason::Closed));
    }

    #[test]
    fn a_forced_pass_leaves_the_clock_with_the_mover() {
        // Any game with a forced pass will do; found by trial.
        let seen = (0..200_usize).find_map(|seed| {
            // The pause makes the two sides' deadlines differ.
            let ai_pause = Duration::from_secs(5);
            let mut room = fixture::playing(Settings { ai_pause, ..fixture::settings() });
            let mut step = seed;
            while room.running().is_some() {
                let mover = room.running()?.position.turn();
                step = step.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let events = fixture::play(&mut room, Timestamp(fixture::NOW.0 + 1), step >> 33);
                if let [(event, after), (next, _)] = &events[..]
                    && next.fact == Fact::Passed
                {
                    return Some((mover, room_event(event, after).event));
                }
            }
            None
        });
        let (mover, Some(Wire::MovePlayed(played))) = seen.unwrap() else { panic!("expected a move") };
        assert_eq!(played.position.unwrap().side_to_move(), mover.wire());
        let wait = if mover == Color::White { 65 } else { 60 };
        let deadline = Timestamp(fixture::NOW.0 + 1).after(Duration::from_secs(wait));
        assert_eq!(played.clocks.unwrap().deadline, Some(timestamp(deadline)));
    }
}
