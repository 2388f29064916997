//! Messages are read as they were written, and any bytes without panic. The stored messages have such laws of their
//! own, in `crates/reversi-room/tests`.

use std::{cmp::Reverse, fmt::Debug, sync::Arc, time::Duration};

use proptest::{collection::vec, option::of, prelude::*, sample::select, strategy::ValueTree as _};
use prost::Message;

use super::ask::read_news;
use crate::{
    proto::cluster::{self, exchange_response::Reply as Replied, follow_response::Item},
    room::{
        AiSeat, Clocks, Command, Creation, DeclineReason, DisplayName, EndReason, EngineVersion, Event, Fact, GameEnd,
        GameId, Invitation, Issuer, JoinCode, MeetingRef, Occupant, Offer, Opponents, Participant, Phase, PlayerId,
        PlayerKind, Policy, Profile, RatingChange, Rejection, Request, Room, RoomId, RoomName, Seat, Seq, Series,
        Settings, TimeControl, Timestamp, TournamentId, TurnRequest, UnratedReason, Watching, stored::StoredError,
    },
    rules::{Bitboard, Board, ByColor, Color, Position, Square},
    runtime::{
        Accepted, Ask, Assignment, FeedEnd, FeedItem, InvitationOutcome, LobbyUpdate, News, NodeId, Notice,
        OfferStatus, PlayerStreams, Question, Reply, RoomError, Row, RowKey, Shard, Snapshot, TournamentNews, TurnEnd,
    },
    tournament::{self, Control, Ending, Fault, PutAside},
};

fn room_id() -> impl Strategy<Value = RoomId> {
    any::<u64>().prop_map(RoomId::from_random)
}

fn player_id() -> impl Strategy<Value = PlayerId> {
    any::<u64>().prop_map(PlayerId::from_random)
}

fn game() -> impl Strategy<Value = GameId> {
    (room_id(), any::<u32>()).prop_map(|(room, number)| GameId { room, number })
}

fn color() -> impl Strategy<Value = Color> {
    prop_oneof![Just(Color::Black), Just(Color::White)]
}

fn square() -> impl Strategy<Value = Square> {
    (0_u8..64).prop_map(|index| Square::new(index).unwrap())
}

fn position() -> impl Strategy<Value = Position> {
    (any::<u64>(), any::<u64>(), color()).prop_map(|(black, white, turn)| {
        Position::new(Board::new(Bitboard(black & !white), Bitboard(white)).unwrap(), turn)
    })
}

fn wait() -> impl Strategy<Value = Duration> {
    any::<u64>().prop_map(Duration::from_nanos)
}

fn profile() -> impl Strategy<Value = Profile> {
    let kind = prop_oneof![Just(PlayerKind::Human), Just(PlayerKind::Bot)];
    let engine = of("[a-z][0-9.]{0,39}");
    (player_id(), "[a-zA-Z][a-z0-9]{1,12}", kind, engine).prop_map(|(id, name, kind, engine)| Profile {
        id,
        name: DisplayName::parse(&name).unwrap(),
        kind,
        engine_version: engine.map(|version| EngineVersion::parse(&version).unwrap()),
    })
}

fn occupant() -> impl Strategy<Value = Occupant> {
    let ai = (any::<u8>(), any::<u64>()).prop_map(|(level, seed)| AiSeat { kind: "random".into(), level, seed });
    prop_oneof![
        Just(Occupant::Open),
        profile().prop_map(Occupant::Reserved),
        invitation().prop_map(Occupant::Invited),
        profile().prop_map(Occupant::Player),
        ai.prop_map(Occupant::Ai)
    ]
}

fn invitation() -> impl Strategy<Value = Invitation> {
    (profile(), player_id(), of(any::<u16>()), any::<i64>()).prop_map(|(guest, by, by_rating, until)| Invitation {
        guest,
        by,
        by_rating,
        until: Timestamp(until),
    })
}

fn seat() -> impl Strategy<Value = Seat> {
    (occupant(), any::<bool>(), any::<u16>(), any::<u16>()).prop_map(|(occupant, marked_ready, wins, draws)| Seat {
        occupant,
        marked_ready,
        wins,
        draws,
    })
}

fn clocks() -> impl Strategy<Value = (Color, Clocks)> {
    (color(), of(wait()), of(wait()), wait(), any::<i64>()).prop_map(|(turn, black, white, left, deadline)| {
        (turn, Clocks { totals: ByColor::new(black, white), left, deadline: Timestamp(deadline) })
    })
}

