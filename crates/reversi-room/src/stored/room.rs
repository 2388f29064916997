//! Stored rooms.

use std::collections::BTreeSet;

use reversi_engine::rules::{ByColor, Color};

use super::{
    StoredError,
    codec::{Numbered, number_or_zero, read_code, read_player, read_room, read_seq},
    game::{StoredGame, StoredScore, StoredSeries},
    required,
    seat::{StoredProfile, StoredSeat},
    settings::{StoredPolicy, StoredSettings},
};
use crate::{
    seat::Profile,
    state::{ChatLine, Member, Phase, Room},
    text::ChatText,
    timestamp::Timestamp,
};

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredRoom {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    code: u64,
    #[prost(int64, tag = "3")]
    created: i64,
    #[prost(message, optional, tag = "4")]
    policy: Option<StoredPolicy>,
    #[prost(uint64, tag = "5")]
    seq: u64,
    #[prost(uint32, tag = "6")]
    phase: u32,
    #[prost(uint64, tag = "7")]
    owner: u64,
    #[prost(message, optional, tag = "8")]
    settings: Option<StoredSettings>,
    #[prost(message, repeated, tag = "9")]
    members: Vec<StoredMember>,
    #[prost(uint64, repeated, tag = "10")]
    bans: Vec<u64>,
    #[prost(message, optional, tag = "11")]
    black: Option<StoredSeat>,
    #[prost(message, optional, tag = "12")]
    white: Option<StoredSeat>,
    #[prost(message, optional, tag = "13")]
    game: Option<StoredGame>,
    #[prost(message, optional, tag = "14")]
    series: Option<StoredSeries>,
    #[prost(uint32, tag = "15")]
    rematch_offer: u32,
    #[prost(message, repeated, tag = "16")]
    chat: Vec<StoredChatLine>,
    #[prost(int64, tag = "17")]
    last_activity: i64,
    #[prost(message, optional, tag = "18")]
    score: Option<StoredScore>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredMember {
    #[prost(message, optional, tag = "1")]
    profile: Option<StoredProfile>,
    #[prost(int64, tag = "2")]
    joined: i64,
    #[prost(int64, optional, tag = "3")]
    absent_since: Option<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredChatLine {
    #[prost(message, optional, tag = "1")]
    from: Option<StoredProfile>,
    #[prost(string, tag = "2")]
    text: String,
    #[prost(int64, tag = "3")]
    at: i64,
}

impl From<&Room> for StoredRoom {
    fn from(room: &Room) -> Self {
        Self {
            id: room.id.bits(),
            code: room.code.bits(),
            created: room.created.0,
            policy: Some(room.policy.into()),
            seq: room.seq.0,
            phase: room.phase.number(),
            owner: room.owner.bits(),
            settings: Some((&room.settings).into()),
            members: room.members.iter().map(Into::into).collect(),
            bans: room.bans.iter().map(|player| player.bits()).collect(),
            black: Some((&room.seats.black).into()),
            white: Some((&room.seats.white).into()),
            game: room.game.as_ref().map(|game| StoredGame::of(game, &room.seats)),
            series: room.series.map(Into::into),
            rematch_offer: number_or_zero(room.rematch_offer),
            chat: room.chat.iter().map(|line| StoredChatLine::new(&line.from, &line.text, line.at)).collect(),
            last_activity: room.last_activity.0,
            score: room.score.map(Into::into),
        }
    }
}

impl StoredRoom {
    pub(super) fn read(self) -> Result<Room, StoredError> {
        let seats = ByColor::new(required(self.black, "seat")?.read()?, required(self.white, "seat")?.read()?);
        let room = Room {
            id: read_room(self.id)?,
            code: read_code(self.code)?,
            created: Timestamp(self.created),
            policy: required(self.policy, "policy")?.read()?,
            seq: read_seq(self.seq)?,
            phase: Phase::read(self.phase)?,
            owner: read_player(self.owner)?,
            settings: required(self.settings, "settings")?.read()?,
            members: self.members.into_iter().map(StoredMember::read).collect::<Result<_, _>>()?,
            bans: self.bans.into_iter().map(read_player).collect::<Result<_, _>>()?,
            game: self.game.map(|game| game.read(&seats)).transpose()?,
            seats,
            series: self.series.map(StoredSeries::read).transpose()?,
            rematch_offer: Color::read_optional(self.rematch_offer)?,
            chat: self.chat.into_iter().map(StoredChatLine::read).collect::<Result<_, _>>()?,
            last_activity: Timestamp(self.last_activity),
            score: self.score.map(StoredScore::read).transpose()?,
        };
        match contradiction(&room) {
            Some(what) => Err(StoredError::Malformed(what)),
            None => Ok(room),
        }
    }
}

/// The first part of a room that contradicts another part.
fn contradiction(room: &Room) -> Option<&'static str> {
    let members: BTreeSet<_> = room.members.iter().map(|member| member.profile.id).collect();
    // The creator is a member even if the limit is 0.
    let max_members = usize::from(room.policy.members).max(1);
    let running = room.running().is_some();
    let awaited = room.series.is_some_and(|series| series.next_at.is_some());
    let playing = match room.phase {
        Phase::Playing => running != awaited && room.seats.iter().all(|(_, seat)| seat.occupant.can_play()),
        Phase::Lobby | Phase::Closed => !running && room.series.is_none(),
    };
    // Fewer after the series was ended.
    let series = room.series.is_none_or(|series| series.games <= room.settings.games);
    let rules = [
        ("members", members.len() == room.members.len() && members.len() <= max_members),
        ("bans", room.bans.len() <= Room::MAX_BANS),
        ("chat", room.chat.len() <= Room::CHAT_LINES),
        ("phase", playing),
        ("series", series),
    ];
    rules.into_iter().find(|(_, holds)| !holds).map(|(what, _)| what)
}

impl From<&Member> for StoredMember {
    fn from(member: &Member) -> Self {
        Self {
            profile: Some((&member.profile).into()),
            joined: member.joined.0,
            absent_since: member.absent_since.map(|at| at.0),
        }
    }
}

impl StoredMember {
    fn read(self) -> Result<Member, StoredError> {
        Ok(Member {
            profile: required(self.profile, "member")?.read()?,
            joined: Timestamp(self.joined),
            absent_since: self.absent_since.map(Timestamp),
        })
    }
}

impl StoredChatLine {
    pub(super) fn new(from: &Profile, text: &ChatText, at: Timestamp) -> Self {
        Self { from: Some(from.into()), text: text.to_string(), at: at.0 }
    }

    pub(super) fn read(self) -> Result<ChatLine, StoredError> {
        Ok(ChatLine {
            from: required(self.from, "author")?.read()?,
            text: ChatText::from_stored(&self.text).map_err(|_| StoredError::Malformed("chat"))?,
            at: Timestamp(self.at),
        })
    }
}
