//! Speed of the rules, the playouts and the searches: `cargo bench --bench engine`, with `perft` for one group.
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// Leaf positions per second: by making every move, and by counting the moves of the last ply.
mod perft {
    use reversi_engine::rules::{Position, perft, perft_counting};

    use super::{Bencher, ItemsCount};

    #[divan::bench(args = [7, 9, 10], sample_count = 5, sample_size = 1)]
    fn making_every_move(bencher: Bencher, depth: u8) {
        let leaves = perft_counting(Position::START, depth);
        bencher.counter(ItemsCount::new(leaves)).bench(|| perft(divan::black_box(Position::START), depth));
    }

    #[divan::bench(args = [7, 9, 10], sample_count = 5, sample_size = 1)]
    fn counting_the_last_ply(bencher: Bencher, depth: u8) {
        let leaves = perft_counting(Position::START, depth);
        bencher.counter(ItemsCount::new(leaves)).bench(|| perft_counting(divan::black_box(Position::START), depth));
    }
}

/// Random and `roxanne` playouts from the start.
mod playout {
    use reversi_engine::ai::{RandomGame, Reversi, RoxanneGame, seeded_rng};
    use reversi_engine::rules::Position;
    use reversi_engine::search::Playout;

    use super::Bencher;

    #[divan::bench]
    fn random(bencher: Bencher) {
        play_out(bencher, RandomGame);
    }

    #[divan::bench]
    fn roxanne(bencher: Bencher) {
        play_out(bencher, RoxanneGame);
    }

    fn play_out(bencher: Bencher, playout: impl Playout<Reversi> + Sync) {
        let mut rng = seeded_rng(1);
        bencher.bench_local(|| playout.play_out(divan::black_box(&Position::START), &mut rng));
    }
}

/// Positions visited per second by the searching players, 20 plies into a game.
mod node {
    use reversi_engine::ai::{AiKind, AiPlayer};
    use reversi_engine::rules::{Position, Transcript, opening};
    use reversi_engine::search::Stop;

    use super::{Bencher, ItemsCount};

    #[divan::bench(args = [4, 6], sample_count = 10, sample_size = 1)]
    fn alphabeta(bencher: Bencher, level: u8) {
        choose(bencher, AiKind::AlphaBeta, level);
    }

    #[divan::bench(args = [4, 6], sample_count = 10, sample_size = 1)]
    fn positional(bencher: Bencher, level: u8) {
        choose(bencher, AiKind::Positional, level);
    }

    #[divan::bench(args = [7, 10], sample_count = 5, sample_size = 1)]
    fn mcts(bencher: Bencher, level: u8) {
        choose(bencher, AiKind::Mcts, level);
    }

    #[divan::bench(args = [7, 10], sample_count = 5, sample_size = 1)]
    fn mcts_roxanne(bencher: Bencher, level: u8) {
        choose(bencher, AiKind::MctsRoxanne, level);
    }

    fn choose(bencher: Bencher, kind: AiKind, level: u8) {
        let player = AiPlayer::new(kind, level).expect("the level exists");
        let position = middle();
        let stop = Stop::new();
        let nodes = player.choose(position, 1, &stop).map_or(0, |choice| choice.nodes);
        bencher.counter(ItemsCount::new(nodes)).bench_local(|| player.choose(divan::black_box(position), 1, &stop));
    }

    fn middle() -> Position {
        Transcript::from_squares(opening::random(20, 3)).expect("an opening is legal").position()
    }
}
