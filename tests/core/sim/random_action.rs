//! Random actions in a room.

use std::{sync::Arc, time::Duration};

use reversi::{
    room::{
        AiSpec, Availability, ChatText, Command, DeclineReason, GameId, Occupant, Offer, Opening, Opponents, Phase,
        PlayerId, PlayerRef, Room, RoomName, Seat, SeatSpec, Settings, TimeControl, TimeRange, Visibility, Watching,
    },
    rules::{ByColor, Color},
    runtime::{NewRoom, Opponent, Player},
};

use crate::sim::{
    event_log::Action,
    rng::Rng,
    server::{SimServer, password},
};

/// A random action in a room: mostly one that leads to a game, sometimes any other.
pub(crate) fn in_room(rng: &mut Rng, player: &Arc<Player>, room: &Room, server: &SimServer) -> Option<Action> {
    if rng.percent(20) {
        return any(rng, player, room, server);
    }
    let id = room.id();
    let command = |command| Some(Action::Command(id, command));
    let is_kept = |(_, seat): (Color, &Seat)| seat.occupant.guest().is_some_and(|guest| guest.id == player.id());
    if room.seats().iter().any(is_kept) && rng.percent(20) {
        let reason = rng.percent(50).then(|| DeclineReason::parse("no time").expect("a reason"));
        return command(Command::DeclineInvitation(reason));
    }
    if room.member(player.id()).is_none() {
        return command(Command::Join(player.profile(), server.credentials(id)));
    }
    if room.phase() != Phase::Lobby {
        return if rng.percent(10) { during_game(rng, room) } else { None };
    }
    let owner = room.owner().is_some_and(|owner| owner.id == player.id());
    let open = Color::ALL.into_iter().find(|&side| room.seats()[side].occupant == Occupant::Open);
    match (room.seat_of(player.id()), open) {
        (None, Some(side)) if rng.percent(70) => command(Command::TakeSeat(side)),
        // It waits for an opponent.
        (Some(side), Some(_)) if room.settings().auto_start && room.seats()[side].ready() && rng.percent(85) => None,
        (_, Some(side)) if owner && rng.percent(60) => Some(Action::SetSeat(id, side, ai_seat(rng))),
        (Some(side), None) if !owner && !room.seats()[side].ready() => command(Command::SetReady(true)),
        (_, None) if owner => {
            let request = rng.percent(40).then(|| format!("start {id} {}", rng.below(4)));
            Some(Action::Start(id, request))
        }
        (Some(side), _) if room.rematch_offer() == Some(side.opposite()) => {
            command(Command::Answer(Offer::Rematch, None, rng.percent(80)))
        }
        _ => any(rng, player, room, server),
    }
}

/// A random action while a game runs.
fn during_game(rng: &mut Rng, room: &Room) -> Option<Action> {
    let game = room.game()?.number;
    let command = match rng.below(10) {
        0 => Command::Resign { game },
        1 => {
            if rng.percent(50) {
                Command::Abort { game }
            } else {
                Command::EndSeries
            }
        }
        2..4 => Command::Offer(rng.pick(&[Offer::Draw, Offer::TakeBack]), Some(game)),
        4..6 => Command::Answer(rng.pick(&[Offer::Draw, Offer::TakeBack]), Some(game), rng.percent(50)),
        _ => Command::Chat(ChatText::parse("hm").expect("a line")),
    };
    Some(Action::Command(room.id(), command))
}

/// Any action.
fn any(rng: &mut Rng, player: &Arc<Player>, room: &Room, server: &SimServer) -> Option<Action> {
    let (id, side, game) = (room.id(), rng.pick(&Color::ALL), room.game().map_or(1, |game| game.number));
    let other = server.any_player(rng)?;
    let command = match rng.below(24) {
        0 => Command::Leave,
        1 => Command::LeaveSeat,
        2 => Command::SwapSeats,
        3 => Command::SetReady(rng.percent(50)),
        4 => Command::Kick { player: other, ban: rng.percent(30) },
        5 => Command::Transfer(other),
        6 => Command::Configure(Box::new(settings(rng)), None),
        7 if rng.percent(20) => Command::Close,
        8 => Command::Resign { game },
        9 => Command::Abort { game },
        10..12 => Command::Offer(rng.pick(&[Offer::Draw, Offer::Rematch]), None),
        12 => Command::Answer(rng.pick(&[Offer::Draw, Offer::Rematch]), None, rng.percent(50)),
        13..15 => Command::TakeSeat(side),
        15 => Command::Join(player.profile(), server.credentials(id)),
        16 => return Some(Action::SetSeat(id, side, SeatSpec::Open)),
        17 if rng.percent(50) => return Some(Action::SetSeat(id, side, SeatSpec::Reserved(other))),
        17 => return Some(Action::SetSeat(id, side, invite(rng, other))),
        18 => return Some(Action::SetSeat(id, side, ai_seat(rng))),
        19 => {
            let (game, ply) = (GameId { room: id, number: game }, rng.below(12) as u16);
            return Some(Action::Play(game, ply, reversi::rules::Square::ALL[rng.below(64)]));
        }
        _ => Command::Chat(ChatText::parse("well").expect("a line")),
    };
    Some(Action::Command(id, command))
}

