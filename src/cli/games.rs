//! `reversi games`: lists and exports finished games, and prints results and ratings.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow};

use super::{
    connect::{
        check_ai, find_player, find_tournament,
        login::{LoginOptions, Visitor},
        server_address::Address,
    },
    say,
    terminal::interrupt::until_output_fails,
    text::{date::date, json},
};
use crate::{
    ai::AiKind,
    client::{
        ClientError, ExportFormat, GameFilter, GameRecord, GameResult, Incoming, OpponentStats, Participant,
        ParticipantKind, Player, RankedParticipant, Rating, RatingChange, Reader, RoomId, Stats,
    },
    room,
    rules::Color,
};

/// Number of games of a page.
const PAGE_SIZE: u32 = 200;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi games                                  the latest games\n  \
    reversi games --player ada --ids               those of one player, with ids\n  \
    reversi games --export json --out games.jsonl  all of them, an object a line\n  \
    reversi games --opening Tiger --min-rating 1800\n  \
    reversi games --tournament Cup                 those of a tournament\n  \
    reversi games --ranking human                  the highest ratings of people\n  \
    reversi games --stats ada                      results and rating of a player\n  \
    reversi games --stats mcts:5                   and of an AI at a level")]
pub(super) struct Args {
    /// Only games of this player.
    #[arg(long, value_name = "NAME_OR_ID")]
    player: Option<String>,
    /// Only games of this room.
    #[arg(long, value_name = "ID", value_parser = room)]
    room: Option<RoomId>,
    /// Only games of this tournament, by its id or name.
    #[arg(long, value_name = "NAME_OR_ID")]
    tournament: Option<String>,
    /// Only games with a participant of this kind.
    #[arg(long, value_name = "KIND")]
    kind: Option<KindFilter>,
    /// Only games with this result.
    #[arg(long, value_name = "RESULT")]
    result: Option<ResultFilter>,
    /// Only rated games.
    #[arg(long)]
    rated: bool,
    /// Only games of a player rated at least this before the game.
    #[arg(long, value_name = "N")]
    min_rating: Option<u16>,
    /// Only games of this opening, by its English name, such as Tiger.
    #[arg(long, value_name = "NAME")]
    opening: Option<String>,
    /// How many to list, from the newest.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    most: u32,
    /// Write all of them in this format, a line each.
    #[arg(long, value_name = "FORMAT", conflicts_with = "stats")]
    export: Option<GameFormat>,
    /// With --export: write to this file; `-` is standard output.
    #[arg(long, value_name = "FILE", requires = "export")]
    out: Option<PathBuf>,
    /// Results and rating of a player or an AI; without a name your own, by --keep.
    #[arg(long, value_name = "PLAYER_OR_AI:LEVEL", num_args = 0..=1, default_missing_value = "")]
    stats: Option<String>,
    /// The players and AIs with the highest ratings, or those of one kind; --most says how many.
    #[arg(long, value_name = "KIND", num_args = 0..=1, conflicts_with_all = ["export", "stats"])]
    ranking: Option<Option<KindFilter>>,
    /// With --ranking: also provisional ratings, those after few games.
    #[arg(long, requires = "ranking")]
    provisional: bool,
    /// Show the ids of the players: --player and --stats find a player by id even after a log-out.
    #[arg(long, conflicts_with_all = ["json", "export", "stats"])]
    ids: bool,
    /// Print JSON: an object a line for each game, or one for --stats.
    #[arg(long, conflicts_with = "export")]
    json: bool,
    #[command(flatten)]
    server: Address,
    #[command(flatten)]
    login: LoginOptions,
}

fn room(text: &str) -> Result<RoomId, &'static str> {
    let id = text.parse::<room::RoomId>().ok().and_then(|id| id.to_string().parse().ok());
    id.ok_or("a room's id has 12 letters and digits, as 7k2m9x4q1c0d")
}

/// The kind of a participant.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum KindFilter {
    /// A person.
    Human,
    /// A program that has logged in.
    Bot,
    /// An AI of the server.
    Ai,
}

impl From<KindFilter> for ParticipantKind {
    fn from(kind: KindFilter) -> Self {
        match kind {
            KindFilter::Human => Self::Human,
            KindFilter::Bot => Self::Bot,
            KindFilter::Ai => Self::Ai,
        }
    }
}

/// The result of a game.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ResultFilter {
    /// Black has won.
    Black,
    /// White has won.
    White,
    /// A draw.
    Draw,
    /// Aborted.
    Aborted,
}

impl From<ResultFilter> for GameResult {
    fn from(result: ResultFilter) -> Self {
        match result {
            ResultFilter::Black => Self::Won(Color::Black),
            ResultFilter::White => Self::Won(Color::White),
            ResultFilter::Draw => Self::Draw,
            ResultFilter::Aborted => Self::Aborted,
        }
    }
}

/// How exported games are written.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum GameFormat {
    /// f5d6c3...
    Transcript,
    /// The Generic Game Format.
    Ggf,
    /// An object of JSON.
    Json,
}