fn meeting() -> impl Strategy<Value = MeetingRef> {
    let tournament = any::<u64>().prop_map(TournamentId::from_random);
    (tournament, any::<u32>(), any::<u32>()).prop_map(|(tournament, number, round)| MeetingRef {
        tournament,
        number,
        round,
    })
}

fn series() -> impl Strategy<Value = Series> {
    (any::<u16>(), 2_u16.., of(any::<i64>().prop_map(Timestamp))).prop_map(|(index, games, next_at)| Series {
        index: index % (games - 1),
        games,
        next_at,
    })
}

fn turn_request() -> impl Strategy<Value = TurnRequest> {
    (game(), any::<u16>(), position(), of(square()), of(wait()), of(wait()), wait(), any::<i64>(), any::<bool>())
        .prop_map(|(game, ply, position, last_move, black, white, left, deadline, is_repeat)| TurnRequest {
            game,
            ply,
            position,
            last_move,
            clocks: Clocks { totals: ByColor::new(black, white), left, deadline: Timestamp(deadline) },
            is_repeat,
        })
}

fn rating_change() -> impl Strategy<Value = (Option<u16>, RatingChange)> {
    let rated = any::<(u16, u16, u8, bool)>().prop_map(|(after, deviation, weight, limited)| RatingChange::Rated {
        after,
        deviation,
        weight,
        limited,
    });
    (of(any::<u16>()), prop_oneof![rated, select(&UnratedReason::ALL[..]).prop_map(RatingChange::Unrated)])
}

fn tournament_news() -> impl Strategy<Value = TournamentNews> {
    let opponent = of(profile().prop_map(Participant::Player));
    let reason = select(&[Fault::IllegalMoves, Fault::Timeout, Fault::Absence][..]);
    let ending =
        select(&[Ending::Completed, Ending::Stopped, Ending::Cancelled, Ending::TooFewEntrants, Ending::Stale][..]);
    prop_oneof![
        (any::<bool>(), any::<u32>(), any::<u32>(), room_id(), opponent).prop_map(
            |(playoff, round, meeting, room, opponent)| TournamentNews::Paired {
                playoff,
                round,
                meeting,
                room,
                opponent
            }
        ),
        any::<(u32, bool)>().prop_map(|(meeting, lost)| TournamentNews::Forfeited { meeting, lost }),
        (any::<i64>(), reason, vec(any::<u32>(), 0..4)).prop_map(|(until, reason, meetings)| {
            TournamentNews::PutAside { put_aside: PutAside { until: Timestamp(until), reason }, meetings }
        }),
        any::<(u32, Option<bool>, String)>().prop_map(|(meeting, won, why)| TournamentNews::Decided {
            meeting,
            won,
            why
        }),
        any::<bool>().prop_map(|excluded| TournamentNews::Left { excluded }),
        (ending, any::<u32>(), any::<u32>())
            .prop_map(|(ending, rank, entrants)| { TournamentNews::Ended { ending, rank, entrants } }),
    ]
}

