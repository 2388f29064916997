//! Random scripts of what players try in a room.

use std::time::Duration;

use proptest::prelude::*;
use reversi::{
    room::{
        Command, Credentials, Issuer, JoinCode, Occupant, Offer, Opening, Policy, SeatSetting, Settings, TimeControl,
        Visibility, Watching,
    },
    rules::{ByColor, Color},
};

use crate::room::test_room::{CODE, ai, ai_seat, default_settings, id, password, profile, secs, valid_credentials};

pub(crate) const PLAYERS: [&str; 6] = ["ada", "bob", "cy", "bot-d", "bot-e", "eve"];

/// How much time passes before a step.
#[derive(Clone, Debug)]
pub(crate) enum Wait {
    Nothing,
    Millis(u64),
    /// To the room's deadline, plus this many milliseconds.
    Deadline(u64),
}

/// What a player tries. It is chosen before the state of the room is known.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// A command that does not depend on the state of the room.
    Plain(Command),
    JoinAs(usize, Credentials),
    Configure(Box<Settings>),
    Rename(bool),
    Presence(usize, bool),
    /// Ada takes black and this player takes white, if they can.
    SitDown(usize),
    /// Everything that is missing for a game, and its start.
    StartGame,
    /// Legal moves by the players to move.
    Moves(Vec<u8>),
    /// Any square, with a game and ply near the current ones.
    NearbyMove {
        game: u32,
        ply: u16,
        square: u8,
    },
    Strike {
        ply: u16,
        times: u8,
    },
    /// The server was down for this many microseconds, after the wait before.
    Outage(i64),
    /// By the occupant of this seat.
    Resign(Color),
    Offer(Offer, Color),
    Answer(Offer, bool, Color),
    /// One side offers, and the other answers immediately.
    OfferAndAnswer(Offer, bool, Color),
    KickOccupant {
        seat: Color,
        ban: bool,
    },
    Abort,
    BanStrangers(u64),
    ChatLines(u8),
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) wait: Wait,
    /// Whether the driver ticks first, as a correct driver does.
    pub(crate) ticks_first: bool,
    pub(crate) actor: usize,
    pub(crate) action: Action,
}

#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) settings: Settings,
    pub(crate) seats: ByColor<Occupant>,
    pub(crate) policy: Policy,
    pub(crate) steps: Vec<Step>,
    /// The player who closes the room at the end, if permitted.
    pub(crate) closed_by: Issuer,
}

pub(crate) fn player(who: usize) -> Issuer {
    Issuer::Player(id(PLAYERS[who]))
}

pub(crate) fn scripts() -> impl Strategy<Value = Script> {
    let grace = prop_oneof![Just(0), Just(30), Just(120)].prop_map(secs);
    let policy = (grace, 4_u16..8).prop_map(|(grace, members)| Policy { grace, idle_close: secs(600), members });
    let seats = (occupants(), occupants()).prop_map(|(black, white)| match (&black, &white) {
        (Occupant::Player(_), Occupant::Player(_)) => ByColor::new(black, Occupant::Open),
        _ => ByColor::new(black, white),
    });
    let steps = prop::collection::vec(steps(), 1..100);
    let closed_by = prop_oneof![Just(player(0)), Just(Issuer::Admin), Just(Issuer::Server)];
    (settings(), seats, policy, steps, closed_by).prop_map(|(settings, seats, policy, steps, closed_by)| Script {
        settings,
        seats,
        policy,
        steps,
        closed_by,
    })
}

fn occupants() -> impl Strategy<Value = Occupant> {
    prop_oneof![
        Just(Occupant::Open),
        Just(Occupant::Ai(ai_seat())),
        Just(Occupant::Player(profile("ada"))),
        Just(Occupant::Reserved(profile("bob"))),
    ]
}

fn times() -> impl Strategy<Value = TimeControl> {
    let millis = Duration::from_millis;
    let moves = (100_u64..60_000).prop_map(millis);
    let totals = (1_000_u64..120_000).prop_map(millis);
    let per_move =
        moves.clone().prop_map(|limit| TimeControl { per_move: Some(limit), total: None, increment: Duration::ZERO });
    let total = (prop::option::of(moves), totals, 0_u64..5_000).prop_map(move |(per_move, total, increment)| {
        TimeControl { per_move, total: Some(total), increment: millis(increment) }
    });
    prop_oneof![per_move, total]
}

fn settings() -> impl Strategy<Value = Settings> {
    let opening = prop_oneof![
        2 => Just(Opening::Standard),
        1 => Just(Opening::Moves("c4c3c2b2e6c1a1a3".parse().expect("moves"))),
        1 => (1_u8..=20, 0_u64..9).prop_map(|(plies, seed)| Opening::Random { plies, seed }),
        2 => (0_u64..9).prop_map(|seed| Opening::Balanced { seed }),
    ];
    let pause = prop_oneof![Just(0), Just(500), Just(10_000)].prop_map(Duration::from_millis);
    let access = (any::<bool>(), any::<bool>(), prop::option::of(Just(password())));
    (times(), opening, pause, 1_u16..4, any::<[bool; 4]>(), access).prop_map(
        |(time, opening, ai_pause, games, [swap_sides, auto_start, rated, tested], (private, members, password))| {
            let rated = rated && !matches!(opening, Opening::Moves(_));
            let settings = Settings {
                visibility: if private { Visibility::Private } else { Visibility::Public },
                watching: if members { Watching::Members } else { Watching::Everyone },
                password,
                time,
                ai_pause,
                games,
                swap_sides,
                opening,
                auto_start,
                rated,
                ..default_settings()
            };
            // Bounds at which one pair decides the test.
            let sprt = (tested && settings.is_paired()).then(|| "-1600,1600,0.4,0.4".parse().expect("a test"));
            Settings { sprt, ..settings }
        },
    )
}

