//! Rooms and their parts.

use super::{WireEnum as _, game, game::add_thoughts, player, room_settings, seat_number, seats, timestamp};
use crate::{
    match_statistics::{Difference, Score, Sprt, Verdict},
    proto::v1,
    room::{ChatLine, MeetingRef, Member, Phase, Room, Series, Timestamp, View},
};

/// A room at a given time as its viewer may see it, with the number of its watchers.
#[must_use]
pub fn room(view: View<'_>, now: Timestamp, watchers: u32) -> v1::Room {
    let room = view.room;
    let is_owner = |member: &&Member| room.owner().is_some_and(|owner| owner.id == member.profile.id);
    v1::Room {
        room_id: room.id().to_string(),
        seq: room.seq().0,
        phase: room.phase().wire().into(),
        settings: Some(room_settings(room.settings())),
        has_password: room.settings().password.is_some(),
        owner_id: owner_id(room),
        co_owner_ids: co_owner_ids(room),
        members: room.members().iter().filter(|member| view.shows_play() || is_owner(member)).map(member).collect(),
        seats: seats(room),
        game: last_game(room, now).filter(|_| view.shows_play()).map(|game| match view.shows_thoughts() {
            true => with_thoughts(game, room),
            false => game,
        }),
        series: room.series().map(series),
        chat: room.chat().filter(|_| view.shows_play()).map(chat_line).collect(),
        join_code: view.code().map(|code| code.to_string()).unwrap_or_default(),
        created_at: Some(timestamp(room.created())),
        watchers: i32::try_from(watchers).unwrap_or(i32::MAX),
        rematch_offered_by: room.rematch_offer().map(seat_number),
        score: score(room),
        meeting: room.meeting().map(room_meeting),
    }
}

/// The meeting of a tournament to which a room or a game belongs.
#[must_use]
pub fn room_meeting(MeetingRef { tournament, number, round }: MeetingRef) -> v1::RoomMeeting {
    let count = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    v1::RoomMeeting { tournament_id: tournament.to_string(), number: count(number), round: count(round) }
}

/// Empty once the room is closed, and if there is none.
pub(super) fn owner_id(room: &Room) -> String {
    let owner = room.owner().filter(|_| room.phase() != Phase::Closed);
    owner.map(|owner| owner.id.to_string()).unwrap_or_default()
}

/// The ids of the co-owners.
pub(super) fn co_owner_ids(room: &Room) -> Vec<String> {
    room.co_owners().map(|player| player.to_string()).collect()
}

/// The running game, or else the last one.
pub(super) fn last_game(room: &Room, now: Timestamp) -> Option<v1::Game> {
    room.game().map(|last| game(room.id(), last, &room.settings().time, now))
}

fn with_thoughts(mut game: v1::Game, room: &Room) -> v1::Game {
    add_thoughts(&mut game.plies, room.game().map_or(&[], |game| &game.thoughts));
    game
}

/// A member, for the wire.
#[must_use]
pub fn member(member: &Member) -> v1::Member {
    v1::Member {
        player: Some(player(&member.profile)),
        present: member.absent_since.is_none(),
        joined_at: Some(timestamp(member.joined)),
    }
}

/// A series, for the wire, where games are numbered from 1.
#[must_use]
pub fn series(series: Series) -> v1::Series {
    v1::Series {
        game: i32::from(series.index) + 1,
        games: series.games.into(),
        next_game_at: series.next_at.map(timestamp),
    }
}

/// The score of a series in pairs, with Elo difference and test.
#[must_use]
pub fn score(room: &Room) -> Option<v1::SeriesScore> {
    let series = room.score()?;
    let Score { wins, draws, losses, pairs, .. } = series.score;
    let count = |games: u32| i32::try_from(games).unwrap_or(i32::MAX);
    Some(v1::SeriesScore {
        seat: seat_number(series.first),
        wins: count(wins),
        draws: count(draws),
        losses: count(losses),
        pairs: pairs.map(count).to_vec(),
        elo: Difference::of(&series.score).map(|Difference { elo, low, high }| v1::EloDifference { elo, low, high }),
        sprt: room.settings().sprt.map(|sprt| sprt_state(&sprt, &series.score)),
    })
}

pub(crate) fn sprt_state(sprt: &Sprt, score: &Score) -> v1::SprtState {
    let (lower_bound, upper_bound) = sprt.bounds();
    let verdict = match sprt.verdict(score) {
        None => v1::SprtVerdict::Unspecified,
        Some(Verdict::Lower) => v1::SprtVerdict::Elo0,
        Some(Verdict::Upper) => v1::SprtVerdict::Elo1,
    };
    v1::SprtState { llr: sprt.llr(score), lower_bound, upper_bound, verdict: verdict.into() }
}

/// A line of chat, for the wire.
#[must_use]
pub fn chat_line(line: &ChatLine) -> v1::ChatLine {
    v1::ChatLine { player: Some(player(&line.from)), text: line.text.to_string(), at: Some(timestamp(line.at)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        proto::convert::fixture,
        room::{ChatText, Command, Issuer, Opening, PasswordHash, Settings, Viewer},
    };

    #[test]
    fn only_members_see_the_join_code_and_no_viewer_the_password() {
        let locked = Settings { password: Some(PasswordHash([7; 32].into())), ..fixture::settings() };
        let there = fixture::lobby(locked);
        let owner = fixture::owner().id;
        let stranger = fixture::profile(9, "Eve").id;
        for (viewer, sees) in
            [(Viewer::Player(owner), true), (Viewer::Player(stranger), false), (Viewer::Public, false)]
        {
            let wire = room(there.view(viewer), fixture::NOW, 3);
            assert_eq!(wire.join_code == there.code().to_string(), sees);
            assert_eq!(wire.join_code.is_empty(), !sees);
            assert!(wire.has_password);
            assert_eq!((wire.seq, wire.watchers, wire.owner_id), (1, 3, owner.to_string()));
        }
    }

    #[test]
    fn a_playing_room_has_its_game_series_and_chat() {
        let settings = Settings { games: 4, opening: Opening::Random { plies: 6, seed: 1 }, ..fixture::settings() };
        let mut there = fixture::playing(settings);
        let chat = Command::Chat(ChatText::parse("hello").unwrap());
        fixture::run(&mut there, fixture::NOW, Issuer::Player(fixture::owner().id), chat);
        let wire = room(there.view(Viewer::Public), fixture::NOW, u32::MAX);
        assert_eq!(wire.phase(), v1::RoomPhase::Playing);
        assert_eq!(wire.series, Some(v1::Series { game: 1, games: 4, next_game_at: None }));
        assert_eq!(wire.chat.first().map(|line| line.text.as_str()), Some("hello"));
        let game = wire.game.unwrap();
        assert!(game.ply >= 6 && game.plies.iter().all(|ply| ply.opening));
        assert_eq!(game.game_id, format!("{}-1", wire.room_id));
        assert_eq!(wire.watchers, i32::MAX);
    }

    #[test]
    fn a_closed_room_has_no_owner() {
        let mut there = fixture::lobby(fixture::settings());
        fixture::run(&mut there, fixture::NOW, Issuer::Player(fixture::owner().id), Command::Close);
        let wire = room(there.view(Viewer::Public), fixture::NOW, 0);
        assert_eq!((wire.phase(), wire.owner_id.as_str()), (v1::RoomPhase::Closed, ""));
    }
}
