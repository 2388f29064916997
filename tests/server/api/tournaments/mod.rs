//! Tournaments over the API: the organiser, entrants who only answer their turns, and everybody who watches.

mod limits;
mod lists;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use reversi::{
    proto::v1::{
        self, TournamentPhase as Phase, play_event::Event, player_tournament::News, set_entrant_request::Change,
        tournament_service_client::TournamentServiceClient, tournament_settings::Format,
        watch_tournament_response::Message,
    },
    room::{Opponents, TimeControl},
    runtime::Pool,
    store::{MemoryStore, Store},
};
use tokio::task::JoinSet;
use tonic::Code;

use crate::harness::in_process::{
    Answer, AuthorizedChannel, Player, ServerOptions, TestServer, field, refused, within,
};

/// Both kinds may join; games of a second a side.
fn settings(format: Format) -> v1::TournamentSettings {
    let kinds = vec![v1::PlayerKind::Human.into(), v1::PlayerKind::Bot.into()];
    v1::TournamentSettings {
        name: "Weekend".into(),
        format: Some(format),
        admits: Some(v1::Opponents { kinds, ..Default::default() }),
        ..Default::default()
    }
}

fn swiss(rounds: i32) -> v1::TournamentSettings {
    settings(Format::Swiss(v1::Swiss { rounds }))
}

fn games(games: i32) -> Option<v1::RoomSettings> {
    Some(v1::RoomSettings { games, ..Default::default() })
}

fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

fn ai(kind: &str) -> Change {
    Change::Enter(v1::AiSeat { kind: kind.into(), level: 1, seed: 0 })
}

impl Player {
    fn tournaments(&self) -> TournamentServiceClient<AuthorizedChannel> {
        TournamentServiceClient::new(self.channel.clone())
    }

    async fn organise(&self, settings: v1::TournamentSettings) -> Answer<v1::Tournament> {
        let request = v1::CreateTournamentRequest { settings: Some(settings), password: String::new() };
        Ok(self.tournaments().create_tournament(request).await?.into_inner().tournament.unwrap())
    }

    async fn enter(&self, id: &str) -> Answer<v1::Tournament> {
        let request = v1::JoinTournamentRequest { tournament_id: id.into(), ..Default::default() };
        Ok(self.tournaments().join_tournament(request).await?.into_inner().tournament.unwrap())
    }

    async fn set_entrant(&self, id: &str, change: Change) -> Answer<v1::Tournament> {
        let request = v1::SetEntrantRequest { tournament_id: id.into(), change: Some(change) };
        Ok(self.tournaments().set_entrant(request).await?.into_inner().tournament.unwrap())
    }

    async fn control(&self, id: &str, control: v1::TournamentControl) -> Answer<v1::Tournament> {
        let request = v1::ControlTournamentRequest { tournament_id: id.into(), control: control.into() };
        Ok(self.tournaments().control_tournament(request).await?.into_inner().tournament.unwrap())
    }

    async fn tournament(&self, id: &str) -> Answer<v1::GetTournamentResponse> {
        Ok(self.tournaments().get_tournament(v1::GetTournamentRequest { tournament_id: id.into() }).await?.into_inner())
    }

    async fn meetings(&self, id: &str) -> Vec<v1::Meeting> {
        let request = v1::ListMeetingsRequest { tournament_id: id.into(), page_size: 200, ..Default::default() };
        self.tournaments().list_meetings(request).await.unwrap().into_inner().meetings
    }

    /// The first view in the stream about a tournament that is wanted, or else the last.
    async fn watched(&self, id: &str, is_wanted: impl Fn(&v1::TournamentView) -> bool) -> v1::TournamentView {
        let request = v1::WatchTournamentRequest { tournament_id: id.into() };
        let mut stream = self.tournaments().watch_tournament(request).await.unwrap().into_inner();
        let mut last = None;
        while let Some(response) = within(stream.message()).await.unwrap() {
            if let Some(Message::View(view)) = response.message {
                if is_wanted(&view) {
                    return view;
                }
                last = Some(view);
            }
        }
        last.expect("a view")
    }

