use sha2::{Digest as _, Sha256};

use crate::{
    room::{
        DisplayName, EndReason, GameEnd, GameId, GameRecord, Participant, PlayerId, PlayerKind, Ply, Profile, RoomId,
        RoomName, TimeControl, Timestamp,
        ggf::{GgfClock, GgfGame, GgfResult, read_date},
    },
    rules::{ByColor, Color, Outcome, Position, Transcript},
};

/// A game as its file describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ImportedGame {
    /// As in a file that this program wrote.
    pub(super) id: Option<GameId>,
    /// Empty if unknown.
    pub(super) place: String,
    /// As in the file; empty if unknown.
    pub(super) date: String,
    /// Names; empty if unknown.
    pub(super) players: ByColor<String>,
    /// Every ply from the standard start.
    pub(super) plies: Vec<Ply>,
    pub(super) clock: Option<GgfClock>,
    /// The result, needed if the moves do not end the game.
    pub(super) result: Option<GgfResult>,
    /// The file name, used if the place is unknown.
    pub(super) source: String,
}

impl ImportedGame {
    /// A game with no data but its moves.
    pub(super) fn of(transcript: &Transcript) -> Self {
        let mut plies = Vec::with_capacity(transcript.squares().len());
        for (position, &square) in transcript.positions().zip(transcript.squares()) {
            plies.push(Ply { square: Some(square), spent_ms: 0 });
            if position.play_unchecked(square).must_pass() {
                plies.push(Ply { square: None, spent_ms: 0 });
            }
        }
        Self { plies, ..Self::default() }
    }

    /// Fails if the game does not begin at the standard start.
    pub(super) fn read(game: GgfGame) -> Result<Self, String> {
        if game.start != Position::START {
            return Err("it does not begin at the usual start".to_owned());
        }
        let GgfGame { id, place, date, players, plies, clock, result, .. } = game;
        Ok(Self { id, place, date, players, plies, clock, result, source: String::new() })
    }

    /// The game as a record, whose id is a hash.
    pub(super) fn into_record(self) -> Result<GameRecord, String> {
        if self.plies.is_empty() {
            return Err("it has no moves".to_owned());
        }
        let position = self.position()?;
        let at = read_date(&self.date).unwrap_or(Timestamp::UNKNOWN);
        let result = self.result.filter(|_| !position.is_over());
        let place = if self.place.trim().is_empty() { &self.source } else { &self.place };
        let id = GameId { room: RoomId::from_random(self.hash()), number: 1 };
        let place = name(place, RoomName::MAX, |text| RoomName::parse(text).ok()).ok_or("it has no place")?;
        let players = ByColor::new(participant(&self.players.black)?, participant(&self.players.white)?);
        Ok(GameRecord {
            started: at,
            ended: at,
            margin: result.map(|result| result.margin),
            time: TimeControl {
                per_move: None,
                total: self.clock.map(|clock| clock.main),
                increment: self.clock.map_or_else(Default::default, |clock| clock.increment),
            },
            ..GameRecord::of_moves(id, place, players, end(position, result), self.plies, position)
        })
    }

    fn position(&self) -> Result<Position, String> {
        self.plies.iter().try_fold(Position::START, |position, ply| match ply.square {
            Some(square) => position.play(square).map_err(|error| error.to_string()),
            None => position.pass().ok_or_else(|| "a pass in it is not forced".to_owned()),
        })
    }

    /// A hash of the game's data, the same in any file.
    fn hash(&self) -> u64 {
        let moves: String = self.plies.iter().filter_map(|ply| ply.square).map(|square| square.to_string()).collect();
        hash(&[&self.place, &self.date, &self.players.black, &self.players.white, &moves])
    }
}

/// The end by the moves, or else by the file's result. A game without either has no winner.
fn end(position: Position, result: Option<GgfResult>) -> GameEnd {
    if let Some(Outcome { winner, .. }) = position.outcome() {
        return GameEnd { winner, reason: EndReason::Discs };
    }
    let Some(GgfResult { margin, reason }) = result else {
        return GameEnd { winner: None, reason: EndReason::Aborted };
    };
    match (margin.signum(), reason) {
        (0, _) => GameEnd { winner: None, reason: EndReason::Agreed },
        (sign, reason) => {
            let winner = Some(if sign > 0 { Color::Black } else { Color::White });
            // A score of a game that was not over by discs, and no reason.
            let reason = if reason == EndReason::Discs { EndReason::Agreed } else { reason };
            GameEnd { winner, reason }
        }
    }
}

/// A player without an account. Equal names get the same id, and names that only look equal, as they are cut or have
/// characters that cannot be shown, others.
fn participant(text: &str) -> Result<Participant, String> {
    let known = if text.trim().is_empty() { "unknown" } else { text };
    let name = name(known, DisplayName::MAX, |text| DisplayName::parse(text).ok()).ok_or("a player has no name")?;
    let key = name.key();
    let id = if DisplayName::parse(known).is_ok() { hash(&["player", &key]) } else { hash(&["player", &key, known]) };
    let id = PlayerId::from_random(id);
    Ok(Participant::Player(Profile { id, name, kind: PlayerKind::Human, engine_version: None }))
}

