//! One game of the arena.

use super::player::{ArenaPlayer, PlayingEngine};
use crate::{
    match_statistics::Points,
    rules::{ByColor, Color, SplitMix64, Square, Transcript},
    search::Stop,
};

/// A finished game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArenaGame {
    /// All moves, including the opening's.
    pub(super) moves: Transcript,
    /// Number of moves of the opening.
    pub(super) opening: usize,
    /// The winner; `None` for a draw.
    pub(super) winner: Option<Color>,
    /// The error by which a side lost, whatever the discs.
    pub(super) fault: Option<String>,
}

/// A player on one thread, started for its first game and after each failure.
pub(super) struct ArenaSeat<'a> {
    player: &'a ArenaPlayer,
    ended: &'a Stop,
    engine: Option<Box<PlayingEngine>>,
}

impl ArenaGame {
    /// Plays from the opening to the end; `None` if `ended` was set before that.
    pub(super) fn play(
        seats: &mut ByColor<&mut ArenaSeat<'_>>,
        opening: Transcript,
        seed: u64,
        ended: &Stop,
    ) -> Option<Self> {
        let mut game = Self { opening: opening.squares().len(), moves: opening, winner: None, fault: None };
        for side in Color::ALL {
            if let Err(error) = seats[side].ensure_ready() {
                return (!ended.is_stopped()).then(|| game.lost(side, &error));
            }
        }
        while !game.moves.position().is_over() {
            let side = game.moves.position().turn();
            let chosen = seats[side].choose(&game.moves, seed);
            if ended.is_stopped() {
                return None;
            }
            if let Err(error) = chosen.and_then(|square| Ok(game.moves.push(square)?)) {
                seats[side].engine = None;
                return Some(game.lost(side, &error));
            }
        }
        game.winner = game.moves.position().outcome().and_then(|outcome| outcome.winner);
        Some(game)
    }

    fn lost(self, side: Color, error: &anyhow::Error) -> Self {
        Self { winner: Some(side.opposite()), fault: Some(format!("{error:#}")), ..self }
    }

    pub(super) fn points(&self, side: Color) -> Points {
        match self.winner {
            Some(winner) if winner == side => Points::Win,
            Some(_) => Points::Loss,
            None => Points::Draw,
        }
    }
}

impl<'a> ArenaSeat<'a> {
    pub(super) fn new(player: &'a ArenaPlayer, ended: &'a Stop) -> Self {
        Self { player, ended, engine: None }
    }

    fn ensure_ready(&mut self) -> anyhow::Result<()> {
        if self.engine.is_none() {
            self.engine = Some(self.player.ready(self.ended)?);
        }
        Ok(())
    }

    /// Each ply of each game has its own seed.
    fn choose(&mut self, game: &Transcript, seed: u64) -> anyhow::Result<Square> {
        let ply = game.squares().len() as u64;
        let engine = self.engine.as_mut().ok_or_else(|| anyhow::anyhow!("it has not begun"))?;
        engine(game, SplitMix64::new(seed ^ ply).next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays these moves, then fails.
    fn scripted(moves: &'static [&'static str]) -> Box<PlayingEngine> {
        let mut moves = moves.iter();
        Box::new(move |_, _| Ok(moves.next().ok_or_else(|| anyhow::anyhow!("it has ended"))?.parse().unwrap()))
    }

    fn play(black: &'static [&'static str], white: &'static [&'static str]) -> (ArenaGame, bool) {
        let (player, ended) = ("greedy".parse().unwrap(), Stop::new());
        let seat = |moves: &'static [&'static str]| ArenaSeat {
            engine: Some(scripted(moves)),
            ..ArenaSeat::new(&player, &ended)
        };
        let (mut black, mut white) = (seat(black), seat(white));
        let game = ArenaGame::play(&mut ByColor::new(&mut black, &mut white), Transcript::new(), 1, &ended).unwrap();
        (game, white.engine.is_some())
    }

    #[test]
    fn the_shortest_game_is_won_by_discs() {
        let (game, _) = play(&["e6", "e3", "g5", "e7", "c5"], &["f4", "f6", "d6", "f5"]);
        assert_eq!((game.winner, &game.fault), (Some(Color::Black), &None), "{game:?}");
        assert_eq!((game.points(Color::Black), game.points(Color::White)), (Points::Win, Points::Loss));
    }

    #[test]
    fn a_player_that_plays_illegally_or_fails_loses_and_is_reset() {
        let (game, kept) = play(&["f5"], &["a1"]);
        assert_eq!((game.winner, game.moves.to_string().as_str(), kept), (Some(Color::Black), "f5", false));
        assert_eq!(game.fault.as_deref(), Some("white may not move to a1"));
        let (game, kept) = play(&[], &[]);
        assert_eq!((game.winner, game.fault.as_deref(), kept), (Some(Color::White), Some("it has ended"), true));
    }

    #[test]
    fn a_raised_flag_ends_the_game_without_a_result() {
        let (player, ended) = ("greedy".parse().unwrap(), Stop::new());
        ended.stop();
        let (mut black, mut white) = (ArenaSeat::new(&player, &ended), ArenaSeat::new(&player, &ended));
        assert_eq!(ArenaGame::play(&mut ByColor::new(&mut black, &mut white), Transcript::new(), 1, &ended), None);
    }
}