fn notice() -> impl Strategy<Value = Notice> {
    let turn_end = prop_oneof![square().prop_map(TurnEnd::Played), Just(TurnEnd::TimedOut), Just(TurnEnd::GameEnded)];
    let end = (of(color()), prop_oneof![Just(EndReason::Discs), Just(EndReason::Agreed), Just(EndReason::Left)])
        .prop_map(|(winner, reason)| GameEnd { winner, reason });
    let reason = DeclineReason::parse("I play a long game").ok();
    let outcome = prop_oneof![
        Just(InvitationOutcome::Accepted),
        Just(InvitationOutcome::Declined(None)),
        Just(InvitationOutcome::Declined(reason)),
        Just(InvitationOutcome::Expired),
        Just(InvitationOutcome::Withdrawn),
    ];
    let offer = prop_oneof![Just(Offer::Draw), Just(Offer::Rematch), Just(Offer::TakeBack)];
    let status = prop_oneof![Just(OfferStatus::Open), Just(OfferStatus::Accepted), Just(OfferStatus::Closed)];
    prop_oneof![
        turn_request().prop_map(|request| Notice::TurnRequested(Box::new(request))),
        (game(), any::<u16>(), turn_end).prop_map(|(game, ply, end)| Notice::TurnClosed { game, ply, end }),
        (game(), color(), seat(), any::<bool>(), of(series()), of(meeting())).prop_map(
            |(game, side, opponent, present, series, meeting)| Notice::GameStarted {
                game,
                side,
                opponent,
                present,
                series,
                meeting,
            }
        ),
        (game(), color(), end, position(), of(series())).prop_map(|(game, side, end, position, series)| {
            Notice::GameEnded { game, side, end, position, series }
        }),
        (game(), color(), rating_change(), rating_change()).prop_map(|(game, side, black, white)| {
            let (before, changes) = (ByColor::new(black.0, white.0), ByColor::new(black.1, white.1));
            Notice::RatingChanged { game, side, before, changes }
        }),
        (game(), offer, status, any::<bool>()).prop_map(|(game, offer, status, own)| Notice::Offer {
            game,
            offer,
            status,
            own
        }),
        (any::<u64>(), tournament_news())
            .prop_map(|(id, news)| Notice::Tournament { tournament: TournamentId::from_random(id), news }),
        room_id().prop_map(Notice::SeriesEnded),
        (room_id(), any::<bool>()).prop_map(|(room, banned)| Notice::Kicked { room, banned }),
        room_id().prop_map(Notice::RoomClosed),
        (room_id(), color(), profile(), outcome).prop_map(|(room, seat, guest, outcome)| Notice::InvitationEnded {
            room,
            seat,
            guest,
            outcome,
        }),
        (room_id(), color(), any::<u64>(), of(profile()), of(invitation())).prop_map(|(room, seat, code, by, sent)| {
            Notice::Invited {
                room,
                seat,
                code: JoinCode::from_random(code),
                by,
                by_rating: sent.as_ref().and_then(|invitation| invitation.by_rating),
                until: sent.map(|invitation| invitation.until),
                settings: Box::new(Settings::named(RoomName::parse("Ada's").unwrap())),
            }
        }),
    ]
}

fn news() -> impl Strategy<Value = News> {
    prop_oneof![
        vec((player_id(), any::<bool>(), of(any::<i64>())), 0..4).prop_map(|players| {
            let streams = |(player, present, turns)| (player, PlayerStreams { present, turns });
            News::Streams(players.into_iter().map(streams).collect())
        }),
        player_id().prop_map(News::Account),
        (player_id(), notice()).prop_map(|(player, notice)| News::Notice(player, notice)),
        player_id().prop_map(News::LoggedOut),
        Just(News::Bans),
        Just(News::ShardsGiven),
        vec(assignment(), 0..3).prop_map(News::ShardsServed),
        any::<(i64, Option<i64>)>().prop_map(|(sent, received)| News::Heartbeat { sent, received }),
    ]
}

/// The errors without a value.
fn plain_errors() -> Vec<RoomError> {
    vec![
        RoomError::PlayerNotFound,
        RoomError::UnknownAi,
        RoomError::TournamentNotFound,
        RoomError::Tournament(tournament::Rejection::TooManyRounds(7)),
        RoomError::QuotaRooms("the server has as many as it can"),
        RoomError::QuotaSeats,
        RoomError::QuotaStreams,
        RoomError::QuotaAnalyses,
        RoomError::QuotaNames,
        RoomError::RequestIdReused,
        RoomError::TokenReplaced,
        RoomError::Draining,
        RoomError::StoreUnavailable,
        RoomError::Damaged,
        RoomError::Moved,
        RoomError::Unreachable,
        RoomError::Busy,
    ]
}

fn error() -> impl Strategy<Value = RoomError> {
    prop_oneof![
        proptest::sample::select(plain_errors()),
        any::<u64>().prop_map(|legal| RoomError::Rejected(Rejection::IllegalMove(Bitboard(legal)))),
        room_id().prop_map(RoomError::QuotaSeatsPlaying),
        wait().prop_map(RoomError::TooFast),
        wait().prop_map(RoomError::WrongGuesses),
    ]
}

fn assignment() -> impl Strategy<Value = Assignment> {
    (0..Shard::COUNT, any::<i64>(), any::<u64>()).prop_map(|(shard, node, version)| Assignment {
        shard: Shard::new(shard).unwrap(),
        node: NodeId(node),
        version,
    })
}

fn creation() -> impl Strategy<Value = Creation> {
    (room_id(), any::<u64>(), profile()).prop_map(|(id, code, owner)| Creation {
        id,
        code: JoinCode::from_random(code),
        seats: ByColor::new(Occupant::Player(owner.clone()), Occupant::Open),
        owner,
        settings: Settings::named(RoomName::parse("Tea").unwrap()),
        policy: Policy { grace: Duration::from_secs(60), idle_close: Duration::from_secs(600), members: 100 },
        meeting: None,
        request: code.is_multiple_of(2).then_some(Request { key: code, digest: code / 2 }),
    })
}

