//! What a room is at one moment, and when it next wants to be asked.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use super::{
    command::Credentials,
    event::Creation,
    game::Game,
    ids::{JoinCode, PlayerId, RoomId, Seq},
    rejection::Rejection,
    seat::{Occupant, PlayerKind, Profile, Seat},
    series_score::SeriesScore,
    settings::{Settings, Visibility, Watching},
    text::ChatText,
    timestamp::Timestamp,
};
use crate::{
    rating::Verdict,
    rules::{ByColor, Color},
};

/// The server's own bounds for a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long a lost connection keeps its place.
    pub grace: Duration,
    /// A room without a game in which nothing happens closes after this.
    pub idle_close: Duration,
    /// The most members.
    pub members: u16,
}

/// Where a room is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Seats can be changed.
    Lobby,
    /// A game or a series runs.
    Playing,
    /// Over for good.
    Closed,
}

/// A player who is in the room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Who.
    pub profile: Profile,
    /// Since when.
    pub joined: Timestamp,
    /// When the connection was lost, if it is.
    pub absent_since: Option<Timestamp>,
}

/// A line of chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    /// Who said it.
    pub from: Profile,
    /// What.
    pub text: ChatText,
    /// When.
    pub at: Timestamp,
}

/// A run of games between the same occupants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// The running or latest game, from 0.
    pub index: u16,
    /// How many there are to be.
    pub games: u16,
    /// When the next begins, while one is awaited.
    pub next_at: Option<Timestamp>,
}

/// A room. In this order, as what is looked at with every move lies side by side then.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Room {
    pub(super) id: RoomId,
    pub(super) seq: Seq,
    pub(super) last_activity: Timestamp,
    pub(super) phase: Phase,
    pub(super) game: Option<Game>,
    pub(super) seats: ByColor<Seat>,
    pub(super) settings: Settings,
    pub(super) series: Option<Series>,
    pub(super) members: Vec<Member>,
    pub(super) owner: PlayerId,
    pub(super) code: JoinCode,
    pub(super) created: Timestamp,
    pub(super) policy: Policy,
    pub(super) bans: BTreeSet<PlayerId>,
    pub(super) score: Option<SeriesScore>,
    pub(super) rematch_offer: Option<Color>,
    pub(super) chat: VecDeque<ChatLine>,
}

impl Room {
    /// How many lines of chat a room remembers.
    pub const CHAT_LINES: usize = 50;
    /// The most players banned from one room.
    pub const MOST_BANS: usize = 200;
    /// Illegal moves of a bot in one turn that lose the game.
    pub const STRIKES: u8 = 3;
    /// Time between two games of a series in which a person plays.
    pub const PEOPLE_GAP: Duration = Duration::from_secs(3);

    /// The room that a first event begins.
    #[must_use]
    pub fn new(creation: Creation, at: Timestamp) -> Self {
        let Creation { id, code, owner, settings, policy, seats } = creation;
        Self {
            id,
            code,
            created: at,
            policy,
            seq: Seq(1),
            phase: Phase::Lobby,
            owner: owner.id,
            settings,
            members: vec![Member { profile: owner, joined: at, absent_since: None }],
            bans: BTreeSet::new(),
            seats: seats.map(Seat::of),
            game: None,
            series: None,
            score: None,
            rematch_offer: None,
            chat: VecDeque::new(),
            last_activity: at,
        }
    }

    /// Its name for good.
    #[must_use]
    pub fn id(&self) -> RoomId {
        self.id
    }

    /// What lets others in.
    #[must_use]
    pub fn code(&self) -> JoinCode {
        self.code
    }

    /// The number of the last event applied.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// Where it is in its life.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The seats: black's is number 0.
    #[must_use]
    pub fn seats(&self) -> &ByColor<Seat> {
        &self.seats
    }

    /// The running game, or the last one.
    #[must_use]
    pub fn game(&self) -> Option<&Game> {
        self.game.as_ref()
    }

    /// The series that runs, or waits for its next game.
    #[must_use]
    pub fn series(&self) -> Option<Series> {
        self.series
    }