impl From<GameFormat> for ExportFormat {
    fn from(format: GameFormat) -> Self {
        match format {
            GameFormat::Transcript => Self::Transcript,
            GameFormat::Ggf => Self::Ggf,
            GameFormat::Json => Self::Json,
        }
    }
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let visitor = Visitor::enter(&args.server, &args.login).await?;
    let done = until_output_fails(print(&visitor, args)).await;
    visitor.leave().await;
    done
}

async fn print(visitor: &Visitor, args: Args) -> anyhow::Result<()> {
    let reader = &visitor.reader();
    if let Some(name) = &args.stats {
        return print_stats(visitor, name, &args).await;
    }
    if let Some(kind) = args.ranking {
        return print_ranking(reader, kind.map(Into::into), &args).await;
    }
    let player = match &args.player {
        Some(player) => Some(find_player::find(reader, player).await?),
        None => None,
    };
    let tournament = match &args.tournament {
        Some(tournament) => Some(find_tournament::find(reader, tournament).await?.0),
        None => None,
    };
    let filter = GameFilter {
        room: args.room.clone(),
        tournament,
        player,
        kind: args.kind.map(Into::into),
        result: args.result.map(Into::into),
        rated: args.rated.then_some(true),
        min_rating: args.min_rating,
        opening: args.opening.clone(),
        ..GameFilter::default()
    };
    match args.export {
        Some(format) => export(reader, filter, format.into(), args.out.as_deref()).await,
        None => list(reader, filter, args.most, args.json, args.ids).await,
    }
}

/// Lists at most `most` games, with the ids of the players or as JSON.
pub(super) async fn list(
    reader: &Reader,
    filter: GameFilter,
    most: u32,
    as_json: bool,
    ids: bool,
) -> anyhow::Result<()> {
    let (mut left, mut next) = (most, None);
    loop {
        let page = reader.list_games(filter.clone(), left.clamp(1, PAGE_SIZE), next).await;
        let page = page.context("cannot list the games")?;
        if left == most && page.items.is_empty() && page.next.is_none() && !as_json {
            say("no finished games");
        }
        for game in page.items.iter().take(usize::try_from(left)?) {
            if as_json {
                say(json::game(game));
            } else {
                say(line(game, ids));
            }
        }
        left = left.saturating_sub(u32::try_from(page.items.len())?);
        next = page.next;
        if left == 0 || next.is_none() {
            return Ok(());
        }
    }
}

fn name(participant: &Participant, ids: bool) -> String {
    match participant {
        Participant::Player(player) if ids => format!("{} ({})", player.name, player.id),
        participant => participant.to_string(),
    }
}

pub(super) fn line(game: &GameRecord, ids: bool) -> String {
    let (black, white) = (name(&game.players.black, ids), name(&game.players.white, ids));
    let rated = if game.rated { format!(", rated{}", rating_changes(game)) } else { String::new() };
    let opening = game.opening.as_ref().map(|opening| format!(", {opening}")).unwrap_or_default();
    format!("{:16} {} {black} - {white}: {}{rated}{opening}", game.id, date(game.ended_at), game.outcome)
}

/// As " +12 -12", with the points of black first, or with the reason of a side whose rating has not changed.
fn rating_changes(game: &GameRecord) -> String {
    let text = |side: &str, change: RatingChange| match change.points() {
        Some(points) => format!(" {points:+}"),
        None => format!(" ({side}{change})"),
    };
    match (game.rating_changes.black, game.rating_changes.white) {
        (Some(black), Some(white)) if black == white && black.points().is_none() => text("", black),
        (black, white) => {
            let [black, white] = [("black ", black), ("white ", white)].map(|(side, change)| Some(text(side, change?)));
            black.into_iter().chain(white).collect()
        }
    }
}

async fn export(reader: &Reader, filter: GameFilter, format: ExportFormat, out: Option<&Path>) -> anyhow::Result<()> {
    let games = reader.export_games(filter, format).await.context("cannot export the games")?;
    write_lines(games, |(_, line)| line, "games", out).await
}

/// Writes the lines of an export to a file, and then says how many of `what` it has, or to standard output.
pub(super) async fn write_lines<T: 'static>(
    mut lines: Incoming<T>,
    line: fn(T) -> String,
    what: &str,
    out: Option<&Path>,
) -> anyhow::Result<()> {
    let Some(out) = out.filter(|out| *out != Path::new("-")) else {
        while let Some(item) = lines.next().await {
            say(line(item.context("the export was cut short")?));
        }
        return Ok(());
    };
    let broken = || format!("cannot write {}", out.display());
    let mut file = BufWriter::new(File::create(out).with_context(broken)?);
    let mut count = 0_u64;
    while let Some(item) = lines.next().await {
        let item = item.with_context(|| format!("the export to {} was cut short", out.display()))?;
        writeln!(file, "{}", line(item)).with_context(broken)?;
        count += 1;
    }
    file.flush().with_context(broken)?;
    say(format_args!("{count} {what} are in {}", out.display()));
    Ok(())
}

/// What a rating means.
const RATING_SCALE: &str = "1000 is play at random; with 200 points more one scores 3 of 4 against the other; \
    expert 1, 3, 6, 9 and 13 are measured and never change";