fn room() -> impl Strategy<Value = Room> {
    creation().prop_map(|creation| Room::new(creation, Timestamp(5)))
}

fn tournament_command() -> impl Strategy<Value = tournament::Command> {
    prop_oneof![
        (profile(), any::<u16>()).prop_map(|(profile, rating)| tournament::Command::Join {
            who: Participant::Player(profile),
            rating,
            password: None,
        }),
        Just(tournament::Command::Leave),
        select(&[Control::Start, Control::Pause, Control::Cancel][..]).prop_map(tournament::Command::Control),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let issuer = prop_oneof![player_id().prop_map(Issuer::Player), Just(Issuer::Admin), Just(Issuer::Server)];
    let what = prop_oneof![
        (issuer, any::<u32>()).prop_map(|(issuer, game)| Question::Command(issuer, Command::Resign { game })),
        Just(Question::Snapshot),
        (of(player_id()), tournament_command())
            .prop_map(|(player, command)| { Question::Tournament(player, Box::new(command)) }),
        (creation(), of(any::<bool>())).prop_map(|(creation, ready)| {
            let first =
                ready.map(|ready| if ready { Command::SetReady(true) } else { Command::Start(creation.request) });
            Question::Create(Box::new(creation), first)
        }),
    ];
    (room_id(), what).prop_map(|(room, what)| Ask { room, what })
}

fn reply() -> impl Strategy<Value = Reply> {
    let accepted = (0_u64..1 << 62, any::<bool>(), of(game()));
    prop_oneof![
        accepted.prop_map(|(seq, changed, game)| Reply::Accepted(Accepted { seq: Seq(seq), changed, game })),
        (room(), any::<u32>())
            .prop_map(|(room, watchers)| Reply::Snapshot(Snapshot { room: Arc::new(room), watchers })),
        error().prop_map(Reply::Refused),
        of(assignment()).prop_map(Reply::Moved),
    ]
}

fn item() -> impl Strategy<Value = FeedItem> {
    let event = |seq: u64| Event { seq: Seq(seq), at: Timestamp(7), fact: Fact::Passed };
    prop_oneof![
        room().prop_map(|room| FeedItem::Base(Arc::new(room))),
        (2_u64..1 << 62).prop_map(move |seq| FeedItem::Event(Arc::new(event(seq)))),
        error().prop_map(|error| FeedItem::Ended(FeedEnd::Refused(error))),
        of(assignment()).prop_map(|known| FeedItem::Ended(FeedEnd::Moved(known))),
        Just(FeedItem::Ended(FeedEnd::RolledBack)),
    ]
}

fn row() -> impl Strategy<Value = Row> {
    let room = (room_id(), any::<i64>().prop_map(Timestamp), "[a-zA-Z][a-z0-9]{1,12}", of("[a-zA-Z][a-z0-9]{1,12}"));
    let seats = (seat(), seat(), any::<bool>(), any::<bool>());
    let game = (any::<bool>(), any::<u16>(), of(position()), of(square()), any::<bool>(), of(meeting()), of(clocks()));
    let time = (of(wait()), of(wait()), wait());
    (room, seats, game, time, any::<bool>(), any::<bool>(), any::<u32>(), any::<bool>()).prop_map(
        |(room, seats, game, time, has_password, members, watchers, rated)| Row {
            id: room.0,
            name: RoomName::parse(&room.2).unwrap(),
            owner: room.3.map(|owner| DisplayName::parse(&owner).unwrap()),
            phase: if game.0 { Phase::Playing } else { Phase::Lobby },
            seats: ByColor::new(seats.0, seats.1),
            present: ByColor::new(seats.2, seats.3),
            has_password,
            watching: if members { Watching::Members } else { Watching::Everyone },
            watchers,
            ply: game.1,
            board: game.2.map(|position| position.board()),
            last_move: game.3,
            created: room.1,
            time: TimeControl { per_move: time.0, total: time.1, increment: time.2 },
            rated,
            opponents: Opponents { people: true, bots: seats.2, min_rating: None, max_rating: rated.then_some(game.1) },
            finished: game.4,
            meeting: game.5,
            clocks: game.6,
        },
    )
}

fn row_key() -> impl Strategy<Value = RowKey> {
    (any::<i64>(), room_id()).prop_map(|(created, room)| (Reverse(Timestamp(created)), room))
}

fn update() -> impl Strategy<Value = LobbyUpdate> {
    prop_oneof![
        (of(row_key()), vec(row(), 0..4), of(row_key())).prop_map(|(after, rows, end)| LobbyUpdate::Page {
            after,
            rows,
            end
        }),
        (vec(row(), 0..4), vec(row_key(), 0..4), vec(row_key(), 0..4))
            .prop_map(|(upserted, removed, moved)| LobbyUpdate::Changed { upserted, removed, moved }),
    ]
}

/// The message as the other node gets it.
fn sent<M: Message + Default>(message: &M) -> M {
    M::decode(&*message.encode_to_vec()).unwrap()
}

/// Not all of these have `Eq`.
#[track_caller]
fn same(read: impl Debug, written: impl Debug) {
    assert_eq!(format!("{read:?}"), format!("{written:?}"));
}

#[test]
fn every_error_is_read_as_written() {
    for error in plain_errors() {
        assert_eq!(sent(&cluster::RoomError::from(error.clone())).read(), Ok(error));
    }
}

#[test]
fn rows_that_cannot_be_read_are_passed_over() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let [first, bad, last] = [(); 3].map(|()| row().new_tree(&mut runner).unwrap().current());
    let (rows, rest) = (vec![first.clone(), bad.clone(), last.clone()], vec![first, last]);
    let mut page =
        cluster::ListResponse::from(LobbyUpdate::Page { after: Some(bad.key()), rows: rows.clone(), end: None });
    let Some(cluster::list_response::Update::Page(sent)) = &mut page.update else { panic!() };
    sent.rows[1].black = None;
    let expected = LobbyUpdate::Page { after: Some(bad.key()), rows: rest.clone(), end: None };
    assert_eq!(page.read(), Ok((expected, Some(StoredError::Malformed("seat")))));
    let update = LobbyUpdate::Changed { upserted: rows, removed: Vec::new(), moved: Vec::new() };
    let mut changes = cluster::ListResponse::from(update);
    let Some(cluster::list_response::Update::Changed(sent)) = &mut changes.update else { panic!() };
    sent.upserted[1].black = None;
    let expected = LobbyUpdate::Changed { upserted: rest, removed: Vec::new(), moved: vec![bad.key()] };
    assert_eq!(changes.read(), Ok((expected, Some(StoredError::Malformed("seat")))));
}

