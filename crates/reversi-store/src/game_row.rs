//! A finished game, and the names of its parts, as the columns of a table: the same in every database.

use std::{fmt::Write as _, time::Duration};

use reversi_engine::rules::{ByColor, Color, Position, Transcript};
use reversi_room::{
    AiSeat, DisplayName, EndReason, GameEnd, GameId, GameRecord, Participant, PlayerKind, Ply, Profile, RoomName,
    TimeControl, Timestamp, stored,
};

use crate::{
    contestant::Contestant,
    damage::ReadError,
    player_stats::OpponentKind,
    recent_games::{RecentGame, RecentGames},
};

/// The columns of a game. Times are in microseconds since 1970-01-01 UTC.
pub(super) struct GameRow {
    pub(super) id: String,
    pub(super) room: String,
    pub(super) room_name: String,
    pub(super) players: ByColor<ParticipantColumns>,
    pub(super) started_us: i64,
    pub(super) ended_us: i64,
    /// black, white, or none.
    pub(super) winner: String,
    /// The name of the reason; in an imported game that its moves do not end also black's lead, as in `agreed +12`.
    pub(super) reason: String,
    /// f5d6c3..., without passes.
    pub(super) transcript: String,
    /// The time spent on each disc placed, separated by spaces.
    pub(super) times_ms: String,
    pub(super) opening: i32,
    pub(super) move_limit_us: Option<i64>,
    pub(super) total_time_us: Option<i64>,
    pub(super) increment_us: i64,
    pub(super) rated: bool,
    pub(super) private: bool,
    /// The search reports of AIs, in the form of room/stored; none without any.
    pub(super) thoughts: Option<Vec<u8>>,
}

/// The columns of a side of a game.
pub(super) struct ParticipantColumns {
    /// A player's id, or an AI as kind:level.
    pub(super) contestant: String,
    pub(super) name: String,
    /// human, bot or ai.
    pub(super) kind: String,
    /// The rating before the game.
    pub(super) rating: Option<i32>,
}

impl From<&GameRecord> for GameRow {
    fn from(game: &GameRecord) -> Self {
        let placed = || game.plies.iter().filter_map(|ply| Some((ply.square?, ply.spent_ms)));
        let mut times_ms = String::new();
        for (_, spent) in placed() {
            let gap = if times_ms.is_empty() { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(times_ms, "{gap}{spent}");
        }
        Self {
            id: game.id.to_string(),
            room: game.id.room.to_string(),
            room_name: game.room_name.to_string(),
            players: ByColor::from_fn(|side| ParticipantColumns::of(game, side)),
            started_us: game.started.0,
            ended_us: game.ended.0,
            winner: winner_name(game.end.winner).to_owned(),
            reason: reason(game),
            transcript: placed().map(|(square, _)| square.name()).collect(),
            times_ms,
            opening: game.opening.into(),
            move_limit_us: game.time.per_move.map(micros),
            total_time_us: game.time.total.map(micros),
            increment_us: micros(game.time.increment),
            rated: game.rated,
            private: game.private,
            thoughts: (!game.thoughts.is_empty()).then(|| stored::encode_thoughts(&game.thoughts)),
        }
    }
}

impl ParticipantColumns {
    fn of(game: &GameRecord, side: Color) -> Self {
        let participant = &game.players[side];
        Self {
            contestant: Contestant::from(participant).to_string(),
            name: name(participant),
            kind: kind_name(participant.into()).to_owned(),
            rating: game.ratings[side].map(i32::from),
        }
    }

    fn participant(&self) -> Result<Participant, ReadError> {
        Ok(match self.contestant.parse()? {
            Contestant::Ai { kind, level } => Participant::Ai(AiSeat { kind, level, seed: 0 }),
            Contestant::Player(_) => Participant::Player(profile(&self.contestant, &self.name, &self.kind)?),
        })
    }
}

impl GameRow {
    /// The CRC-32 of all columns, to notice a changed value. It is stored with the games, so it must never change.
    pub(super) fn checksum(&self) -> u32 {
        let ByColor { black, white } = &self.players;
        let sides = [black, white].map(|side| [&side.contestant, &side.name, &side.kind]);
        let texts =
            [&self.id, &self.room, &self.room_name, &self.winner, &self.reason, &self.transcript, &self.times_ms];
        let mut hash = crc32fast::Hasher::new();
        for text in texts.into_iter().chain(sides.into_iter().flatten()) {
            hash.update(text.as_bytes());
            // A byte that no text has.
            hash.update(&[0xff]);
        }
        let [black, white] = [black, white].map(|side| side.rating.map(i64::from));
        let numbers = [self.started_us, self.ended_us, self.opening.into(), self.increment_us].map(Some);
        let flags = [self.rated, self.private].map(|flag| Some(flag.into()));
        for number in numbers.into_iter().chain(flags).chain([self.move_limit_us, self.total_time_us, black, white]) {
            hash.update(&number.unwrap_or(i64::MIN).to_le_bytes());
        }
        hash.update(self.thoughts.as_deref().unwrap_or_default());
        hash.finalize()
    }

