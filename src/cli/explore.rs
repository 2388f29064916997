//! `reversi explore`: the moves that were played in a position in a server's games.

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::{
    UsageError,
    connect::{
        login::{LoginOptions, Visitor},
        server_address::Address,
    },
    games::{self, KindFilter},
    say,
    text::json,
};
use crate::{
    client::{Exploration, ExploredMove, ExplorerFilter, Reader},
    rules::{Position, Transcript},
};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The first 20 moves of all public games that count are explored. Positions that are equal by symmetry, or \
        with exchanged colors, are one.\n\nExamples:\n  \
        reversi explore                              the first moves\n  \
        reversi explore f5d6c3d3c4                   what was played after these moves\n  \
        reversi explore f5d6 --kind human --min-rating 1700"
)]
pub(super) struct Args {
    /// The moves from the standard start; or a position: 64 characters X, O and -, then a space and X or O for the side
    /// to move. One that begins with - needs -- before it, as `reversi explore -- POSITION`.
    #[arg(value_name = "MOVES|POSITION", default_value = "", hide_default_value = true)]
    position: String,
    /// Only moves of players of this kind.
    #[arg(long, value_name = "KIND")]
    kind: Option<KindFilter>,
    /// Only moves of players rated at least this before the game, rounded down to a multiple of 50.
    #[arg(long, value_name = "N")]
    min_rating: Option<u16>,
    /// Only moves of players rated less than this, rounded up to a multiple of 50.
    #[arg(long, value_name = "N")]
    max_rating: Option<u16>,
    /// Print JSON, one object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: Address,
    #[command(flatten)]
    login: LoginOptions,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let position = read(&args.position)?;
    let visitor = Visitor::enter(&args.server, &args.login).await?;
    let done = print(&visitor.reader(), position, &args).await;
    visitor.leave().await;
    done
}

fn read(text: &str) -> anyhow::Result<Position> {
    let transcript = match text.parse::<Transcript>() {
        Ok(transcript) => return Ok(transcript.position()),
        Err(error) => error,
    };
    match text.parse::<Position>() {
        Ok(position) => Ok(position),
        Err(error) if text.len() > 60 && text.contains('-') => {
            bail!(UsageError(format!("`{text}` is no position: {error}")))
        }
        Err(_) => bail!(UsageError(format!("`{text}` is no list of moves: {transcript}"))),
    }
}

async fn print(reader: &Reader, position: Position, args: &Args) -> anyhow::Result<()> {
    let filter =
        ExplorerFilter { kind: args.kind.map(Into::into), min_rating: args.min_rating, max_rating: args.max_rating };
    let explored = reader.explore(position, filter).await.context("cannot explore the position")?;
    if args.json {
        say(as_json(&explored));
        return Ok(());
    }
    say(explored.opening.as_deref().unwrap_or("an opening without a name"));
    if explored.moves.is_empty() {
        say("no stored game has been here");
        return Ok(());
    }
    say("move           games   won  drawn   lost  rating");
    explored.moves.iter().map(line).for_each(say);
    for (title, games) in [("latest games", &explored.recent), ("games of the best players", &explored.best)] {
        if !games.is_empty() {
            say(format_args!("\n{title}"));
            games.iter().map(|game| games::line(game, false)).for_each(say);
        }
    }
    Ok(())
}

fn line(explored: &ExploredMove) -> String {
    let ExploredMove { squares, games, won, drawn, lost, average_rating, opening } = explored;
    let squares: Vec<_> = squares.iter().map(|square| square.name()).collect();
    let percent = |part: &u32| 100.0 * f64::from(*part) / f64::from((*games).max(1));
    let rating = average_rating.map_or_else(|| "-".to_owned(), |rating| rating.to_string());
    let (won, drawn, lost) = (percent(won), percent(drawn), percent(lost));
    let opening = opening.as_deref().unwrap_or_default();
    let line = format!("{:11} {games:8} {won:4.0}% {drawn:5.0}% {lost:5.0}% {rating:>7}  {opening}", squares.join(" "));
    line.trim_end().to_owned()
}

fn as_json(explored: &Exploration) -> Value {
    let moves = explored.moves.iter().map(|explored| {
        json!({
            "squares": explored.squares.iter().map(|square| square.name()).collect::<Vec<_>>(),
            "games": explored.games,
            "won": explored.won,
            "drawn": explored.drawn,
            "lost": explored.lost,
            "average_rating": explored.average_rating,
            "opening": explored.opening,
        })
    });
    json!({
        "opening": explored.opening,
        "moves": moves.collect::<Vec<_>>(),
        "recent": explored.recent.iter().map(json::game).collect::<Vec<_>>(),
        "best": explored.best.iter().map(json::game).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Bitboard;

    #[test]
    fn moves_and_positions_are_read() {
        assert_eq!(read("").unwrap(), Position::START);
        let after = "f5d6".parse::<Transcript>().unwrap().position();
        assert_eq!(read("f5d6").unwrap(), after);
        assert_eq!(read(&after.to_string()).unwrap(), after);
        assert!(read("f5f5").unwrap_err().to_string().contains("no list of moves"));
        assert!(read(&format!("{} X", "-".repeat(63))).unwrap_err().to_string().contains("no position"));
    }

    #[test]
    fn a_line_shows_results_in_percent() {
        let explored = ExploredMove {
            squares: ["d3", "c4"]
                .iter()
                .map(|name| name.parse::<crate::rules::Square>().unwrap())
                .collect::<Bitboard>(),
            games: 8,
            won: 4,
            drawn: 2,
            lost: 2,
            average_rating: Some(1525),
            opening: Some("Tiger".to_owned()),
        };
        assert_eq!(line(&explored), "d3 c4              8   50%    25%    25%    1525  Tiger");
        let unrated = ExploredMove { average_rating: None, opening: None, ..explored };
        assert_eq!(line(&unrated), "d3 c4              8   50%    25%    25%       -");
    }
}
