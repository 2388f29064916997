//! Stored rooms.

use std::collections::BTreeSet;

use reversi_engine::rules::{ByColor, Color};

use super::{
    StoredError,
    codec::{Numbered, number_or_zero, read_code, read_player, read_player_or_none, read_room, read_seq},
    required, v1,
};
use crate::{
    ids::{MeetingRef, PlayerId, TournamentId},
    seat::Profile,
    state::{ChatLine, Member, Phase, Room},
    text::ChatText,
    timestamp::Timestamp,
};

impl From<&Room> for v1::Room {
    fn from(room: &Room) -> Self {
        Self {
            id: room.id.bits(),
            code: room.code.bits(),
            created: room.created.0,
            policy: Some(room.policy.into()),
            seq: room.seq.0,
            phase: room.phase.number(),
            owner: room.owner.bits(),
            absent_owner: room.absent_owner.map_or(0, PlayerId::bits),
            co_owners: room.co_owners.iter().map(|player| player.bits()).collect(),
            settings: Some((&room.settings).into()),
            members: room.members.iter().map(Into::into).collect(),
            bans: room.bans.iter().map(|player| player.bits()).collect(),
            black: Some((&room.seats.black).into()),
            white: Some((&room.seats.white).into()),
            game: room.game.as_ref().map(|game| v1::Game::of(game, &room.seats)),
            series: room.series.map(Into::into),
            rematch_offer: number_or_zero(room.rematch_offer),
            chat: room.chat.iter().map(|line| v1::ChatLine::new(&line.from, &line.text, line.at)).collect(),
            last_activity: room.last_activity.0,
            score: room.score.map(Into::into),
            credited_since: room.credited_since.map(|since| since.0),
            meeting: room.meeting.map(Into::into),
        }
    }
}

impl v1::Room {
    /// Reads what another node has sent.
    ///
    /// # Errors
    /// [`StoredError::Malformed`] for a message that no server sends.
    pub fn read(self) -> Result<Room, StoredError> {
        let seats = ByColor::new(required(self.black, "seat")?.read()?, required(self.white, "seat")?.read()?);
        let room = Room {
            id: read_room(self.id)?,
            code: read_code(self.code)?,
            created: Timestamp(self.created),
            policy: required(self.policy, "policy")?.read()?,
            seq: read_seq(self.seq)?,
            phase: Phase::read(self.phase)?,
            owner: read_player(self.owner)?,
            absent_owner: read_player_or_none(self.absent_owner)?,
            co_owners: self.co_owners.into_iter().map(read_player).collect::<Result<_, _>>()?,
            settings: required(self.settings, "settings")?.read()?,
            members: self.members.into_iter().map(v1::Member::read).collect::<Result<_, _>>()?,
            bans: self.bans.into_iter().map(read_player).collect::<Result<_, _>>()?,
            game: self.game.map(|game| game.read(&seats)).transpose()?,
            seats,
            series: self.series.map(v1::Series::read).transpose()?,
            rematch_offer: Color::read_optional(self.rematch_offer)?,
            chat: self.chat.into_iter().map(v1::ChatLine::read).collect::<Result<_, _>>()?,
            last_activity: Timestamp(self.last_activity),
            score: self.score.map(v1::Score::read).transpose()?,
            credited_since: self.credited_since.map(Timestamp),
            meeting: self.meeting.map(v1::MeetingRef::read).transpose()?,
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
    // The creator, or both players of a meeting, are members even if the limit is lower.
    let max_members = usize::from(room.policy.members).max(2);
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
        ("co-owners", room.co_owners.len() <= Room::MAX_CO_OWNERS),
        ("chat", room.chat.len() <= Room::CHAT_LINES),
        ("phase", playing),
        ("series", series),
    ];
    rules.into_iter().find(|(_, holds)| !holds).map(|(what, _)| what)
}

impl From<MeetingRef> for v1::MeetingRef {
    fn from(MeetingRef { tournament, number, round }: MeetingRef) -> Self {
        Self { tournament: tournament.bits(), number, round }
    }
}

impl v1::MeetingRef {
    /// Reads the stored meeting.
    ///
    /// # Errors
    /// If its tournament is not an id.
    pub fn read(self) -> Result<MeetingRef, StoredError> {
        let tournament = required(TournamentId::from_bits(self.tournament), "id of a tournament")?;
        Ok(MeetingRef { tournament, number: self.number, round: self.round })
    }
}

impl From<&Member> for v1::Member {
    fn from(member: &Member) -> Self {
        Self {
            profile: Some((&member.profile).into()),
            joined: member.joined.0,
            absent_since: member.absent_since.map(|at| at.0),
        }
    }
}

impl v1::Member {
    fn read(self) -> Result<Member, StoredError> {
        Ok(Member {
            profile: required(self.profile, "member")?.read()?,
            joined: Timestamp(self.joined),
            absent_since: self.absent_since.map(Timestamp),
        })
    }
}

impl v1::ChatLine {
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
