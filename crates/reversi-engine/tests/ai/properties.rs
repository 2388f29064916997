//! Properties of every computer player in every position, and of search on Reversi.
use std::collections::BTreeSet;

use proptest::prelude::*;
use reversi_engine::ai::{
    AiKind, AiPlayer, Choice, LastSquare, Orange, Placed, Reversi, ReversiByPlacement, cheap_move, seeded_rng,
};
use reversi_engine::rules::Position;
use reversi_engine::search::{
    AlphaBeta, Budget, Cache, Game, Heuristic, NoCache, Stop, Transpositions, WindowCache, minimax,
};

/// The positions of random games, including those with a forced pass and of finished games.
fn any_position() -> impl Strategy<Value = Position> {
    prop::collection::vec(any::<u8>(), 0..60).prop_map(|choices| {
        choices.into_iter().fold(Position::START, |position, choice| {
            let position = position.after_forced_pass().0;
            let moves: Vec<_> = position.legal_moves().iter().collect();
            match moves.get(usize::from(choice) % moves.len().max(1)) {
                Some(&square) => position.play_unchecked(square),
                None => position,
            }
        })
    })
}

/// Every player at a level fast enough for hundreds of positions.
fn quick_players() -> impl Iterator<Item = AiPlayer> {
    AiKind::ALL.into_iter().map(|kind| {
        let level = kind.profile().levels.min(2);
        AiPlayer::new(kind, level).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_player_gives_a_legal_move_and_the_same_for_the_same_seed(position in any_position(), seed: u64) {
        for player in quick_players() {
            is_legal_and_the_same_again(player, position, seed)?;
        }
        if !position.legal_moves().is_empty() {
            prop_assert!(position.legal_moves().contains(cheap_move(position, seed)));
        }
    }

    #[test]
    fn a_player_stopped_before_its_start_gives_a_legal_move(position in any_position(), seed: u64) {
        let stop = Stop::new();
        stop.stop();
        for kind in AiKind::ALL {
            let player = AiPlayer::new(kind, kind.profile().levels).unwrap();
            let choice = player.choose(position, seed, &stop);
            prop_assert_eq!(choice.is_none(), position.legal_moves().is_empty());
            let is_unsearched = |choice: Choice| position.legal_moves().contains(choice.square) && choice.nodes == 0;
            prop_assert!(choice.is_none_or(is_unsearched));
        }
    }

    #[test]
    fn every_search_of_reversi_has_the_value_and_the_moves_of_the_oracle(position in any_position(), depth in 1..5_u8) {
        let state = position.after_forced_pass().0;
        equals_the_oracle::<Reversi, _, _>(AlphaBeta::plain(Orange), Orange, state, depth)?;
        equals_the_oracle::<Reversi, _, _>(AlphaBeta::deepening(Orange, NoCache), Orange, state, depth)?;
        for bits in [3, 12] {
            let searcher = AlphaBeta::deepening(Orange, Transpositions::with_bits(bits));
            equals_the_oracle::<Reversi, _, _>(searcher, Orange, state, depth)?;
        }
        let searcher = AlphaBeta::deepening(Orange, WindowCache::with_bits(12));
        equals_the_oracle::<Reversi, _, _>(searcher, Orange, state, depth)?;
        let state = Placed { position: state, last: None };
        equals_the_oracle::<ReversiByPlacement, _, _>(AlphaBeta::plain(LastSquare), LastSquare, state, depth)?;
        let searcher = AlphaBeta::deepening(LastSquare, NoCache);
        equals_the_oracle::<ReversiByPlacement, _, _>(searcher, LastSquare, state, depth)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_level_of_the_expert_gives_a_legal_move_and_the_same_for_the_same_seed(
        position in any_position(),
        seed: u64,
    ) {
        for level in [1, 5, 8, 10, 12] {
            is_legal_and_the_same_again(AiPlayer::new(AiKind::Expert, level).unwrap(), position, seed)?;
        }
    }
}

fn is_legal_and_the_same_again(player: AiPlayer, position: Position, seed: u64) -> Result<(), TestCaseError> {
    let stop = Stop::new();
    let choice = player.choose(position, seed, &stop);
    prop_assert_eq!(&choice, &player.choose(position, seed, &stop), "{:?}", player);
    prop_assert_eq!(choice.is_none(), position.legal_moves().is_empty(), "{:?}", player);
    if let Some(choice) = choice {
        prop_assert!(position.legal_moves().contains(choice.square), "{:?}", player);
        prop_assert!(choice.complete, "{:?}", player);
    }
    Ok(())
}

fn equals_the_oracle<G, H, C>(
    mut searcher: AlphaBeta<H, C>,
    heuristic: H,
    state: G::State,
    depth: u8,
) -> Result<(), TestCaseError>
where
    G: Game,
    H: Heuristic<G>,
    C: Cache<G::State, G::Move>,
{
    let expected = minimax::<G>(&state, &heuristic, depth);
    let mut rng = seeded_rng(1);
    let mut chosen = BTreeSet::new();
    for _ in 0..10 {
        let found = searcher.search::<G>(&state, &Budget::of_depth(depth), &mut rng);
        prop_assert_eq!(found.and_then(|found| found.value), expected.as_ref().map(|valued| valued.value));
        chosen.extend(found.map(|found| format!("{:?}", found.best)));
    }
    let best: BTreeSet<_> =
        expected.iter().flat_map(|valued| &valued.best).map(|action| format!("{action:?}")).collect();
    prop_assert!(chosen.is_subset(&best), "{chosen:?} of {best:?}");
    prop_assert!(best.is_empty() || chosen.len() > 1 || best.len() < 4, "chosen at random among {best:?}");
    Ok(())
}
