//! The state of a room.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use reversi_engine::{
    match_statistics::Verdict,
    rules::{ByColor, Color},
};

use super::{
    command::Credentials,
    event::Creation,
    game::Game,
    ids::{JoinCode, MeetingRef, PlayerId, RoomId, Seq},
    rejection::Rejection,
    seat::{Occupant, PlayerKind, Profile, Seat},
    series_score::SeriesScore,
    settings::{Policy, Settings, Visibility, Watching},
    text::ChatText,
    timestamp::Timestamp,
};

/// The phase of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Seats can be changed.
    Lobby,
    /// A game or a series runs.
    Playing,
    /// Closed permanently.
    Closed,
}

/// A player who is in the room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The player.
    pub profile: Profile,
    /// When the player joined.
    pub joined: Timestamp,
    /// When the last connection was lost; `None` while connected.
    pub absent_since: Option<Timestamp>,
}

/// A line of chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    /// The author.
    pub from: Profile,
    /// The text.
    pub text: ChatText,
    /// When it was posted.
    pub at: Timestamp,
}

/// A series of games between the same occupants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// Index of the running or latest game, from 0.
    pub index: u16,
    /// Number of games in the series.
    pub games: u16,
    /// When the next game begins, between two games.
    pub next_at: Option<Timestamp>,
}

/// The state of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    pub(super) id: RoomId,
    pub(super) seq: Seq,
    pub(super) last_activity: Timestamp,
    pub(super) credited_since: Option<Timestamp>,
    pub(super) phase: Phase,
    pub(super) game: Option<Game>,
    pub(super) seats: ByColor<Seat>,
    pub(super) settings: Settings,
    pub(super) series: Option<Series>,
    pub(super) members: Vec<Member>,
    pub(super) owner: PlayerId,
    pub(super) absent_owner: Option<PlayerId>,
    pub(super) co_owners: BTreeSet<PlayerId>,
    pub(super) code: JoinCode,
    pub(super) created: Timestamp,
    pub(super) policy: Policy,
    pub(super) bans: BTreeSet<PlayerId>,
    pub(super) score: Option<SeriesScore>,
    pub(super) rematch_offer: Option<Color>,
    pub(super) chat: VecDeque<ChatLine>,
    pub(super) meeting: Option<MeetingRef>,
}

impl Room {
    /// Number of chat lines kept.
    pub const CHAT_LINES: usize = 50;
    /// Maximum number of banned players.
    pub const MAX_BANS: usize = 200;
    /// Number of illegal moves in one turn that lose a bot the game.
    pub const STRIKES: u8 = 3;
    /// Time between two games of a series when a person is seated.
    pub const PEOPLE_GAP: Duration = Duration::from_secs(3);

    /// The room after its first event.
    #[must_use]
    pub fn new(creation: Creation, at: Timestamp) -> Self {
        let Creation { id, code, owner, settings, policy, seats, meeting, request: _ } = creation;
        let owner_id = owner.id;
        let seated = |occupant: &Occupant| match occupant {
            Occupant::Player(profile) => Some(profile.clone()),
            Occupant::Open | Occupant::Reserved(_) | Occupant::Invited(_) | Occupant::Ai(_) => None,
        };
        let members = match meeting {
            Some(_) => seats.iter().filter_map(|(_, occupant)| seated(occupant)).collect(),
            None => vec![owner],
        };
        let member = |profile| Member { profile, joined: at, absent_since: None };
        let is_ready = |occupant: &Occupant| meeting.is_some() && occupant.player().is_some();
        let seat = |occupant: Occupant| Seat { marked_ready: is_ready(&occupant), ..Seat::of(occupant) };
        Self {
            id,
            code,
            created: at,
            policy,
            seq: Seq(1),
            phase: Phase::Lobby,
            owner: owner_id,
            absent_owner: None,
            co_owners: BTreeSet::new(),
            settings,
            members: members.into_iter().map(member).collect(),
            bans: BTreeSet::new(),
            seats: seats.map(seat),
            game: None,
            series: None,
            score: None,
            rematch_offer: None,
            chat: VecDeque::new(),
            last_activity: at,
            credited_since: None,
            meeting,
        }
    }

    /// The room's id.
    #[must_use]
    pub fn id(&self) -> RoomId {
        self.id
    }

    /// The join code, which admits players to a private room.
    #[must_use]
    pub fn code(&self) -> JoinCode {
        self.code
    }

    /// Sequence number of the last applied event.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The meeting of a tournament that is played in the room, if it is for one.
    #[must_use]
    pub fn meeting(&self) -> Option<MeetingRef> {
        self.meeting
    }

    /// The room's phase.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The current settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The two seats, by the side that they play.
    #[must_use]
    pub fn seats(&self) -> &ByColor<Seat> {
        &self.seats
    }

    /// The running game, or else the last one.
    #[must_use]
    pub fn game(&self) -> Option<&Game> {
        self.game.as_ref()
    }

    /// The running series, also between two of its games.
    #[must_use]
    pub fn series(&self) -> Option<Series> {
        self.series
    }

    /// Score of the running series, or of the last one between these occupants; `None` unless its games come in pairs.
    #[must_use]
    pub fn score(&self) -> Option<SeriesScore> {
        self.score
    }