    /// Reads the game. The seeds of its AIs are 0: they are secret, and not stored.
    pub(super) fn read(&self) -> Result<GameRecord, ReadError> {
        let id: GameId = self.id.parse()?;
        let transcript: Transcript = self.transcript.parse()?;
        let mut spent = self.times_ms.split_whitespace().map(str::parse).collect::<Result<Vec<u32>, _>>()?.into_iter();
        let (plies, position) = plies(&transcript, || spent.next().unwrap_or(0));
        let thoughts =
            self.thoughts.as_ref().map(|thoughts| stored::decode_thoughts(thoughts, plies.len())).transpose()?;
        let rating = |side: Color| self.players[side].rating.map(u16::try_from).transpose();
        Ok(GameRecord {
            id,
            room_name: RoomName::from_stored(&self.room_name)?,
            players: ByColor::new(self.players.black.participant()?, self.players.white.participant()?),
            started: Timestamp(self.started_us),
            ended: Timestamp(self.ended_us),
            end: end(&self.winner, &self.reason)?,
            margin: self.reason.split_once(' ').map(|(_, margin)| margin.parse()).transpose()?,
            plies,
            opening: self.opening.try_into()?,
            position,
            time: TimeControl {
                per_move: duration(self.move_limit_us)?,
                total: duration(self.total_time_us)?,
                increment: duration(Some(self.increment_us))?.unwrap_or_default(),
            },
            rated: self.rated,
            private: self.private,
            ratings: ByColor::new(rating(Color::Black)?, rating(Color::White)?),
            thoughts: thoughts.unwrap_or_default(),
        })
    }
}

/// Reads a player from the columns of its table.
pub(super) fn profile(id: &str, name: &str, kind: &str) -> Result<Profile, ReadError> {
    Ok(Profile { id: id.parse()?, name: DisplayName::from_stored(name)?, kind: player_kind(kind)? })
}

fn reason(game: &GameRecord) -> String {
    let margin = game.margin.map(|margin| format!(" {margin:+}")).unwrap_or_default();
    format!("{}{margin}", game.end.reason.name())
}

/// Reads how a game ended from its columns.
pub(super) fn end(winner: &str, reason: &str) -> Result<GameEnd, ReadError> {
    let winners = [None, Some(Color::Black), Some(Color::White)];
    let winner = winners.into_iter().find(|&side| winner_name(side) == winner).ok_or_else(|| unknown(winner))?;
    let (name, _) = reason.split_once(' ').unwrap_or((reason, ""));
    let reason = EndReason::ALL.into_iter().find(|known| known.name() == name).ok_or_else(|| unknown(reason))?;
    Ok(GameEnd { winner, reason })
}

/// Reads what a later game needs to know of a game from its columns; none if they are damaged.
pub(super) fn recent_game(
    ended_us: i64,
    rated: bool,
    reason: &str,
    opponent: &str,
    rating: Option<u16>,
) -> Option<RecentGame> {
    let reason = EndReason::ALL.into_iter().find(|known| known.name() == reason)?;
    let opponent = opponent.parse().ok()?;
    let rating = rating.unwrap_or(RecentGames::BEGINNER);
    Some(RecentGame { ended: Timestamp(ended_us), counts: rated && reason.counts(), opponent, rating })
}

/// Every ply, with the passes that the transcript omits. A pass takes no time.
fn plies(transcript: &Transcript, mut spent: impl FnMut() -> u32) -> (Vec<Ply>, Position) {
    let (mut plies, mut position) = (Vec::new(), Position::START);
    for &square in transcript.squares() {
        position = position.play_unchecked(square);
        plies.push(Ply { square: Some(square), spent_ms: spent() });
        if position.must_pass() {
            position = position.pass_unchecked();
            plies.push(Ply { square: None, spent_ms: 0 });
        }
    }
    (plies, position)
}

/// The name of a contestant in a game; empty if it did not play.
pub(super) fn name_of(game: &GameRecord, who: &Contestant) -> String {
    let player = game.players.iter().find(|(_, player)| Contestant::from(*player) == *who);
    player.map(|(_, player)| name(player)).unwrap_or_default()
}

fn name(participant: &Participant) -> String {
    match participant {
        Participant::Player(profile) => profile.name.to_string(),
        Participant::Ai(_) => Contestant::from(participant).to_string(),
    }
}

pub(super) fn kind_name(kind: OpponentKind) -> &'static str {
    match kind {
        OpponentKind::Human => "human",
        OpponentKind::Bot => "bot",
        OpponentKind::Ai => "ai",
    }
}

/// The value of a column for the kind of a player.
pub(super) fn player_kind_name(kind: PlayerKind) -> &'static str {
    match kind {
        PlayerKind::Human => "human",
        PlayerKind::Bot => "bot",
    }
}

/// The inverse of [`player_kind_name`].
fn player_kind(text: &str) -> Result<PlayerKind, ReadError> {
    let kinds = [PlayerKind::Human, PlayerKind::Bot];
    kinds.into_iter().find(|&kind| player_kind_name(kind) == text).ok_or_else(|| unknown(text))
}

pub(super) fn winner_name(winner: Option<Color>) -> &'static str {
    match winner {
        Some(Color::Black) => "black",
        Some(Color::White) => "white",
        None => "none",
    }
}

fn unknown(text: &str) -> ReadError {
    format!("{text:?} is not a value of this column").into()
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

fn duration(micros: Option<i64>) -> Result<Option<Duration>, ReadError> {
    Ok(micros.map(u64::try_from).transpose()?.map(Duration::from_micros))
}
