//! A finished game, and the names of its parts, as the columns of a table: the same in every database.

use std::{fmt::Write as _, time::Duration};

use reversi_engine::rules::{ByColor, Color, Position, Transcript};
use reversi_room::{
    AiSeat, DisplayName, EndReason, EngineVersion, GameEnd, GameRecord, MeetingRef, Participant, PlayerKind, Ply,
    Profile, RatingChange, RoomName, TimeControl, Timestamp, UnratedReason, stored,
};

#[cfg(feature = "postgres")]
use crate::column::ArrayParameter;
use crate::{
    column::{Column, ColumnType, Parameter, ReadColumn},
    contestant::Contestant,
    damage::ReadError,
    player_stats::OpponentKind,
    player_stats::recent_games::{RecentGame, RecentGames},
    player_store,
};

/// The version of the tables in `schema.sql` of each database and `done_requests.sql`, which earlier versions lack.
pub(super) const FIRST: i32 = 10;

/// The version of the last change of tables besides added columns: those in `tournaments.sql`.
pub(super) const TOURNAMENTS: i32 = 15;

/// The version of the tables of this program, the same in every database.
pub(super) const VERSION: i32 = {
    let mut version = TOURNAMENTS;
    let mut tables: &[&[Column]] = &[GameRow::COLUMNS, &player_store::ADDED_COLUMNS];
    while let [columns, others @ ..] = tables {
        if let [.., last] = *columns
            && last.since > version
        {
            version = last.since;
        }
        tables = others;
    }
    version
};

// Else an upgrade would leave out a column, or add it twice.
const _: () = {
    let mut index = 1;
    while index < GameRow::COLUMNS.len() {
        assert!(GameRow::COLUMNS[index - 1].since <= GameRow::COLUMNS[index].since, "a new column is the last one");
        index += 1;
    }
};