    /// The verdict of the SPRT in the settings, once it is reached.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.settings.sprt?.verdict(&self.score?.score)
    }

    /// The side that has offered a rematch.
    #[must_use]
    pub fn rematch_offer(&self) -> Option<Color> {
        self.rematch_offer
    }

    /// The last lines of chat, oldest first.
    pub fn chat(&self) -> impl ExactSizeIterator<Item = &ChatLine> {
        self.chat.iter()
    }

    /// The banned players.
    pub fn banned(&self) -> impl ExactSizeIterator<Item = PlayerId> {
        self.bans.iter().copied()
    }

    /// When the room was created.
    #[must_use]
    pub fn created(&self) -> Timestamp {
        self.created
    }

    /// Time of the last event that was not a change of presence.
    #[must_use]
    pub fn last_activity(&self) -> Timestamp {
        self.last_activity
    }

    /// The begin of the time that was last credited, in microseconds: after the room has changed its server, by the clock of
    /// the server before.
    #[must_use]
    pub fn credited_since(&self) -> Option<Timestamp> {
        self.credited_since
    }

    /// Whether only a request or the idle deadline can change it: no game or series runs, and no member is absent.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Lobby && self.members.iter().all(|member| member.absent_since.is_none())
    }

    /// The owner; `None` once the room is closed, and if the owner has gone and all members play a series.
    #[must_use]
    pub fn owner(&self) -> Option<&Profile> {
        self.member(self.owner).filter(|_| self.meeting.is_none()).map(|member| &member.profile)
    }

    /// The members, in the order in which they joined.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The member with that id.
    #[must_use]
    pub fn member(&self, player: PlayerId) -> Option<&Member> {
        self.members.iter().find(|member| member.profile.id == player)
    }

    /// The side of the player's seat.
    #[must_use]
    pub fn seat_of(&self, player: PlayerId) -> Option<Color> {
        [Color::Black, Color::White].into_iter().find(|&seat| self.seats[seat].occupant.player() == Some(player))
    }

    /// Whether a seat's occupant is present: an AI always, a player while connected.
    #[must_use]
    pub fn is_present(&self, seat: Color) -> bool {
        match &self.seats[seat].occupant {
            Occupant::Ai(_) => true,
            Occupant::Player(profile) => self.member(profile.id).is_some_and(|member| member.absent_since.is_none()),
            Occupant::Open | Occupant::Reserved(_) | Occupant::Invited(_) => false,
        }
    }

    /// The running game.
    #[must_use]
    pub fn running(&self) -> Option<&Game> {
        self.game.as_ref().filter(|game| game.end.is_none())
    }

    /// When the side to move runs out of time.
    #[must_use]
    pub fn flag_falls(&self) -> Option<Timestamp> {
        self.running()?.flag_falls(&self.settings.time)
    }

    /// True if the room has a delay for spectators and the player has no seat in it.
    #[must_use]
    pub fn is_delayed_for(&self, player: PlayerId) -> bool {
        !self.settings.spectator_delay.is_zero() && self.seat_of(player).is_none()
    }

    /// A copy of the room with all clocks and deadlines later by the delay for spectators. It hides nothing.
    #[must_use]
    pub fn with_delayed_clocks(&self) -> Self {
        let mut shown = self.clone();
        let delay = i64::try_from(shown.settings.spectator_delay.as_micros()).unwrap_or(i64::MAX);
        shown.start_times_mut().for_each(|began| *began = began.shifted(delay));
        shown
    }

    /// Removes a line of chat as [`Fact::ChatRemoved`](crate::Fact::ChatRemoved) does, also from an earlier state.
    pub fn remove_chat_line(&mut self, posted: Timestamp) {
        self.chat.retain(|line| line.at != posted);
    }

    /// The room without games, results and chat.
    #[must_use]
    pub fn without_games(self) -> Self {
        Self {
            seq: Seq(1),
            phase: Phase::Lobby,
            game: None,
            seats: self.seats.map(|seat| Seat { wins: 0, draws: 0, ..seat }),
            series: None,
            score: None,
            rematch_offer: None,
            chat: VecDeque::new(),
            ..self
        }
    }

    /// Checks whether a player, member or not, may watch the room.
    ///
    /// # Errors
    /// The reason; [`Rejection::RoomNotFound`] for a private room without its join code.
    pub fn may_watch(&self, player: PlayerId, credentials: &Credentials) -> Result<(), Rejection> {
        if self.member(player).is_some() {
            return Ok(());
        }
        self.may_enter(player, credentials)?;
        match self.settings.watching {
            Watching::Everyone => Ok(()),
            Watching::Members => Err(Rejection::NotMember),
        }
    }

    /// Checks whether a player who is not a member may join.
    pub(super) fn may_enter(&self, player: PlayerId, credentials: &Credentials) -> Result<(), Rejection> {
        let invited = self.seats.iter().any(|(_, seat)| seat.occupant.guest().is_some_and(|guest| guest.id == player))
            || self.is_absent_owner(player);
        if self.settings.visibility == Visibility::Private && !invited && credentials.code != Some(self.code) {
            return Err(Rejection::RoomNotFound);
        }
        if self.bans.contains(&player) {
            return Err(Rejection::Banned);
        }
        if self.settings.password.is_some() && !invited && credentials.password != self.settings.password {
            return Err(Rejection::BadPassword);
        }
        Ok(())
    }

    /// Whether a seat is occupied by a person.
    pub(super) fn has_human_player(&self) -> bool {
        self.seats
            .iter()
            .any(|(_, seat)| matches!(&seat.occupant, Occupant::Player(profile) if profile.kind == PlayerKind::Human))
    }
}