proptest! {
    #[test]
    fn asks_are_read_as_written(ask in ask()) {
        same(sent(&cluster::Ask::new(ask.clone())).read().unwrap(), ask);
    }

    #[test]
    fn news_are_read_as_written(news in news()) {
        same(read_news(sent(&cluster::ExchangeRequest::from(news.clone())).kind.unwrap()).unwrap(), news);
    }

    #[test]
    fn replies_are_read_as_written(reply in reply()) {
        let response = cluster::ExchangeResponse { id: 1, reply: Some(Replied::from(reply.clone())) };
        same(sent(&response).read().unwrap(), reply);
    }

    #[test]
    fn items_of_feeds_are_read_as_written(item in item()) {
        let response = cluster::FollowResponse { feed: 1, item: Some(Item::from(item.clone())) };
        same(sent(&response).item.unwrap().read().unwrap(), item);
    }

    #[test]
    fn lists_are_read_as_written(update in update()) {
        prop_assert_eq!(sent(&cluster::ListResponse::from(update.clone())).read(), Ok((update, None)));
    }

    #[test]
    fn damaged_messages_are_read_without_panic(
        news in news(), ask in ask(), reply in reply(), update in update(), at: prop::sample::Index, with: u8,
    ) {
        let response = cluster::ExchangeResponse { id: 1, reply: Some(reply.into()) };
        let news = cluster::ExchangeRequest::from(news).encode_to_vec();
        let update = cluster::ListResponse::from(update).encode_to_vec();
        for mut bytes in [news, cluster::Ask::new(ask).encode_to_vec(), response.encode_to_vec(), update] {
            let at = at.index(bytes.len());
            bytes[at] ^= with;
            read_any(&bytes);
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
        read_any(&bytes);
    }
}

fn read_any(bytes: &[u8]) {
    let _ = cluster::Ask::decode(bytes).map(cluster::Ask::read);
    let _ = cluster::ExchangeRequest::decode(bytes).map(|request| request.kind.map(read_news));
    let _ = cluster::ExchangeResponse::decode(bytes).map(cluster::ExchangeResponse::read);
    let _ = cluster::ListResponse::decode(bytes).map(cluster::ListResponse::read);
    let _ = cluster::Followed::decode(bytes).map(cluster::Followed::read);
    let _ = cluster::FollowResponse::decode(bytes).map(|response| response.item.map(Item::read));
}
