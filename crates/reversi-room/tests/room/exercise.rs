//! Runs every operation of a room, for rooms decoded from untrusted bytes.

use reversi_engine::rules::Color;
use reversi_room::{
    ChatText, Claim, Command, Credentials, Event, Fact, Issuer, Offer, Phase, PlayerId, Room, SeatSetting, Timestamp,
    Viewer,
};

/// The latest time of a test. After it, times saturate, and deadlines are no longer later than now.
const FAR_FUTURE: Timestamp = Timestamp(1 << 62);

/// Runs every query and command on a room at several times. Panics if an event that it decides does not fit it.
pub(crate) fn exercise(room: Room) {
    let members: Vec<PlayerId> = room.members().iter().map(|member| member.profile.id).collect();
    look_at(&room, Timestamp(i64::MAX));
    let due = room.deadline().filter(|&due| due < FAR_FUTURE);
    for now in [Timestamp(i64::MIN), Timestamp(0), FAR_FUTURE].into_iter().chain(due) {
        look_at(&room, now);
        for command in commands(&room) {
            let players = members.iter().take(2).map(|&player| Issuer::Player(player));
            for actor in [Issuer::Server, Issuer::Admin].into_iter().chain(players) {
                if let Ok(events) = room.decide(now, actor, command.clone()) {
                    follow(room.clone(), &events, now);
                }
            }
        }
    }
}

fn look_at(room: &Room, now: Timestamp) {
    let _ = (room.deadline(), room.ai_turn(), room.turn_request(now), room.record(now), room.owner());
    let _ = (room.view(Viewer::Public).code(), room.is_present(Color::Black), room.seat_of(PlayerId::from_random(1)));
    let _ = room.may_watch(PlayerId::from_random(1), &Credentials::default());
}

/// Applies events, each of which must fit. After a tick no deadline may have passed.
fn follow(mut room: Room, events: &[Event], now: Timestamp) {
    for event in events {
        // A stored room in which a bot already has all its strikes decides one more. The server stores no such room.
        if room.check_next(event).is_err() {
            assert_eq!(event.fact, Fact::Struck, "a decided event does not fit");
            return;
        }
        room.apply(event);
    }
    look_at(&room, now);
    if let Ok(due) = room.decide(now, Issuer::Server, Command::Tick) {
        due.iter().for_each(|event| room.apply(event));
        assert!(room.deadline().is_none_or(|due| due > now), "still due");
    }
    assert!(room.phase() != Phase::Closed || room.deadline().is_none());
}

fn commands(room: &Room) -> Vec<Command> {
    let (number, ply) = room.game().map_or((1, 0), |game| (game.number, game.ply()));
    let first = room.game().and_then(|game| game.position.legal_moves().first());
    let owner = room.members().first().map(|member| member.profile.clone());
    let mut commands = vec![
        Command::Tick,
        Command::Leave,
        Command::Close,
        Command::Start(None),
        Command::EndSeries,
        Command::SetReady(true),
        Command::TakeSeat(Color::White),
        Command::LeaveSeat,
        Command::Vacate,
        Command::SwapSeats,
        Command::SetSeat(Color::Black, SeatSetting::Open),
        Command::Strike { game: number, ply },
        Command::Resign { game: number },
        Command::Abort { game: number },
        Command::Claim { game: number, claim: Claim::Draw },
        Command::Offer(Offer::Draw, Some(number)),
        Command::Offer(Offer::Draw, None),
        Command::Offer(Offer::Rematch, None),
        Command::Answer(Offer::Rematch, None, true),
        Command::Offer(Offer::TakeBack, Some(number)),
        Command::Answer(Offer::TakeBack, Some(number), true),
        Command::Credit { micros: i64::MAX },
        Command::Credit { micros: i64::MIN },
        Command::Kick { player: PlayerId::from_random(1), ban: true },
    ];
    commands.extend(owner.iter().map(|owner| Command::JoinGame(owner.clone(), Color::White, None)));
    commands.extend(first.map(|square| Command::Play { game: number, ply, square, thought: None }));
    commands.extend(ChatText::parse("hello").map(Command::Chat));
    if let Some(profile) = owner {
        commands.push(Command::Transfer(profile.id));
        commands.push(Command::SetCoOwner(profile.id, true));
        commands.push(Command::SetPresence(profile.id, false));
        commands.push(Command::Kick { player: profile.id, ban: true });
        commands.push(Command::Join(profile, Credentials::default()));
    }
    commands
}