/// Declares [`GameRow`] by the columns of the table games.
macro_rules! game_row {
    ($($(#[doc = $doc:literal])* $name:ident: $type:ty $(, since $version:literal)?;)*) => {
        /// The columns of a game. Times are in microseconds since 1970-01-01 UTC.
        pub(super) struct GameRow {
            $($(#[doc = $doc])* pub(super) $name: $type,)*
        }

        impl GameRow {
            pub(super) const COLUMNS: &[Column] = &[$(
                Column {
                    name: stringify!($name),
                    type_name: <$type as ColumnType>::NAME,
                    since: game_row!(since $($version)?),
                },
            )*];

            pub(super) fn from_columns<R>(row: &R) -> Result<Self, ReadError>
            where
                $(R: ReadColumn<$type>,)*
            {
                Ok(Self { $($name: row.column(stringify!($name))?,)* })
            }

            /// The values, for a statement of [`Self::insertion`].
            pub(super) fn parameters<'a, P>(&'a self) -> Vec<P>
            where
                $(P: Parameter<'a, $type>,)*
            {
                vec![$(P::of(&self.$name)),*]
            }

            /// The columns of rows, for a statement over all of them.
            #[cfg(feature = "postgres")]
            pub(super) fn arrays<'a, P>(rows: &[&'a Self]) -> Vec<P>
            where
                $(P: ArrayParameter<'a, $type>,)*
            {
                vec![$(P::of(rows.iter().map(|row| &row.$name).collect())),*]
            }

            /// The CRC-32 of all columns, to notice a changed value. It is stored with the games, so it must never
            /// change: a later column counts only with a value.
            pub(super) fn checksum(&self) -> u32 {
                let mut hash = crc32fast::Hasher::new();
                $(game_row!(add self.$name, $name $(since $version)?, hash);)*
                hash.finalize()
            }
        }
    };
    (since) => {
        FIRST
    };
    (since $version:literal) => {
        $version
    };
    (add $value:expr, $name:ident, $hash:ident) => {
        ColumnType::add(Some(&$value), &mut $hash)
    };
    (add $value:expr, $name:ident since $version:literal, $hash:ident) => {
        if let Some(value) = &$value {
            $hash.update(stringify!($name).as_bytes());
            ColumnType::add(Some(value), &mut $hash);
        }
    };
}

// In the order of the checksum. A new column is the last one, optional, and of the version after the present one.
game_row! {
    id: String;
    room: String;
    room_name: String;
    /// black, white, or none.
    winner: String;
    /// The name of the reason; in an imported game that its moves do not end also black's lead, as in `agreed +12`.
    reason: String;
    /// f5d6c3..., without passes.
    transcript: String;
    /// The time spent on each disc placed, separated by spaces.
    times_ms: String;
    /// A player's id, or an AI as kind:level.
    black: String;
    black_name: String;
    /// human, bot or ai.
    black_kind: String;
    white: String;
    white_name: String;
    white_kind: String;
    started_us: i64;
    ended_us: i64;
    opening: i32;
    increment_us: i64;
    rated: bool;
    private: bool;
    move_limit_us: Option<i64>;
    total_time_us: Option<i64>;
    /// The rating before the game.
    black_rating: Option<i32>;
    white_rating: Option<i32>;
    /// The search reports of AIs, in the form of room/stored; none without any.
    thoughts: Option<Vec<u8>>;
    /// The change of the rating. If the game counted: the rating and the deviation after it, and the weight in sixteenths,
    /// as "1662 290 16"; " limited" follows if a limit kept the rating lower. Otherwise the reason, as "aborted".
    black_rating_change: Option<String>, since 13;
    white_rating_change: Option<String>, since 13;
    /// The version of a bot's engine, as the bot has named it.
    black_engine_version: Option<String>, since 14;
    white_engine_version: Option<String>, since 14;
    /// The tournament of which it was a part.
    tournament: Option<String>, since 16;
    /// The number of the meeting there, and its round.
    meeting: Option<i32>, since 16;
    round: Option<i32>, since 16;
    /// From when on others than its players may see it; null from its end on.
    public_from_us: Option<i64>, since 16;
}

impl From<&GameRecord> for GameRow {
    fn from(game: &GameRecord) -> Self {
        // Without `..`: the compiler reports a field that is not named here.
        #[rustfmt::skip]
        let GameRecord { id, room_name, players: ByColor { black, white }, started, ended, end, margin, plies, opening,
            position: _, time, private, public_from, meeting, rated, ratings, rating_changes, thoughts } = game;
        let placed = || plies.iter().filter_map(|ply| Some((ply.square?, ply.spent_ms)));
        let mut times_ms = String::new();
        for (_, spent) in placed() {
            let gap = if times_ms.is_empty() { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(times_ms, "{gap}{spent}");
        }
        let margin = margin.map(|margin| format!(" {margin:+}")).unwrap_or_default();
        Self {
            id: id.to_string(),
            room: id.room.to_string(),
            room_name: room_name.to_string(),
            winner: winner_name(end.winner).to_owned(),
            reason: format!("{}{margin}", end.reason.name()),
            transcript: placed().map(|(square, _)| square.name()).collect(),
            times_ms,
            black: Contestant::from(black).to_string(),
            black_name: name(black),
            black_kind: kind_name(black.into()).to_owned(),
            white: Contestant::from(white).to_string(),
            white_name: name(white),
            white_kind: kind_name(white.into()).to_owned(),
            started_us: started.0,
            ended_us: ended.0,
            opening: (*opening).into(),
            increment_us: micros(time.increment),
            rated: *rated,
            private: *private,
            move_limit_us: time.per_move.map(micros),
            total_time_us: time.total.map(micros),
            black_rating: ratings.black.map(i32::from),
            white_rating: ratings.white.map(i32::from),
            thoughts: (!thoughts.is_empty()).then(|| stored::encode_thoughts(thoughts)),
            black_rating_change: rating_changes.black.map(rating_change_text),
            white_rating_change: rating_changes.white.map(rating_change_text),
            black_engine_version: engine_version(black),
            white_engine_version: engine_version(white),
            tournament: meeting.map(|meeting| meeting.tournament.to_string()),
            meeting: meeting.map(|meeting| number(meeting.number)),
            round: meeting.map(|meeting| number(meeting.round)),
            public_from_us: public_from.map(|at| at.0),
        }
    }
}

impl GameRow {
    /// The statement that inserts a game with these columns besides those of [`Self::parameters`], unless it is known.
    pub(super) fn insertion(others: &[&str]) -> String {
        let columns: Vec<_> = Self::COLUMNS.iter().map(|column| column.name).chain(others.iter().copied()).collect();
        let values: Vec<_> = (1..=columns.len()).map(|number| format!("${number}")).collect();
        format!("INSERT INTO games ({}) VALUES ({}) ON CONFLICT DO NOTHING", columns.join(", "), values.join(", "))
    }

    /// The statements that add the columns that tables of this version lack, or those of `schema.sql` for 0.
    pub(super) fn additions(version: i32) -> String {
        let tables = [("games", Self::COLUMNS), ("players", &player_store::ADDED_COLUMNS)];
        let columns = tables.iter().flat_map(|(table, columns)| columns.iter().map(move |column| (table, column)));
        let later = columns.filter(|(_, column)| column.since > version.max(FIRST));
        later
            .map(|(table, Column { name, type_name, .. })| {
                format!("ALTER TABLE {table} ADD COLUMN {name} {type_name};")
            })
            .collect()
    }

    /// Reads the game. The seeds of its AIs are 0: they are secret, and not stored.
    pub(super) fn read(&self) -> Result<GameRecord, ReadError> {
        let transcript: Transcript = self.transcript.parse()?;
        let mut spent = self.times_ms.split_whitespace().map(str::parse).collect::<Result<Vec<u32>, _>>()?.into_iter();
        let (plies, position) = plies(&transcript, || spent.next().unwrap_or(0));
        let thoughts =
            self.thoughts.as_ref().map(|thoughts| stored::decode_thoughts(thoughts, plies.len())).transpose()?;
        let rating = |stored: Option<i32>| stored.map(u16::try_from).transpose();
        Ok(GameRecord {
            id: self.id.parse()?,
            room_name: RoomName::from_stored(&self.room_name)?,
            players: ByColor::new(
                participant(&self.black, &self.black_name, &self.black_kind, self.black_engine_version.as_deref())?,
                participant(&self.white, &self.white_name, &self.white_kind, self.white_engine_version.as_deref())?,
            ),
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
            public_from: self.public_from_us.map(Timestamp),
            meeting: meeting_ref(self.tournament.as_deref(), self.meeting, self.round)?,
            ratings: ByColor::new(rating(self.black_rating)?, rating(self.white_rating)?),
            rating_changes: ByColor::new(
                self.black_rating_change.as_deref().map(rating_change).transpose()?,
                self.white_rating_change.as_deref().map(rating_change).transpose()?,
            ),
            thoughts: thoughts.unwrap_or_default(),
        })
    }
}

fn number(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The meeting, if there is a tournament.
fn meeting_ref(
    tournament: Option<&str>,
    meeting: Option<i32>,
    round: Option<i32>,
) -> Result<Option<MeetingRef>, ReadError> {
    let Some(tournament) = tournament else { return Ok(None) };
    let [number, round] = [meeting, round].map(|stored| u32::try_from(stored.unwrap_or_default()));
    Ok(Some(MeetingRef { tournament: tournament.parse()?, number: number?, round: round? }))
}

fn engine_version(participant: &Participant) -> Option<String> {
    match participant {
        Participant::Player(profile) => profile.engine_version.as_ref().map(ToString::to_string),
        Participant::Ai(_) => None,
    }
}

fn participant(contestant: &str, name: &str, kind: &str, engine: Option<&str>) -> Result<Participant, ReadError> {
    Ok(match contestant.parse()? {
        Contestant::Ai { kind, level } => Participant::Ai(AiSeat { kind, level, seed: 0 }),
        Contestant::Player(_) => Participant::Player(profile(contestant, name, kind, engine)?),
    })
}

/// Reads a player from the columns of its table.
pub(super) fn profile(id: &str, name: &str, kind: &str, engine_version: Option<&str>) -> Result<Profile, ReadError> {
    Ok(Profile {
        id: id.parse()?,
        name: DisplayName::from_stored(name)?,
        kind: player_kind(kind)?,
        engine_version: engine_version.map(EngineVersion::from_stored).transpose()?,
    })
}

/// Reads how a game ended from its columns.
pub(super) fn end(winner: &str, reason: &str) -> Result<GameEnd, ReadError> {
    let winners = [None, Some(Color::Black), Some(Color::White)];
    let winner = winners.into_iter().find(|&side| winner_name(side) == winner).ok_or_else(|| unknown(winner))?;
    let (name, _) = reason.split_once(' ').unwrap_or((reason, ""));
    let reason = EndReason::ALL.into_iter().find(|known| known.name() == name).ok_or_else(|| unknown(reason))?;
    Ok(GameEnd { winner, reason })
}

/// The value of a column for a change of a rating.
pub(super) fn rating_change_text(change: RatingChange) -> String {
    match change {
        RatingChange::Rated { after, deviation, weight, limited } => {
            format!("{after} {deviation} {weight}{}", if limited { " limited" } else { "" })
        }
        RatingChange::Unrated(reason) => reason.name().to_owned(),
    }
}

/// The inverse of [`rating_change_text`].
fn rating_change(text: &str) -> Result<RatingChange, ReadError> {
    if let Some(reason) = UnratedReason::ALL.into_iter().find(|known| known.name() == text) {
        return Ok(RatingChange::Unrated(reason));
    }
    let (numbers, limited) = text.strip_suffix(" limited").map_or((text, false), |numbers| (numbers, true));
    let mut numbers = numbers.split(' ');
    let mut next = || numbers.next().ok_or_else(|| unknown(text));
    let (after, deviation, weight) = (next()?.parse()?, next()?.parse()?, next()?.parse()?);
    Ok(RatingChange::Rated { after, deviation, weight, limited })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(dead_code, reason = "only the checksum is looked at")]
    mod two_columns {
        use super::*;

        game_row! {
            first: i32;
            last: Option<String>, since 11;
        }
    }

    #[test]
    fn a_later_column_changes_no_checksum_of_a_row_without_it() {
        let of = |first, last| two_columns::GameRow { first, last }.checksum();
        assert_eq!(of(7, None), crc32fast::hash(&7_i64.to_le_bytes()), "as before the column");
        let empty = Some(String::new());
        assert_ne!(of(7, empty.clone()), of(7, None));
        assert_ne!(of(7, empty), of(7, Some("a".to_owned())));
    }
}