fn steps() -> impl Strategy<Value = Step> {
    let wait = prop_oneof![
        12 => Just(Wait::Nothing),
        6 => (1_u64..2_000).prop_map(Wait::Millis),
        1 => (2_000_u64..200_000).prop_map(Wait::Millis),
        1 => (0_u64..3).prop_map(Wait::Deadline),
    ];
    // The owner has the most rights, so she acts most often.
    let actor = prop_oneof![2 => Just(0), 3 => 0_usize..8];
    (wait, prop::bool::weighted(0.9), actor, actions()).prop_map(|(wait, ticks_first, actor, action)| Step {
        wait,
        ticks_first,
        actor,
        action,
    })
}

fn actions() -> impl Strategy<Value = Action> {
    let credentials = prop_oneof![
        3 => Just(valid_credentials()),
        1 => Just(Credentials::default()),
        1 => Just(Credentials { code: Some(JoinCode::from_random(CODE)), password: None }),
    ];
    let seat = prop_oneof![Just(Color::Black), Just(Color::White)];
    let offer = prop_oneof![Just(Offer::Draw), Just(Offer::Rematch)];
    prop_oneof![
        6 => commands().prop_map(Action::Plain),
        2 => (0_usize..6, credentials).prop_map(|(who, credentials)| Action::JoinAs(who, credentials)),
        1 => settings().prop_map(|settings| Action::Configure(Box::new(settings))),
        1 => any::<bool>().prop_map(Action::Rename),
        3 => (0_usize..6, prop::bool::weighted(0.6)).prop_map(|(who, present)| Action::Presence(who, present)),
        4 => prop_oneof![Just(1), Just(3)].prop_map(Action::SitDown),
        3 => Just(Action::StartGame),
        6 => prop::collection::vec(any::<u8>(), 1..64).prop_map(Action::Moves),
        1 => (0_u32..3, 0_u16..6, any::<u8>()).prop_map(|(game, ply, square)| Action::NearbyMove { game, ply, square }),
        4 => (0_u16..4, 1_u8..4).prop_map(|(ply, times)| Action::Strike { ply, times }),
        1 => outages().prop_map(Action::Outage),
        1 => seat.clone().prop_map(Action::Resign),
        3 => (offer.clone(), seat.clone()).prop_map(|(offer, seat)| Action::Offer(offer, seat)),
        8 => (offer.clone(), any::<bool>(), seat.clone()).prop_map(|(offer, yes, seat)| Action::OfferAndAnswer(offer, yes, seat)),
        3 => (offer, any::<bool>(), seat.clone()).prop_map(|(offer, yes, seat)| Action::Answer(offer, yes, seat)),
        1 => (seat, any::<bool>()).prop_map(|(seat, ban)| Action::KickOccupant { seat, ban }),
        1 => Just(Action::Abort),
        1 => prop_oneof![9 => 0_u64..3, 1 => Just(210)].prop_map(Action::BanStrangers),
        1 => (1_u8..30).prop_map(Action::ChatLines),
    ]
}

/// In microseconds: usual outages, a clock that was set back, and values that no server sends.
fn outages() -> impl Strategy<Value = i64> {
    prop_oneof![12 => 0_i64..90_000_000, 4 => -90_000_000_i64..0, 1 => any::<i64>(), 1 => Just(i64::MIN)]
}

fn commands() -> impl Strategy<Value = Command> {
    let seat = prop_oneof![Just(Color::Black), Just(Color::White)];
    let who = (0_usize..6).prop_map(|who| id(PLAYERS[who]));
    let offer = prop_oneof![Just(Offer::Draw), Just(Offer::Rematch)];
    let setting = prop_oneof![
        Just(SeatSetting::Open),
        Just(ai()),
        (0_usize..6).prop_map(|who| SeatSetting::Reserved(profile(PLAYERS[who]))),
    ];
    prop_oneof![
        2 => Just(Command::Leave),
        5 => seat.clone().prop_map(Command::TakeSeat),
        1 => Just(Command::LeaveSeat),
        1 => Just(Command::SwapSeats),
        2 => (seat, setting).prop_map(|(seat, setting)| Command::SetSeat(seat, setting)),
        4 => any::<bool>().prop_map(Command::SetReady),
        1 => (who.clone(), any::<bool>()).prop_map(|(player, ban)| Command::Kick { player, ban }),
        1 => who.clone().prop_map(Command::Transfer),
        1 => Just(Command::Start),
        1 => offer.clone().prop_map(Command::Offer),
        1 => (offer, any::<bool>()).prop_map(|(offer, accept)| Command::Answer(offer, accept)),
        1 => (who, any::<bool>()).prop_map(|(who, present)| Command::SetPresence(who, present)),
        1 => Just(Command::EndSeries),
        1 => Just(Command::Tick),
    ]
}
