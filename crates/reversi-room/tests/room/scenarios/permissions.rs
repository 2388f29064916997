//! Permissions: every action, by every role, in every phase.

use reversi_engine::rules::Color::{Black, White};
use reversi_room::{
    Claim, Command, Credentials, Offer, Rejection, SeatSetting, Settings, Timestamp, Visibility, Watching,
};

use crate::fixtures::test_room::{
    TestRoom, ai, ban, chat, default_settings, id, kick, profile, secs, square, valid_credentials,
};

type Cell = Result<(), Rejection>;
type Row = (&'static str, fn() -> TestRoom, Command, [Cell; 5]);

/// The owner, who watches; the black player; a member who watches; a non-member; an administrator.
const WHO: [&str; 5] = ["ada", "bob", "wim", "xia", "admin"];

const YES: Cell = Ok(());
const OWNER: Cell = Err(Rejection::NotOwner);
const SEAT: Cell = Err(Rejection::NotSeated);
const MEMBER: Cell = Err(Rejection::NotMember);
const GAME: Cell = Err(Rejection::RoomInGame);
const OVER: Cell = Err(Rejection::GameOver);
const NO_SERIES: Cell = Err(Rejection::WrongPhase("no series is running"));
const NO_OFFER: Cell = Err(Rejection::WrongPhase("there is no such offer"));

const NOT_GONE: Cell =
    Err(Rejection::WrongPhase("your opponent is there, or the game has too long a clock for claims"));
const CLAIM: Command = Command::Claim { game: 1, claim: Claim::Win };

const ADMIN: Cell = Err(Rejection::NotAdmin);
const BY_ADMIN: [Cell; 5] = [ADMIN, ADMIN, ADMIN, ADMIN, YES];
const BY_OWNER: [Cell; 5] = [YES, OWNER, OWNER, OWNER, OWNER];
const BY_OWNER_OR_ADMIN: [Cell; 5] = [YES, OWNER, OWNER, OWNER, YES];
const BY_SEATED: [Cell; 5] = [SEAT, YES, SEAT, MEMBER, MEMBER];
const BY_MEMBERS: [Cell; 5] = [YES, YES, YES, MEMBER, MEMBER];
const BY_ALL: [Cell; 5] = [YES; 5];
const NOT_NOW_FOR_OWNER: [Cell; 5] = [GAME, OWNER, OWNER, OWNER, OWNER];

fn half_empty() -> TestRoom {
    TestRoom::lobby().join("bob").join("wim").sit("bob", Black)
}

fn playing() -> TestRoom {
    TestRoom::with_watchers().started()
}

fn both_have_moved() -> TestRoom {
    let mut test = playing();
    test.play("d3c3");
    test
}

fn ais_playing() -> TestRoom {
    TestRoom::ai_match(default_settings()).join("bob").join("wim")
}

fn bots_playing() -> TestRoom {
    TestRoom::lobby()
        .join("bob")
        .join("wim")
        .join("bot-1")
        .join("bot-2")
        .sit("bot-1", Black)
        .sit("bot-2", White)
        .started()
}

fn over() -> TestRoom {
    let mut test = both_have_moved();
    test.ok("cy", Command::Resign { game: 1 });
    test
}

fn renamed() -> Command {
    let settings = Settings { visibility: Visibility::Private, watching: Watching::Members, ..default_settings() };
    Command::Configure(Box::new(settings), None)
}

fn retimed() -> Command {
    Command::Configure(Box::new(Settings { ai_pause: secs(1), ..default_settings() }), None)
}

fn play(game: u32, ply: u16, name: &str) -> Command {
    Command::Play { game, ply, square: square(name), thought: None }
}

fn judge(rows: Vec<Row>) {
    for (action, random, command, cells) in rows {
        for (who, cell) in WHO.into_iter().zip(cells) {
            let result = random().act(who, command.clone()).map(|_| ());
            assert_eq!(result, cell, "{action} by {who}");
        }
    }
}

#[test]
fn in_the_lobby() {
    let reserve = SeatSetting::Reserved(profile("xia"));
    let lobby: fn() -> TestRoom = TestRoom::with_watchers;
    judge(vec![
        ("take or change seat", half_empty, Command::TakeSeat(White), BY_MEMBERS),
        ("leave seat", lobby, Command::LeaveSeat, BY_MEMBERS),
        ("swap seats", lobby, Command::SwapSeats, BY_OWNER),
        ("open seat", half_empty, Command::SetSeat(White, SeatSetting::Open), BY_OWNER),
        ("seat an AI", half_empty, Command::SetSeat(White, ai()), BY_OWNER),
        ("reserve", half_empty, Command::SetSeat(White, reserve), BY_OWNER),
        ("kick a watcher", lobby, kick("wim"), BY_OWNER_OR_ADMIN),
        ("kick a seated player", lobby, kick("bob"), BY_OWNER_OR_ADMIN),
        ("ban a watcher", lobby, ban("wim"), BY_OWNER_OR_ADMIN),
        ("ban a stranger", lobby, ban("zoe"), BY_OWNER_OR_ADMIN),
        ("ready", lobby, Command::SetReady(true), BY_SEATED),
        ("start", lobby, Command::Start(None), BY_OWNER),
        ("end a series", lobby, Command::EndSeries, [NO_SERIES, OWNER, OWNER, OWNER, NO_SERIES]),
        ("change settings", lobby, retimed(), BY_OWNER),
        ("transfer", lobby, Command::Transfer(id("wim")), BY_OWNER),
        ("name a co-owner", lobby, Command::SetCoOwner(id("wim"), true), BY_OWNER),
        ("chat", lobby, chat("hi"), BY_MEMBERS),
        ("leave", lobby, Command::Leave, BY_ALL),
        ("vacate", lobby, Command::Vacate, BY_MEMBERS),
        ("remove a line of chat", lobby, Command::RemoveChat(Timestamp(1)), BY_ADMIN),
        ("close", lobby, Command::Close, BY_OWNER_OR_ADMIN),
        ("tick", lobby, Command::Tick, BY_ALL),
    ]);
}

#[test]
fn after_a_game() {
    judge(vec![
        ("play", over, play(1, 2, "c4"), [SEAT, OVER, SEAT, SEAT, SEAT]),
        ("resign", over, Command::Resign { game: 1 }, [SEAT, OVER, SEAT, MEMBER, MEMBER]),
        ("abort", over, Command::Abort { game: 1 }, [OVER, OVER, OWNER, OWNER, OVER]),
        ("claim", over, CLAIM, [SEAT, OVER, SEAT, MEMBER, MEMBER]),
        ("offer a draw", over, Command::Offer(Offer::Draw, None), [SEAT, OVER, SEAT, MEMBER, MEMBER]),
        ("answer a draw", over, Command::Answer(Offer::Draw, None, true), [SEAT, OVER, SEAT, MEMBER, MEMBER]),
        ("offer a rematch", over, Command::Offer(Offer::Rematch, None), BY_SEATED),
        ("answer a rematch", over, Command::Answer(Offer::Rematch, None, true), [SEAT, NO_OFFER, SEAT, MEMBER, MEMBER]),
    ]);
}

#[test]
fn in_a_game() {
    judge(vec![
        ("change seat", playing, Command::TakeSeat(White), [GAME, GAME, GAME, MEMBER, MEMBER]),
        ("leave seat", playing, Command::LeaveSeat, [YES, GAME, YES, MEMBER, MEMBER]),
        ("swap seats", playing, Command::SwapSeats, NOT_NOW_FOR_OWNER),
        ("set seat", playing, Command::SetSeat(White, ai()), NOT_NOW_FOR_OWNER),
        ("kick a watcher", playing, kick("wim"), BY_OWNER_OR_ADMIN),
        ("kick a seated player", playing, kick("cy"), [GAME, OWNER, OWNER, OWNER, YES]),
        ("ban a seated player", playing, ban("cy"), [GAME, OWNER, OWNER, OWNER, YES]),
        ("ready", playing, Command::SetReady(true), [SEAT, GAME, SEAT, MEMBER, MEMBER]),
        ("start", playing, Command::Start(None), NOT_NOW_FOR_OWNER),
        ("play", playing, play(1, 0, "d3"), [SEAT, YES, SEAT, SEAT, SEAT]),
        ("resign", playing, Command::Resign { game: 1 }, BY_SEATED),
        ("offer a draw", playing, Command::Offer(Offer::Draw, None), BY_SEATED),
        ("answer a draw", playing, Command::Answer(Offer::Draw, None, true), [SEAT, NO_OFFER, SEAT, MEMBER, MEMBER]),
        ("offer a rematch", playing, Command::Offer(Offer::Rematch, None), [SEAT, GAME, SEAT, MEMBER, MEMBER]),
        ("take back", both_have_moved, Command::Offer(Offer::TakeBack, None), BY_SEATED),
        (
            "answer take-back",
            playing,
            Command::Answer(Offer::TakeBack, None, true),
            [SEAT, NO_OFFER, SEAT, MEMBER, MEMBER],
        ),
        ("abort at first", playing, Command::Abort { game: 1 }, [GAME, YES, OWNER, OWNER, YES]),
        ("abort later", both_have_moved, Command::Abort { game: 1 }, [GAME, OWNER, OWNER, OWNER, YES]),
        ("end a series", playing, Command::EndSeries, BY_OWNER_OR_ADMIN),
        ("abort an AI game", ais_playing, Command::Abort { game: 1 }, BY_OWNER_OR_ADMIN),
        ("abort a bot game", bots_playing, Command::Abort { game: 1 }, BY_OWNER_OR_ADMIN),
        ("change name, visibility, watching", playing, renamed(), BY_OWNER),
        ("change other settings", playing, retimed(), NOT_NOW_FOR_OWNER),
        ("transfer", playing, Command::Transfer(id("wim")), BY_OWNER),
        ("name a co-owner", playing, Command::SetCoOwner(id("wim"), true), BY_OWNER),
        ("claim", playing, CLAIM, [SEAT, NOT_GONE, SEAT, MEMBER, MEMBER]),
        ("chat", playing, chat("hi"), BY_MEMBERS),
        ("remove a line of chat", playing, Command::RemoveChat(Timestamp(1)), BY_ADMIN),
        ("leave", playing, Command::Leave, BY_ALL),
        ("vacate", playing, Command::Vacate, [GAME, GAME, GAME, MEMBER, MEMBER]),
        ("close", playing, Command::Close, [GAME, OWNER, OWNER, OWNER, YES]),
        ("close an AI game", ais_playing, Command::Close, BY_OWNER_OR_ADMIN),
        ("close a bot game", bots_playing, Command::Close, BY_OWNER_OR_ADMIN),
    ]);
}

#[test]
fn a_closed_room_permits_only_leaving() {
    let mut test = over();
    test.ok("ada", Command::Close);
    let commands = [
        Command::Join(profile("xia"), valid_credentials()),
        Command::TakeSeat(White),
        Command::LeaveSeat,
        Command::SwapSeats,
        Command::SetSeat(White, ai()),
        Command::SetReady(true),
        kick("wim"),
        Command::Transfer(id("wim")),
        Command::SetCoOwner(id("wim"), true),
        CLAIM,
        renamed(),
        Command::Start(None),
        Command::JoinGame(profile("xia"), White, None),
        Command::EndSeries,
        Command::Close,
        chat("hi"),
        play(1, 2, "c4"),
        Command::Strike { game: 1, ply: 2 },
        Command::Resign { game: 1 },
        Command::Abort { game: 1 },
        Command::Offer(Offer::Rematch, None),
        Command::Answer(Offer::Rematch, None, true),
    ];
    for who in WHO.into_iter().chain(["server"]) {
        for command in &commands {
            assert_eq!(test.refused(who, command.clone()), Rejection::RoomClosed, "{command:?}");
        }
        for command in [Command::Leave, Command::Tick, Command::SetPresence(id("bob"), false)] {
            assert_eq!(test.ok(who, command), []);
        }
    }
    assert_eq!((test.room.deadline(), test.room.ai_turn()), (None, None));
}

#[test]
fn any_player_may_watch_a_room_for_everyone_but_only_members_others() {
    let may_watch = |test: &TestRoom, who: &str| test.room.may_watch(id(who), &Credentials::default());
    for mut test in [TestRoom::with_watchers(), playing()] {
        assert!(["ada", "bob", "wim", "xia"].iter().all(|who| may_watch(&test, who).is_ok()));
        let settings = Settings { watching: Watching::Members, ..default_settings() };
        test.ok("ada", Command::Configure(Box::new(settings), None));
        assert!(["ada", "bob", "wim"].iter().all(|who| may_watch(&test, who).is_ok()));
        assert_eq!(may_watch(&test, "xia"), Err(Rejection::NotMember));
    }
}

#[test]
fn only_the_server_sets_presence_and_counts_strikes() {
    for who in WHO {
        let mut test = bots_playing();
        assert_eq!(test.refused(who, Command::SetPresence(id("bob"), false)), Rejection::NotAdmin);
        assert_eq!(test.refused(who, Command::Strike { game: 1, ply: 0 }), Rejection::NotAdmin);
        assert_eq!(test.refused(who, Command::Join(profile("zoe"), valid_credentials())), Rejection::NotAdmin);
    }
    let mut test = bots_playing();
    assert_eq!(test.refused("server", Command::SetPresence(id("zoe"), false)), Rejection::PlayerNotFound);
}

/// With a delay for spectators a refusal would show what they may not see yet.
#[test]
fn who_has_no_seat_and_manages_nothing_is_refused_alike_in_every_phase() {
    let offers = [Offer::Draw, Offer::TakeBack, Offer::Rematch].into_iter();
    let offers = offers.flat_map(|offer| [Command::Offer(offer, Some(1)), Command::Answer(offer, Some(1), true)]);
    let commands = [
        play(1, 0, "d3"),
        play(1, 2, "c4"),
        play(2, 0, "d3"),
        Command::Resign { game: 1 },
        Command::Abort { game: 1 },
        CLAIM,
        Command::SetReady(true),
        Command::Start(None),
        Command::EndSeries,
        Command::Close,
        Command::SwapSeats,
        Command::SetSeat(White, SeatSetting::Open),
        Command::Transfer(id("wim")),
        Command::SetCoOwner(id("wim"), true),
        kick("bob"),
        ban("zoe"),
        renamed(),
        retimed(),
        Command::DeclineInvitation(None),
    ];
    for command in offers.chain(commands) {
        for who in ["wim", "xia"] {
            let phases = [TestRoom::with_watchers, playing, both_have_moved, over];
            let [lobby, later @ ..] = phases.map(|random| random().act(who, command.clone()).map(drop));
            assert!(lobby.is_err() && later.iter().all(|refusal| *refusal == lobby), "{command:?} by {who}: {later:?}");
        }
    }
}
