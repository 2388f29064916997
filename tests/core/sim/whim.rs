//! Random actions in a room.

use std::{sync::Arc, time::Duration};

use reversi::{
    room::{
        AiSpec, ChatText, Command, GameId, Occupant, Offer, Opening, Phase, Room, RoomName, SeatSpec, Settings,
        TimeControl, Visibility, Watching,
    },
    rules::{ByColor, Color},
    runtime::{NewRoom, Opponent, Player, hash_password},
};

use crate::sim::{
    dice::Dice,
    moment::Deed,
    stage::{PASSWORD, SimServer},
};

/// A random action in a room: mostly one that leads to a game, sometimes any.
pub(crate) fn deed(dice: &mut Dice, player: &Arc<Player>, room: &Room, stage: &SimServer) -> Option<Deed> {
    if dice.percent(20) {
        return any(dice, player, room, stage);
    }
    let id = room.id();
    let does = |command| Some(Deed::Command(id, command));
    if room.member(player.id()).is_none() {
        return does(Command::Join(player.profile.clone(), stage.credentials(id)));
    }
    if room.phase() != Phase::Lobby {
        return if dice.percent(10) { during(dice, room) } else { None };
    }
    let owner = room.owner().is_some_and(|owner| owner.id == player.id());
    let open = Color::ALL.into_iter().find(|&side| room.seats()[side].occupant == Occupant::Open);
    match (room.seat_of(player.id()), open) {
        (None, Some(side)) if dice.percent(70) => does(Command::TakeSeat(side)),
        (_, Some(side)) if owner && dice.percent(60) => Some(Deed::SetSeat(id, side, ai_seat(dice))),
        (Some(side), None) if !owner && !room.seats()[side].ready() => does(Command::SetReady(true)),
        (_, None) if owner => {
            let request = dice.percent(40).then(|| format!("start {}", dice.below(4)));
            Some(Deed::Start(id, request))
        }
        (Some(side), _) if room.rematch_offer() == Some(side.opposite()) => {
            does(Command::Answer(Offer::Rematch, dice.percent(80)))
        }
        _ => any(dice, player, room, stage),
    }
}

/// A random action while a game runs.
fn during(dice: &mut Dice, room: &Room) -> Option<Deed> {
    let game = room.game()?.number;
    let command = match dice.below(10) {
        0 => Command::Resign { game },
        1 => Command::Abort { game },
        2..4 => Command::Offer(Offer::Draw),
        4..6 => Command::Answer(Offer::Draw, dice.percent(50)),
        _ => Command::Chat(ChatText::parse("hm").expect("a line")),
    };
    Some(Deed::Command(room.id(), command))
}

/// Any action.
fn any(dice: &mut Dice, player: &Arc<Player>, room: &Room, stage: &SimServer) -> Option<Deed> {
    let (id, side, game) = (room.id(), dice.pick(&Color::ALL), room.game().map_or(1, |game| game.number));
    let other = stage.any_player(dice)?;
    let command = match dice.below(24) {
        0 => Command::Leave,
        1 => Command::LeaveSeat,
        2 => Command::SwapSeats,
        3 => Command::SetReady(dice.percent(50)),
        4 => Command::Kick { player: other, ban: dice.percent(30) },
        5 => Command::Transfer(other),
        6 => Command::Configure(Box::new(settings(dice))),
        7 if dice.percent(20) => Command::Close,
        8 => Command::Resign { game },
        9 => Command::Abort { game },
        10..12 => Command::Offer(dice.pick(&[Offer::Draw, Offer::Rematch])),
        12 => Command::Answer(dice.pick(&[Offer::Draw, Offer::Rematch]), dice.percent(50)),
        13..15 => Command::TakeSeat(side),
        15 => Command::Join(player.profile.clone(), stage.credentials(id)),
        16 => return Some(Deed::SetSeat(id, side, SeatSpec::Open)),
        17 => return Some(Deed::SetSeat(id, side, SeatSpec::Reserved(other))),
        18 => return Some(Deed::SetSeat(id, side, ai_seat(dice))),
        19 => {
            let (game, ply) = (GameId { room: id, number: game }, dice.below(12) as u16);
            return Some(Deed::Play(game, ply, reversi::rules::Square::ALL[dice.below(64)]));
        }
        _ => Command::Chat(ChatText::parse("well").expect("a line")),
    };
    Some(Deed::Command(id, command))
}

/// A request that creates a room.
pub(crate) fn founding(dice: &mut Dice, stage: &SimServer, request: Option<String>) -> Deed {
    let side = dice.percent(50).then(|| dice.pick(&Color::ALL));
    match dice.below(10) {
        0 => Deed::Quick(Opponent::Ai(ai(dice)), side, request),
        1..5 => Deed::Quick(Opponent::Anyone, side, request),
        _ => {
            let mut seats = ByColor::new(SeatSpec::Open, SeatSpec::Open);
            if dice.percent(70) {
                seats[dice.pick(&Color::ALL)] = SeatSpec::Me;
            }
            for side in Color::ALL {
                if seats[side] == SeatSpec::Open {
                    seats[side] = match dice.below(6) {
                        0..2 => ai_seat(dice),
                        2 => stage.any_player(dice).map_or(SeatSpec::Open, SeatSpec::Reserved),
                        _ => SeatSpec::Open,
                    };
                }
            }
            Deed::Create(Box::new(NewRoom { settings: settings(dice), seats }), request)
        }
    }
}

/// A kind of AI that moves quickly.
fn ai(dice: &mut Dice) -> AiSpec {
    let kind = dice.pick(&["random", "greedy", "roxanne"]).to_owned();
    AiSpec { kind, level: Some(1), seed: None }
}

fn ai_seat(dice: &mut Dice) -> SeatSpec {
    SeatSpec::Ai(ai(dice))
}

fn settings(dice: &mut Dice) -> Settings {
    let per_move = dice.percent(70).then(|| dice.millis(500..8_000));
    let total = (per_move.is_none() || dice.percent(40)).then(|| dice.millis(5_000..40_000));
    let increment = if total.is_some() { dice.millis(0..1_500) } else { Duration::ZERO };
    Settings {
        visibility: if dice.percent(20) { Visibility::Private } else { Visibility::Public },
        watching: if dice.percent(15) { Watching::Members } else { Watching::Everyone },
        password: dice.percent(15).then(|| hash_password(PASSWORD)),
        time: TimeControl { per_move, total, increment },
        ai_pause: Duration::from_millis(dice.pick(&[0, 0, 50, 700])),
        games: dice.pick(&[1, 1, 2, 3]),
        swap_sides: dice.percent(70),
        opening: match dice.below(5) {
            0 => Opening::Random { plies: 1 + dice.below(20) as u8, seed: dice.bits() },
            1 => Opening::Moves("c4c3c2b2e6c1a1a3".parse().expect("moves")),
            2 => Opening::Balanced { seed: dice.bits() },
            _ => Opening::Standard,
        },
        auto_start: dice.percent(30),
        rated: dice.percent(30),
        ..Settings::named(RoomName::parse("table").expect("a name"))
    }
}