    /// How the series stands, or the last one between these occupants; none of one that does not come in pairs.
    #[must_use]
    pub fn score(&self) -> Option<SeriesScore> {
        self.score
    }

    /// What the test of the settings finds, once it does.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.settings.sprt?.verdict(&self.score?.score)
    }

    /// Who offers a rematch.
    #[must_use]
    pub fn rematch_offer(&self) -> Option<Color> {
        self.rematch_offer
    }

    /// The last lines of chat, the oldest first.
    pub fn chat(&self) -> impl ExactSizeIterator<Item = &ChatLine> {
        self.chat.iter()
    }

    /// Those who may not come in again.
    pub fn banned(&self) -> impl ExactSizeIterator<Item = PlayerId> {
        self.bans.iter().copied()
    }

    /// When it was made.
    #[must_use]
    pub fn created(&self) -> Timestamp {
        self.created
    }

    /// When something last happened in it, other than coming and going of connections.
    #[must_use]
    pub fn last_activity(&self) -> Timestamp {
        self.last_activity
    }

    /// Whether it waits for a request, and only for so long that it closes: no game, and nobody whose absence matters.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Lobby && self.members.iter().all(|member| member.absent_since.is_none())
    }

    /// The owner, who is a member as long as the room is open.
    #[must_use]
    pub fn owner(&self) -> Option<&Profile> {
        self.member(self.owner).map(|member| &member.profile)
    }

    /// Those in it, in the order they came.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The member of that id.
    #[must_use]
    pub fn member(&self, player: PlayerId) -> Option<&Member> {
        self.members.iter().find(|member| member.profile.id == player)
    }

    /// Which side a player sits on.
    #[must_use]
    pub fn seat_of(&self, player: PlayerId) -> Option<Color> {
        [Color::Black, Color::White].into_iter().find(|&seat| self.seats[seat].occupant.player() == Some(player))
    }

    /// Whether a seat's occupant, or the guest it is kept for, is here: an AI always, a player while connected.
    #[must_use]
    pub fn is_present(&self, seat: Color) -> bool {
        match &self.seats[seat].occupant {
            Occupant::Ai(_) => true,
            Occupant::Player(profile) => self.member(profile.id).is_some_and(|member| member.absent_since.is_none()),
            Occupant::Open | Occupant::Reserved(_) => false,
        }
    }

    /// The game that runs now.
    #[must_use]
    pub fn running(&self) -> Option<&Game> {
        self.game.as_ref().filter(|game| game.end.is_none())
    }

    /// When the flag of the side to move falls.
    #[must_use]
    pub fn flag_falls(&self) -> Option<Timestamp> {
        self.running()?.flag_falls(&self.settings.time)
    }

    /// Whether a player, member or not, may see the inside of the room.
    ///
    /// # Errors
    /// Says what is missing; a private room is not even admitted to exist.
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

    /// Whether one who is no member may come in.
    pub(super) fn may_enter(&self, player: PlayerId, credentials: &Credentials) -> Result<(), Rejection> {
        let invited = self
            .seats
            .iter()
            .any(|(_, seat)| matches!(&seat.occupant, Occupant::Reserved(guest) if guest.id == player));
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

    /// Who would own the room without `player`: the longest-present seated person, then the longest-present member.
    pub(super) fn successor(&self, player: PlayerId) -> Option<PlayerId> {
        let others = || self.members.iter().filter(move |member| member.profile.id != player);
        let present = || others().filter(|member| member.absent_since.is_none());
        let seated_person =
            |member: &&Member| member.profile.kind == PlayerKind::Human && self.seat_of(member.profile.id).is_some();
        present().find(seated_person).or_else(|| present().next()).map(|member| member.profile.id)
    }

    /// Whether a person sits in one of the seats.
    pub(super) fn has_human_player(&self) -> bool {
        self.seats
            .iter()
            .any(|(_, seat)| matches!(&seat.occupant, Occupant::Player(profile) if profile.kind == PlayerKind::Human))
    }
}