    /// The last view of a tournament that ends.
    async fn watched_to_the_end(&self, id: &str) -> v1::TournamentView {
        self.watched(id, |_| false).await
    }

    /// Answers all turns with the first legal move until the tournament is over. Returns its rank.
    async fn plays(self, id: String) -> i32 {
        self.plays_rounds(id).await.0
    }

    /// As [`Self::plays`]; also returns whether each of its rounds was one of the play-off, and its number.
    async fn plays_rounds(self, id: String) -> (i32, Vec<(bool, i32)>) {
        let (mut turns, mut rounds) = (self.turns().await, Vec::new());
        loop {
            match turns.next().await.expect("an open stream") {
                Event::TurnRequested(turn) => {
                    let square = &turn.position.unwrap().legal_moves[0];
                    drop(self.play(&turn.game_id, turn.ply, square).await);
                }
                Event::Tournament(v1::PlayerTournament { tournament_id, news: Some(News::Ended(ended)) }) => {
                    assert_eq!((tournament_id, ended.phase()), (id, Phase::Completed));
                    return (ended.rank, rounds);
                }
                Event::Tournament(v1::PlayerTournament { news: Some(News::Paired(paired)), .. }) => {
                    rounds.push((paired.playoff, paired.round));
                }
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn bots_that_only_answer_turns_play_a_swiss_tournament() {
    let server = TestServer::open().await;
    let organiser = server.human("Organiser").await;
    let made = organiser.organise(swiss(3)).await.unwrap();
    let id = made.tournament_id.clone();
    assert_eq!((made.phase(), made.entrants, made.rounds), (Phase::Open, 0, 0));
    let mut plays = JoinSet::new();
    for name in ["Ada", "Bea", "Cleo", "Dora"] {
        let bot = server.bot(name).await;
        bot.enter(&id).await.unwrap();
        plays.spawn(bot.plays(id.clone()));
    }
    let started = organiser.control(&id, v1::TournamentControl::Start).await.unwrap();
    assert_eq!((started.phase(), started.entrants, started.rounds), (Phase::Running, 4, 3));
    let view = organiser.watched_to_the_end(&id).await;
    let ended = view.tournament.unwrap();
    assert_eq!((ended.phase(), ended.round, ended.meetings, ended.finished), (Phase::Completed, 3, 6, 6));
    let mut ranks = plays.join_all().await;
    ranks.sort_unstable();
    assert_eq!(ranks, [1, 2, 3, 4]);

    let meetings = organiser.meetings(&id).await;
    let pairs: BTreeSet<_> =
        meetings.iter().map(|one| (one.first.min(one.second), one.first.max(one.second))).collect();
    assert_eq!(pairs.len(), 6, "no pair meets twice");
    for meeting in &meetings {
        assert_eq!(meeting.state(), v1::MeetingState::Played, "{meeting:?}");
        assert_eq!((meeting.first_half_points + meeting.second_half_points, meeting.decision.is_none()), (4, true));
        assert_eq!(meeting.first_discs + meeting.second_discs, 128);
        let games = |number: i32| v1::GetGameRequest { game_id: format!("{}-{number}", meeting.room_id) };
        let [one, two] = [1, 2].map(|number| (organiser.records(), games(number)));
        let mut openings = Vec::new();
        for (mut records, request) in [one, two] {
            let game = records.get_game(request).await.unwrap().into_inner().game.unwrap();
            openings.push(game.opening);
        }
        assert!(!openings[0].is_empty() && openings[0] == openings[1], "both games begin alike: {openings:?}");
    }
    let standings = organiser.tournament(&id).await.unwrap().standings;
    assert_eq!(standings, view.standings);
    assert_eq!(standings.iter().map(|row| row.half_points).sum::<i32>(), 24);
    assert!(standings.windows(2).all(|pair| pair[0].half_points >= pair[1].half_points));
    assert!(standings.iter().all(|row| row.meetings == 3 && row.elo.is_some()));
}

#[tokio::test]
async fn ais_play_each_other_and_the_rooms_are_for_everybody_to_watch() {
    let server = TestServer::open().await;
    let organiser = server.human("Organiser").await;
    let all = Format::AllPlayAll(v1::AllPlayAll { cycles: 1, challenger_ids: Vec::new() });
    let single = v1::TournamentSettings { game: games(1), ..settings(all) };
    let id = organiser.organise(single).await.unwrap().tournament_id;
    for kind in ["random", "greedy", "roxanne"] {
        organiser.set_entrant(&id, ai(kind)).await.unwrap();
    }
    organiser.control(&id, v1::TournamentControl::Start).await.unwrap();
    let visitor = server.human("Visitor").await;
    let view = visitor.watched_to_the_end(&id).await;
    assert_eq!(view.tournament.unwrap().phase(), Phase::Completed);
    assert_eq!(view.standings.len(), 3);
    let meetings = visitor.meetings(&id).await;
    assert_eq!(meetings.len(), 3);
    assert!(meetings.iter().all(|one| one.first_half_points + one.second_half_points == 2), "one game each");
    let room = visitor.room(&meetings[0].room_id).await;
    assert_eq!((room.settings.unwrap().name.as_str(), room.owner_id.as_str()), ("Weekend", ""));
    assert_eq!(room.meeting, Some(v1::RoomMeeting { tournament_id: id.clone(), number: 1, round: 1 }));
    let listed = visitor.tournaments().list_tournaments(v1::ListTournamentsRequest::default()).await.unwrap();
    let listed = listed.into_inner().tournaments;
    assert_eq!((listed.len(), listed[0].tournament_id.as_str(), listed[0].phase()), (1, id.as_str(), Phase::Completed));
}

#[tokio::test]
async fn the_boards_of_a_round_come_in_one_stream_with_their_clocks() {
    let server = TestServer::open().await;
    let organiser = server.human("Organiser").await;
    let (ada, bea) = (server.bot("Ada").await, server.bot("Bea").await);
    let _turns = (ada.turns().await, bea.turns().await);
    let timed = v1::RoomSettings { total_time: seconds(60), increment: seconds(1), ..Default::default() };
    let id = organiser.organise(v1::TournamentSettings { game: Some(timed), ..swiss(1) }).await.unwrap().tournament_id;
    for player in [&ada, &bea] {
        player.enter(&id).await.unwrap();
    }
    let other = server.human("Other").await;
    other.create(v1::RoomSettings::default()).await;
    let filter = v1::RoomFilter { tournament_id: id.clone(), ..Default::default() };
    let request = v1::WatchRoomsRequest { filter: Some(filter) };
    let mut boards = other.lobby().watch_rooms(request).await.unwrap().into_inner();
    organiser.control(&id, v1::TournamentControl::Start).await.unwrap();
    let row = loop {
        let rows = match within(boards.message()).await.unwrap().unwrap().message.unwrap() {
            v1::watch_rooms_response::Message::Snapshot(list) => list.rooms,
            v1::watch_rooms_response::Message::Upserted(row) => vec![row],
            _ => Vec::new(),
        };
        let is_of_round = |row: &v1::RoomSummary| row.meeting.as_ref().is_some_and(|one| one.tournament_id == id);
        assert!(rows.iter().all(is_of_round), "another room: {rows:?}");
        if let Some(row) = rows.into_iter().find(|row| row.clocks.is_some()) {
            break row;
        }
    };
    assert_eq!((row.side_to_move(), row.ply), (v1::Side::Black, 8), "after the balanced opening");
    let clocks = row.clocks.unwrap();
    assert_eq!((clocks.black_total, clocks.white_total, clocks.time_left), (seconds(60), seconds(60), seconds(60)));
    let unreadable = v1::RoomFilter { tournament_id: "?".into(), ..Default::default() };
    let request = v1::ListRoomsRequest { filter: Some(unreadable), ..Default::default() };
    let details = refused(other.lobby().list_rooms(request).await, Code::InvalidArgument, "BAD_ID");
    assert_eq!(field(&details), "filter.tournament_id");
}

/// What a player gets of a tournament by each call that shows one.
async fn seen_by(player: &Player, id: &str) -> Vec<String> {
    let listed = player.tournaments().list_tournaments(v1::ListTournamentsRequest::default()).await.unwrap();
    let filter = v1::RoomFilter { tournament_id: id.into(), ..Default::default() };
    let request = v1::ListRoomsRequest { filter: Some(filter), ..Default::default() };
    let rooms = player.lobby().list_rooms(request).await.unwrap().into_inner().rooms;
    let filter = v1::GameFilter { tournament_id: id.into(), ..Default::default() };
    let request = v1::ListGamesRequest { filter: Some(filter), ..Default::default() };
    let games = player.records().list_games(request).await.unwrap().into_inner().games;
    let mut seen = vec![
        format!("{:?}", player.watched(id, |_| true).await),
        format!("{:?}", player.tournament(id).await.unwrap()),
        format!("{:?}", player.meetings(id).await),
        format!("{:?}", listed.into_inner().tournaments),
        format!("{rooms:?} {games:?}"),
    ];
    for format in [v1::TournamentFormat::Json, v1::TournamentFormat::Ggf, v1::TournamentFormat::Trf] {
        seen.extend(exported(player, id, format).await);
    }
    seen
}

#[tokio::test]
async fn with_a_delay_only_the_organiser_sees_results_at_once() {
    let server = TestServer::open().await;
    let organiser = server.human("Organiser").await;
    let delayed = v1::RoomSettings { spectator_delay: seconds(900), ..Default::default() };
    let id =
        organiser.organise(v1::TournamentSettings { game: Some(delayed), ..swiss(1) }).await.unwrap().tournament_id;
    for kind in ["random", "greedy", "roxanne"] {
        organiser.set_entrant(&id, ai(kind)).await.unwrap();
    }
    // She is there, and makes no moves.
    let ada = server.bot("Ada").await;
    let _turns = ada.turns().await;
    ada.enter(&id).await.unwrap();
    organiser.control(&id, v1::TournamentControl::Start).await.unwrap();
    let visitor = server.human("Visitor").await;
    let (at_start, joined) = (seen_by(&visitor, &id).await, ada.enter(&id).await.unwrap());
    assert_eq!((joined.phase(), joined.meetings, joined.finished), (Phase::Running, 0, 0));
    assert_eq!(at_start[4], "[] []", "no rooms and no games");

    let request = v1::WatchTournamentRequest { tournament_id: id.clone() };
    let mut stream = visitor.tournaments().watch_tournament(request).await.unwrap().into_inner();
    let mut next_view = async || loop {
        if let Some(Message::View(view)) = within(stream.message()).await.unwrap().unwrap().message {
            break view;
        }
    };
    assert_eq!(format!("{:?}", next_view().await), at_start[0]);

    let one_is_finished = |view: &v1::TournamentView| view.tournament.as_ref().unwrap().finished == 1;
    let view = organiser.watched(&id, one_is_finished).await;
    assert_eq!(view.standings.iter().map(|row| row.half_points).sum::<i32>(), 4);
    assert_ne!(seen_by(&organiser, &id).await, at_start);
    assert_eq!((seen_by(&visitor, &id).await, ada.enter(&id).await.unwrap()), (at_start.clone(), joined));

    // Nothing comes when something hidden happens; a pause is not hidden.
    organiser.control(&id, v1::TournamentControl::Pause).await.unwrap();
    assert_eq!(next_view().await.tournament.unwrap().phase(), Phase::Paused);
    organiser.control(&id, v1::TournamentControl::Resume).await.unwrap();
    assert_eq!(format!("{:?}", next_view().await), at_start[0]);

    organiser.control(&id, v1::TournamentControl::End).await.unwrap();
    assert_eq!(organiser.watched_to_the_end(&id).await.tournament.unwrap().phase(), Phase::Stopped);
    assert_eq!(seen_by(&visitor, &id).await, at_start);
    refused(visitor.control(&id, v1::TournamentControl::Pause).await, Code::PermissionDenied, "NOT_OWNER");
}

/// The lines of an export.
async fn exported(player: &Player, id: &str, format: v1::TournamentFormat) -> Vec<String> {
    let request = v1::ExportTournamentRequest { tournament_id: id.into(), format: format.into() };
    let mut stream = player.tournaments().export_tournament(request).await.unwrap().into_inner();
    let mut lines = Vec::new();
    while let Some(response) = within(stream.message()).await.unwrap() {
        lines.push(response.line);
    }
    lines
}

#[tokio::test]
async fn a_tournament_is_exported_and_its_games_are_found_by_it() {
    let server = TestServer::open().await;
    let organiser = server.human("Organiser").await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let id = organiser.organise(swiss(1)).await.unwrap().tournament_id;
        for kind in ["random", "greedy"] {
            organiser.set_entrant(&id, ai(kind)).await.unwrap();
        }
        organiser.control(&id, v1::TournamentControl::Start).await.unwrap();
        organiser.watched_to_the_end(&id).await;
        ids.push(id);
    }
    let visitor = server.human("Visitor").await;
    for id in &ids {
        let filter = v1::GameFilter { tournament_id: id.clone(), ..Default::default() };
        let request = v1::ListGamesRequest { filter: Some(filter), ..Default::default() };
        let games = visitor.records().list_games(request).await.unwrap().into_inner().games;
        assert_eq!(games.len(), 2);
        let meeting = Some(v1::RoomMeeting { tournament_id: id.clone(), number: 1, round: 1 });
        assert!(games.iter().all(|game| game.meeting == meeting), "{games:?}");

        let lines = exported(&visitor, id, v1::TournamentFormat::Json).await;
        let objects = lines.iter().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let first = objects.clone().next().unwrap();
        assert_eq!(first["tournament"]["settings"]["game"]["opening"], serde_json::json!({ "balanced": {} }));
        let names: Vec<_> = objects.clone().map(|object| object.as_object().unwrap().keys().next().cloned()).collect();
        assert_eq!(
            names.iter().flatten().collect::<Vec<_>>(),
            ["tournament", "standing", "standing", "meeting", "game", "game"]
        );
        let numbers: Vec<_> = objects.map(|object| object["game"]["meeting"]["number"].clone()).collect();
        assert_eq!(numbers[4..], [1, 1]);
        let ggf = exported(&visitor, id, v1::TournamentFormat::Ggf).await;
        assert!(ggf.len() == 2 && ggf.iter().all(|line| line.contains(&format!("EV[{id}]RO[1]"))), "{ggf:?}");
        let trf = exported(&visitor, id, v1::TournamentFormat::Trf).await;
        assert_eq!(trf.iter().filter(|line| line.starts_with("001 ")).count(), 2, "{trf:?}");
    }
    let unknown = v1::GameFilter { tournament_id: "7zzzzzzzzzzz".into(), ..Default::default() };
    let request = v1::ListGamesRequest { filter: Some(unknown), ..Default::default() };
    refused(visitor.records().list_games(request).await, Code::NotFound, "TOURNAMENT_NOT_FOUND");
    let arena = Format::Arena(v1::Arena { duration: Some(prost_types::Duration { seconds: 60, nanos: 0 }) });
    let id = organiser.organise(settings(arena)).await.unwrap().tournament_id;
    let request = v1::ExportTournamentRequest { tournament_id: id, format: v1::TournamentFormat::Trf.into() };
    refused(visitor.tournaments().export_tournament(request).await, Code::FailedPrecondition, "WRONG_PHASE");
}

#[tokio::test]
async fn what_is_wrong_or_not_permitted_is_refused_with_its_reason() {
    let server = TestServer::open().await;
    let (organiser, other) = (server.human("Organiser").await, server.bot("Other").await);
    let far = prost_types::Timestamp { seconds: 253_000_000_000, nanos: 0 };
    for (change, path) in [
        (v1::TournamentSettings { name: String::new(), ..swiss(3) }, "settings.name"),
        (v1::TournamentSettings { format: None, ..swiss(3) }, "settings.format"),
        (v1::TournamentSettings { admits: None, ..swiss(3) }, "settings.admits.kinds"),
        (v1::TournamentSettings { playoff: 3, ..swiss(3) }, "settings.playoff"),
        (v1::TournamentSettings { starts_at: Some(far), ..swiss(3) }, "settings.starts_at"),
        (v1::TournamentSettings { max_entrants: -1, ..swiss(3) }, "settings.max_entrants"),
        (swiss(100), "settings.swiss.rounds"),
        (v1::TournamentSettings { game: games(2_000), ..swiss(3) }, "settings.game.games"),
        (settings(Format::Arena(v1::Arena { duration: None })), "settings.arena.duration"),
    ] {
        let details = refused(organiser.organise(change).await, Code::InvalidArgument, "BAD_SETTINGS");
        assert_eq!(field(&details), path);
    }
    refused(other.enter("7zzzzzzzzzzz").await, Code::NotFound, "TOURNAMENT_NOT_FOUND");
    refused(other.enter("?").await, Code::InvalidArgument, "BAD_ID");
    let people = v1::Opponents { kinds: vec![v1::PlayerKind::Human.into()], ..Default::default() };
    let id =
        organiser.organise(v1::TournamentSettings { admits: Some(people), ..swiss(3) }).await.unwrap().tournament_id;
    refused(other.enter(&id).await, Code::FailedPrecondition, "NOT_ACCEPTED");
    refused(other.control(&id, v1::TournamentControl::Start).await, Code::PermissionDenied, "NOT_OWNER");
    refused(other.set_entrant(&id, ai("random")).await, Code::PermissionDenied, "NOT_OWNER");
    refused(organiser.control(&id, v1::TournamentControl::Start).await, Code::FailedPrecondition, "WRONG_PHASE");
    refused(organiser.control(&id, v1::TournamentControl::Pause).await, Code::FailedPrecondition, "WRONG_PHASE");
    refused(organiser.set_entrant(&id, Change::Exclude(7)).await, Code::NotFound, "ENTRANT_NOT_FOUND");
    let leave = v1::LeaveTournamentRequest { tournament_id: id.clone() };
    refused(other.tournaments().leave_tournament(leave).await, Code::NotFound, "ENTRANT_NOT_FOUND");
    let decide = |number| v1::DecideMeetingRequest {
        tournament_id: id.clone(),
        number,
        verdict: v1::MeetingVerdict::First.into(),
        why: "It was agreed.".into(),
    };
    refused(organiser.tournaments().decide_meeting(decide(1)).await, Code::NotFound, "MEETING_NOT_FOUND");
    organiser.control(&id, v1::TournamentControl::Cancel).await.unwrap();
    refused(organiser.enter(&id).await, Code::FailedPrecondition, "WRONG_PHASE");
    for _ in 0..4 {
        organiser.organise(swiss(3)).await.unwrap();
    }
    refused(organiser.organise(swiss(3)).await, Code::ResourceExhausted, "QUOTA_TOURNAMENTS");
}

#[tokio::test]
async fn the_organiser_decides_a_meeting_in_the_open_and_its_room_ends() {
    let server = TestServer::open().await;
    let organiser = server.human("Organiser").await;
    let id = organiser.organise(swiss(1)).await.unwrap().tournament_id;
    let (ada, bea) = (server.bot("Ada").await, server.bot("Bea").await);
    let (mut adas, mut beas) = (ada.turns().await, bea.turns().await);
    ada.enter(&id).await.unwrap();
    bea.enter(&id).await.unwrap();
    organiser.control(&id, v1::TournamentControl::Start).await.unwrap();
    let started = |event| if let Event::GameStarted(started) = event { Some(started) } else { None };
    let room = adas.until(started).await.room_id;
    refused(ada.close(&room).await, Code::PermissionDenied, "NOT_OWNER");
    let decide = v1::DecideMeetingRequest {
        tournament_id: id.clone(),
        number: 1,
        verdict: v1::MeetingVerdict::Second.into(),
        why: "The first had help.".into(),
    };
    let decided = organiser.tournaments().decide_meeting(decide).await.unwrap().into_inner().meeting.unwrap();
    let decision = v1::MeetingDecision { player_id: organiser.id.clone(), why: "The first had help.".into() };
    assert_eq!((decided.decision, decided.second_half_points), (Some(decision), 4));
    let told = |event| match event {
        Event::Tournament(v1::PlayerTournament { news: Some(News::Decided(decided)), .. }) => Some(decided),
        _ => None,
    };
    for (events, entrant) in [(&mut adas, 1), (&mut beas, 2)] {
        let won = Some(decided.second == entrant);
        let why = "The first had help.".into();
        assert_eq!(events.until(told).await, v1::TournamentDecided { meeting: 1, won, why });
    }
    let closed = |event| if let Event::RoomClosed(closed) = event { Some(closed.room_id) } else { None };
    assert_eq!(adas.until(closed).await, room);
    assert_eq!(organiser.watched_to_the_end(&id).await.tournament.unwrap().phase(), Phase::Completed);
}

/// The only way out of a rated game that costs nothing would be a decision of the organiser.
#[tokio::test]
async fn a_rated_game_is_lost_by_who_leaves_the_tournament_and_goes_on_after_a_decision() {
    let server = TestServer::open().await;
    let organiser = server.human("Organiser").await;
    for leaves in [true, false] {
        let rated = Some(v1::RoomSettings { rated: true, ..Default::default() });
        let id = organiser.organise(v1::TournamentSettings { game: rated, ..swiss(1) }).await.unwrap().tournament_id;
        let names = [format!("Ada {leaves}"), format!("Bea {leaves}")];
        let (ada, bea) = (server.bot(&names[0]).await, server.bot(&names[1]).await);
        let (mut adas, mut beas) = (ada.turns().await, bea.turns().await);
        ada.enter(&id).await.unwrap();
        bea.enter(&id).await.unwrap();
        organiser.control(&id, v1::TournamentControl::Start).await.unwrap();
        let started = |event| if let Event::GameStarted(started) = event { Some(started) } else { None };
        beas.until(started).await;
        if leaves {
            let request = v1::LeaveTournamentRequest { tournament_id: id.clone() };
            ada.tournaments().leave_tournament(request).await.unwrap();
            let ended = |event| if let Event::GameEnded(ended) = event { ended.outcome } else { None };
            assert_eq!(beas.until(ended).await.reason(), v1::GameEndReason::Left);
        } else {
            let (tournament_id, verdict) = (id.clone(), v1::MeetingVerdict::Void.into());
            let decide = v1::DecideMeetingRequest { tournament_id, number: 1, verdict, why: "It was agreed.".into() };
            organiser.tournaments().decide_meeting(decide).await.unwrap();
            organiser.watched_to_the_end(&id).await;
            let adas_turn = organiser.meetings(&id).await[0].first == 1;
            let (mover, turns) = if adas_turn { (&ada, &mut adas) } else { (&bea, &mut beas) };
            let turn =
                turns.until(|event| if let Event::TurnRequested(turn) = event { Some(turn) } else { None }).await;
            mover.play(&turn.game_id, turn.ply, &turn.position.unwrap().legal_moves[0]).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_tournament_with_a_password_is_joined_with_it_once() {
    let server = TestServer::open().await;
    let (organiser, other) = (server.human("Organiser").await, server.bot("Other").await);
    let request = v1::CreateTournamentRequest { settings: Some(swiss(1)), password: "sesame".into() };
    let made = organiser.tournaments().create_tournament(request).await.unwrap().into_inner().tournament.unwrap();
    assert!(made.has_password);
    let join = async |password: &str| {
        let tournament_id = made.tournament_id.clone();
        let request = v1::JoinTournamentRequest { tournament_id, password: password.into(), ..Default::default() };
        other
            .tournaments()
            .join_tournament(request)
            .await
            .map(|joined| joined.into_inner().tournament.unwrap().entrants)
    };
    for wrong in ["", "Sesame"] {
        refused(join(wrong).await, Code::PermissionDenied, "BAD_PASSWORD");
    }
    assert_eq!(join("sesame").await.unwrap(), 1);
    assert_eq!(join("").await.unwrap(), 1, "an entrant needs none to come back");
}

#[tokio::test]
async fn a_tournament_goes_on_after_a_restart_and_loses_no_meeting() {
    let store = Arc::new(MemoryStore::default());
    let options = || ServerOptions { store: Store::shared(&store), ..ServerOptions::default() };
    let mut server = TestServer::with(options()).await;
    let organiser = server.human("Organiser").await;
    let all = Format::AllPlayAll(v1::AllPlayAll { cycles: 4, challenger_ids: Vec::new() });
    let settings = v1::TournamentSettings { max_running: 2, ..settings(all) };
    let id = organiser.organise(settings).await.unwrap().tournament_id;
    for kind in ["random", "greedy", "roxanne", "mcts"] {
        organiser.set_entrant(&id, ai(kind)).await.unwrap();
    }
    organiser.control(&id, v1::TournamentControl::Start).await.unwrap();
    for restart in 1..=3 {
        let has_gone_on = |view: &v1::TournamentView| view.tournament.as_ref().unwrap().finished >= 4 * restart;
        server.human(&format!("Visitor {restart}")).await.watched(&id, has_gone_on).await;
        server.stop();
        assert!(server.stopped().await);
        server = TestServer::with(options()).await;
    }
    let visitor = server.human("Visitor").await;
    let view = visitor.watched_to_the_end(&id).await;
    let ended = view.tournament.unwrap();
    assert_eq!((ended.phase(), ended.meetings, ended.finished), (Phase::Completed, 24, 24));
    let meetings = visitor.meetings(&id).await;
    assert!(meetings.iter().all(|one| one.state() == v1::MeetingState::Played), "{meetings:?}");
    let rooms: BTreeSet<_> = meetings.iter().map(|one| &one.room_id).collect();
    assert_eq!(rooms.len(), 24, "each has its own room");
}

/// As a bot's author would leave it there: one call, and then only turns.
#[tokio::test]
async fn a_bot_in_a_pool_plays_rated_games_and_never_lacks_an_opponent() {
    let pool = Pool {
        name: "60+1".into(),
        time: TimeControl { per_move: None, total: Some(Duration::from_secs(60)), increment: Duration::from_secs(1) },
        admits: Opponents { people: false, ..Opponents::default() },
        rated: true,
    };
    let server = TestServer::with(ServerOptions { pools: vec![pool], ..ServerOptions::default() }).await;
    let bot = server.bot("Ada").await;
    let join = |clock: &str| v1::JoinTournamentRequest { pool: clock.into(), ..Default::default() };
    refused(bot.tournaments().join_tournament(join("30+1")).await, Code::NotFound, "TOURNAMENT_NOT_FOUND");
    let person = server.human("Bea").await;
    refused(person.tournaments().join_tournament(join("60+1")).await, Code::NotFound, "TOURNAMENT_NOT_FOUND");
    let mut turns = bot.turns().await;
    let joined = bot.tournaments().join_tournament(join("60+1")).await.unwrap().into_inner().tournament.unwrap();
    assert_eq!((joined.phase(), joined.settings.unwrap().name.as_str()), (Phase::Running, "Pool 60+1 bots rated"));
    let mut opponents = BTreeSet::new();
    let mut rated = 0;
    while rated < 4 {
        match turns.next().await.unwrap() {
            Event::TurnRequested(turn) => {
                let square = &turn.position.unwrap().legal_moves[0];
                drop(bot.play(&turn.game_id, turn.ply, square).await);
            }
            Event::GameStarted(started) => drop(opponents.insert(format!("{:?}", started.opponent.unwrap().occupant))),
            Event::RatingChanged(changed) => {
                rated += 1;
                assert!(changed.own.unwrap().after > 0);
            }
            _ => {}
        }
    }
    assert!(opponents.len() >= 2, "{opponents:?}");
}