/// What a player accepts: few values, so that one is set again at another server.
pub(crate) fn set_availability(rng: &mut Rng) -> Action {
    let (available, games) = (rng.percent(70), 1 + rng.below(2) as u16);
    let increment = TimeRange { shortest: None, longest: Some(Duration::from_secs(games.into())) };
    let (games_at_once, max_rating) = (Some(games), (games == 1).then_some(1_600));
    Action::SetAvailability(Availability { available, increment, max_rating, games_at_once, ..Availability::default() })
}

/// A request that creates a room.
pub(crate) fn create_room(rng: &mut Rng, server: &SimServer, request: Option<String>) -> Action {
    let side = rng.percent(50).then(|| rng.pick(&Color::ALL));
    match rng.below(10) {
        0 => Action::Quick(Opponent::Ai(ai(rng)), side, Box::new(terms(rng)), request),
        1..5 => {
            let opponent =
                if rng.percent(20) { Opponent::AnyoneOrHouse(rng.millis(0..10_000)) } else { Opponent::Anyone };
            Action::Quick(opponent, side, Box::new(terms(rng)), request)
        }
        _ => {
            let mut seats = ByColor::new(SeatSpec::Open, SeatSpec::Open);
            if rng.percent(70) {
                seats[rng.pick(&Color::ALL)] = SeatSpec::Me;
            }
            for side in Color::ALL {
                if seats[side] == SeatSpec::Open {
                    seats[side] = match rng.below(6) {
                        0..2 => ai_seat(rng),
                        2 => match server.any_player(rng) {
                            Some(player) if rng.percent(50) => SeatSpec::Reserved(player),
                            Some(player) => invite(rng, player),
                            None => SeatSpec::Open,
                        },
                        _ => SeatSpec::Open,
                    };
                }
            }
            Action::Create(Box::new(NewRoom { settings: settings(rng), seats }), request)
        }
    }
}

/// A kind of AI that moves quickly.
fn ai(rng: &mut Rng) -> AiSpec {
    let kind = rng.pick(&["random", "greedy", "roxanne"]).to_owned();
    AiSpec { kind, level: Some(1), seed: None }
}

fn ai_seat(rng: &mut Rng) -> SeatSpec {
    SeatSpec::Ai(ai(rng))
}

/// Some end while the simulation runs.
fn invite(rng: &mut Rng, player: PlayerId) -> SeatSpec {
    SeatSpec::Invited(PlayerRef::Id(player), rng.millis(10_000..20_000))
}

/// A rating that no player of a simulation reaches.
const OUT_OF_REACH: u16 = 3_000;

/// The terms of a quick start: few, so that players meet. A range of ratings has all of them or none.
fn terms(rng: &mut Rng) -> Settings {
    let total = rng.percent(30).then_some(Duration::from_secs(20));
    let time =
        TimeControl { per_move: total.is_none().then_some(TimeControl::DEFAULT_MOVE), total, ..TimeControl::default() };
    let opponents = match rng.below(10) {
        0 => Opponents { min_rating: Some(OUT_OF_REACH), ..Opponents::default() },
        1..3 => Opponents { max_rating: Some(OUT_OF_REACH), ..Opponents::default() },
        _ => Opponents::default(),
    };
    let rated = rng.percent(20);
    Settings { time, rated, opponents, ..Settings::named(RoomName::parse("quick").expect("a name")) }
}

fn settings(rng: &mut Rng) -> Settings {
    let per_move = rng.percent(70).then(|| rng.millis(500..8_000));
    let total = (per_move.is_none() || rng.percent(40)).then(|| rng.millis(5_000..40_000));
    let increment = if total.is_some() { rng.millis(0..1_500) } else { Duration::ZERO };
    Settings {
        visibility: if rng.percent(20) { Visibility::Private } else { Visibility::Public },
        watching: if rng.percent(15) { Watching::Members } else { Watching::Everyone },
        password: rng.percent(15).then(password),
        time: TimeControl { per_move, total, increment },
        ai_pause: Duration::from_millis(rng.pick(&[0, 0, 50, 700])),
        games: rng.pick(&[1, 1, 2, 3]),
        swap_sides: rng.percent(70),
        opening: match rng.below(5) {
            0 => Opening::Random { plies: 1 + rng.below(20) as u8, seed: rng.bits() },
            1 => Opening::Moves("c4c3c2b2e6c1a1a3".parse().expect("moves")),
            2 => Opening::Balanced { seed: rng.bits() },
            _ => Opening::Standard,
        },
        auto_start: rng.percent(30),
        rated: rng.percent(30),
        ..Settings::named(RoomName::parse("room").expect("a name"))
    }
}