/// Any text as a name, cut to `max` characters.
fn name<T>(text: &str, max: usize, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let clean = |max: usize| {
        let letters = text.trim().chars().filter(|letter| !letter.is_control()).take(max);
        parse(letters.collect::<String>().trim())
    };
    // Some characters become several when normalised.
    clean(max).or_else(|| clean(max / 4)).or_else(|| parse("unknown"))
}

fn hash(parts: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let digest: [u8; 32] = hash.finalize().into();
    digest.iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::room::ggf;

    fn record(tags: &str) -> GameRecord {
        let game = ggf::read(&format!("(;GM[Othello]{tags};)")).unwrap();
        ImportedGame::read(game).unwrap().into_record().unwrap()
    }

    #[test]
    fn a_game_is_imported_with_its_tags() {
        let game = record("PC[Cambridge]DT[2004-10-28]PB[Tamenori\u{7}]PW[]TI[5:00/0:03]RE[+10:r]B[f5//1.5]W[d6]");
        assert_eq!((game.room_name.as_str(), game.started), ("Cambridge", read_date("2004-10-28").unwrap()));
        let name = |side| match &game.players[side] {
            Participant::Player(profile) => profile.name.to_string(),
            Participant::Ai(_) => String::new(),
        };
        assert_eq!((name(Color::Black).as_str(), name(Color::White).as_str()), ("Tamenori", "unknown"));
        assert_eq!(game.end, GameEnd { winner: Some(Color::Black), reason: EndReason::Resignation });
        assert_eq!((game.plies[0].spent_ms, game.time.total.map(|time| time.as_secs())), (1500, Some(300)));
        assert!(!game.rated && !game.private);
    }

    #[test]
    fn the_given_result_counts_if_the_moves_do_not_decide() {
        let end = |tags| record(tags).end;
        let won = |winner, reason| GameEnd { winner, reason };
        assert_eq!(end("B[f5]"), won(None, EndReason::Aborted));
        assert_eq!(end("RE[-12]B[f5]"), won(Some(Color::White), EndReason::Agreed));
        assert_eq!(end("RE[+2:t]B[f5]"), won(Some(Color::Black), EndReason::Timeout));
        assert_eq!(end("RE[+0:s]B[f5]"), won(None, EndReason::Agreed));
        for (result, written) in [
            ("+10:s", "+10.000:s"),
            ("-12", "-12.000:s"),
            ("+0", "+0.000:s"),
            ("-16:r", "-16.000:r"),
            ("-2:t", "-2.000:t"),
            ("?", "?"),
        ] {
            let line = ggf::write(&record(&format!("RE[{result}]B[f5]")));
            assert!(line.contains(&format!("RE[{written}]")), "{result}: {line}");
        }
        let over = "RE[-64:t]B[e6]W[f4]B[e3]W[f6]B[g5]W[d6]B[e7]W[f5]B[c5]";
        assert_eq!(end(over), won(Some(Color::Black), EndReason::Discs));
    }

    #[test]
    fn the_same_game_and_player_get_the_same_id() {
        let one = record("PB[Ada]PW[Bob]B[f5]");
        assert_eq!(record("PB[Ada]PW[Bob]TI[9]B[f5//3]").id, one.id);
        let undated = record("PB[Ada]PW[Bob]DT[]B[f5]");
        assert_eq!((undated.started, undated.ended), (Timestamp::UNKNOWN, Timestamp::UNKNOWN));
        assert!(ggf::write(&undated).contains("DT[]"));
        for other in ["PB[Ada]PW[Bob]B[f5]W[d6]", "PB[Bob]PW[Ada]B[f5]", "PB[Ada]PW[Bob]DT[1999]B[f5]"] {
            assert_ne!(record(other).id, one.id);
        }
        assert_eq!(record("PB[ADA]PW[x]B[d3]").players.black.clone(), {
            let Participant::Player(profile) = one.players.black else { panic!("a player") };
            Participant::Player(Profile { name: DisplayName::parse("ADA").unwrap(), ..profile })
        });
    }

    #[test]
    fn players_whose_names_only_look_equal_are_told_apart() {
        let id = |name: &str| participant(name).unwrap().id();
        let long = "x".repeat(DisplayName::MAX);
        let names =
            ["A", "A\u{80}", "A\u{81}", "A\u{7}", &long, &format!("{long}1"), &format!("{long}2"), "", "\u{80}"];
        for (index, one) in names.iter().enumerate() {
            for other in &names[index + 1..] {
                assert_ne!(id(one), id(other), "{one:?} {other:?}");
            }
        }
        assert_eq!((id(" a "), id("Jose\u{301}")), (id("A"), id("Jos\u{e9}")));
    }

    #[test]
    fn games_that_cannot_be_stored_are_refused() {
        let board = format!("BO[8 -O*{} *]", "-".repeat(61));
        let game = ggf::read(&format!("(;{board}B[a1];)")).unwrap();
        assert!(ImportedGame::read(game).unwrap_err().contains("usual start"));
        assert!(ImportedGame::of(&Transcript::new()).into_record().unwrap_err().contains("no moves"));
    }

    proptest! {
        #[test]
        fn any_name_can_be_stored(place in ".{0,60}", black in ".{0,60}", date in ".{0,30}") {
            let players = ByColor::new(black, "\u{fdfa}".repeat(30));
            let played = ImportedGame { place, date, players, ..ImportedGame::of(&"f5".parse().unwrap()) };
            prop_assert!(played.into_record().is_ok());
        }
    }
}
