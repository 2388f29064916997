//! `reversi tournament export`: a whole tournament as text.

use std::path::PathBuf;

use anyhow::Context as _;

use crate::{
    cli::{
        connect::{find_tournament, login::LoginOptions},
        games,
        terminal::interrupt::until_output_fails,
    },
    client::{Reader, v1::TournamentFormat},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi tournament export Cup --out cup.jsonl\n  \
    reversi tournament export Cup --format trf   for other programs")]
pub(super) struct Args {
    /// Id or name of the tournament.
    tournament: String,
    /// How it is written.
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: Format,
    /// Write to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) login: LoginOptions,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// Objects of JSON, a line each: tournament, standing, meeting, game.
    Json,
    /// The games in the Generic Game Format.
    Ggf,
    /// The report file of FIDE, not of an arena.
    Trf,
}

pub(super) async fn run(reader: &Reader, args: Args) -> anyhow::Result<()> {
    let (id, _) = find_tournament::find(reader, &args.tournament).await?;
    let format = match args.format {
        Format::Json => TournamentFormat::Json,
        Format::Ggf => TournamentFormat::Ggf,
        Format::Trf => TournamentFormat::Trf,
    };
    let lines = reader.export_tournament(&id, format).await.context("cannot export the tournament")?;
    until_output_fails(games::write_lines(lines, |line| line, "lines", args.out.as_deref())).await
}