async fn print_ranking(reader: &Reader, kind: Option<ParticipantKind>, args: &Args) -> anyhow::Result<()> {
    let (mut left, mut next) = (args.most, None);
    loop {
        let page = reader
            .ratings(kind, args.provisional, left.clamp(1, PAGE_SIZE), next)
            .await
            .context("cannot rank the players")?;
        if left == args.most && page.items.is_empty() && !args.json {
            say(if args.provisional {
                "no one who is logged in has a rating"
            } else {
                "no one who is logged in has a rating that is no longer provisional; --provisional lists the others, too"
            });
        }
        for ranked in page.items.iter().take(usize::try_from(left)?) {
            if args.json {
                say(json::stats(json::participant(&ranked.participant), &ranked.stats));
            } else {
                say(ranking_line(ranked, args.ids));
            }
        }
        left = left.saturating_sub(u32::try_from(page.items.len())?);
        next = page.next;
        if left == 0 || next.is_none() {
            if !args.json {
                say(RATING_SCALE);
            }
            return Ok(());
        }
    }
}

fn ranking_line(RankedParticipant { rank, participant, stats }: &RankedParticipant, ids: bool) -> String {
    let name = name(participant, ids);
    let Some(Rating { value, deviation, games, provisional }) = stats.rating else { return format!("{rank:5} {name}") };
    let mark = if provisional { "?" } else { "" };
    format!("{rank:5} {value:5.0}{mark}, give or take {:3.0}, after {games:5} games  {name}", 2.0 * deviation)
}

async fn print_stats(visitor: &Visitor, who: &str, args: &Args) -> anyhow::Result<()> {
    let reader = &visitor.reader();
    let (name, object, stats) = match who.split_once(':') {
        Some(_) => {
            let ai = check_ai::check(who, None)?;
            let object = json::ai(&ai);
            let stats = reader.ai_stats(ai).await.with_context(|| format!("there are no results of {who}"))?;
            (format!("AI {who}"), object, stats)
        }
        None if who.is_empty() => {
            let session = visitor.session().filter(|_| args.login.keep.is_some());
            let session =
                session.context("whose results? name a player, as `--stats ada`, or your login, by --keep FILE")?;
            let me = session.me().await?;
            (with_version(&me.player), json::player(&me.player), me.stats)
        }
        None => {
            let player = find_player::find(reader, who).await.map_err(|error| explain_ai(error, who))?;
            let (player, stats) =
                reader.stats(&player).await.with_context(|| format!("there are no results of {who}"))?;
            (with_version(&player), json::player(&player), stats)
        }
    };
    if args.json {
        say(json::stats(object, &stats));
    } else {
        summary(&name, &stats).iter().for_each(say);
    }
    Ok(())
}

/// The error for the name of an AI without its level, if no player has that name.
fn explain_ai(error: anyhow::Error, who: &str) -> anyhow::Error {
    match who.parse::<AiKind>() {
        Ok(kind) if !error.is::<ClientError>() => {
            let level = kind.profile().default_level;
            anyhow!("the results of an AI are by level: name it as well, as `--stats {kind}:{level}`")
        }
        _ => error,
    }
}

/// The name of a player, with the version of its engine.
pub(super) fn with_version(player: &Player) -> String {
    let Player { name, engine_version, .. } = player;
    if engine_version.is_empty() { name.clone() } else { format!("{name} ({engine_version})") }
}

pub(super) fn summary(name: &str, stats: &Stats) -> [String; 5] {
    let score =
        |what: &str, OpponentStats { won, drawn, lost }| format!("  {what:15} {won} won, {drawn} drawn, {lost} lost");
    let all = OpponentStats { won: stats.won, drawn: stats.drawn, lost: stats.lost };
    let rating = match stats.rating {
        Some(Rating { value, deviation, games, provisional }) => {
            let mark = if provisional { "? (provisional)" } else { "" };
            let games = if games == 1 { "1 game".to_owned() } else { format!("{games} games") };
            format!("rated {value:.0}{mark}, give or take {:.0}, after {games}", 2.0 * deviation)
        }
        None => "not rated yet".to_owned(),
    };
    [
        format!("{name}: {rating}"),
        score("all games", all),
        score("against people", stats.humans),
        score("against bots", stats.bots),
        score("against AIs", stats.ais),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_shows_the_deviation_of_a_rating() {
        let rating = Rating { value: 1662.3, deviation: 145.2, games: 3, provisional: true };
        let stats = Stats {
            played: 3,
            won: 2,
            lost: 1,
            ais: OpponentStats { won: 2, drawn: 0, lost: 1 },
            rating: Some(rating),
            ..Stats::default()
        };
        let text = summary("ada", &stats);
        assert_eq!(text[0], "ada: rated 1662? (provisional), give or take 290, after 3 games");
        assert_eq!(text[4], "  against AIs     2 won, 0 drawn, 1 lost");
        let once = Stats { rating: Some(Rating { games: 1, ..rating }), ..Stats::default() };
        assert!(summary("bob", &once)[0].ends_with("after 1 game"));
        assert_eq!(summary("eve", &Stats::default())[0], "eve: not rated yet");
    }
}
