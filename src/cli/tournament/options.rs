//! The settings of a tournament as options, and as values by the names of the options.

use std::time::{Duration, SystemTime};

use anyhow::{Context as _, anyhow};
use clap::{Arg, Args as _, Command, FromArgMatches as _, ValueEnum as _};
use toml_edit::{Array, Value};

use crate::{
    cli::{
        UsageError,
        connect::{
            check_ai,
            terms::{Kind, TotalTime},
        },
        text::{date::date, duration::Span, number_error::in_plain_words},
    },
    client::{
        Ai, ClientError, PlayerKind,
        v1::{self, tournament_settings::Format},
    },
    match_statistics::Sprt,
    proto::convert,
    room::Timestamp,
};

/// The name of the tournament in a file; on the command line it is the only word without an option.
const NAME: &str = "name";

#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
#[group(skip)]
pub(super) struct TournamentOptions {
    /// Its name: 1 to 40 characters.
    #[arg(value_name = "NAME")]
    title: Option<String>,
    /// A Swiss tournament of this many rounds: in each, entrants with nearly the same points meet. 0 with --playoff
    /// plays only that.
    #[arg(long, value_name = "ROUNDS", conflicts_with_all = ["all_play_all", "arena"],
        value_parser = clap::value_parser!(u8).range(0..=99))]
    swiss: Option<u8>,
    /// Each entrant meets each other.
    #[arg(long, conflicts_with = "arena")]
    all_play_all: bool,
    /// With --all-play-all: how often; once if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    cycles: Option<u8>,
    /// With --all-play-all: only this player meets the other entrants. May be repeated.
    #[arg(long, value_name = "PLAYER", value_parser = challenger)]
    challenger: Vec<String>,
    /// With --challenger: end the meetings of a challenger as soon as a test (SPRT) accepts one of two differences in Elo to
    /// all its opponents together, such as 0,10.
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true)]
    sprt: Option<Sprt>,
    /// An arena of this duration, as 45m or 2h, at most 31d: free entrants are paired.
    #[arg(long, value_name = "DURATION")]
    arena: Option<Span>,
    /// A knockout of the best 2, 4 or 8 at the end. Not after an arena.
    #[arg(long, value_name = "N", value_parser = playoff)]
    playoff: Option<u8>,
    /// The time of a side for all its moves, in seconds, and what each move adds, as 60+1; a minute for each move if
    /// left out.
    #[arg(long, value_name = "SECONDS+INCREMENT")]
    clock: Option<TotalTime>,
    /// The limit for a move; 0 for none, which needs a clock.
    #[arg(long, value_name = "DURATION")]
    move_limit: Option<Span>,
    /// The games of a meeting; two if left out, with swapped sides and the same opening.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    games: Option<u16>,
    /// Count the games for ratings.
    #[arg(long)]
    rated: bool,
    /// Who may join; all if left out.
    #[arg(long = "for", value_name = "KIND")]
    admits: Option<Kind>,
    /// The lowest rating with which a player may join.
    #[arg(long, value_name = "N")]
    min_rating: Option<u16>,
    /// The highest rating with which a player may join.
    #[arg(long, value_name = "N")]
    max_rating: Option<u16>,
    /// The most entrants, 2 to 1000; 128 if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=1000))]
    max_entrants: Option<u16>,
    /// The most meetings at a time, 1 to 500; 64 if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=500))]
    max_running: Option<u16>,
    /// When it starts, as 2026-12-24T18:00:00Z; if left out, the organiser starts it.
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "starts_in")]
    starts_at: Option<SystemTime>,
    /// After which time it starts, as 30m.
    #[arg(long, value_name = "DURATION")]
    starts_in: Option<Span>,
    /// How long a meeting waits for an entrant who has not come, 10s to 1d; a minute if left out.
    #[arg(long, value_name = "DURATION")]
    no_show: Option<Span>,
    /// Show games to all but their players, and standings to all but the organiser, with this delay, at most 15m.
    #[arg(long, value_name = "DURATION")]
    spectator_delay: Option<Span>,
    /// An AI that plays the entrant with a bye in a Swiss tournament.
    #[arg(long, value_name = "AI", value_parser = check_ai::parse)]
    fills_bye: Option<Ai>,
    /// Enter this AI of the server, with or without its level, as mcts:3. May be repeated.
    #[arg(long, value_name = "AI", value_parser = check_ai::parse)]
    enter: Vec<Ai>,
}

impl TournamentOptions {
    /// The options that are given, by their names.
    pub(super) fn values(&self) -> impl Iterator<Item = (&'static str, Value)> {
        // Without `..`: the compiler reports a field that is not named here.
        #[rustfmt::skip]
        let Self { title, swiss, all_play_all, cycles, challenger, sprt, arena, playoff, clock, move_limit, games, rated, admits,
            min_rating, max_rating, max_entrants, max_running, starts_at, starts_in, no_show, spectator_delay, fills_bye,
            enter } = self;
        let number = |number: Option<u16>| number.map(|number| i64::from(number).into());
        let small = |value: &Option<u8>| number(value.map(u16::from));
        let span = |span: &Option<Span>| span.map(|span| span.to_string().into());
        let kind = admits.and_then(|kind| kind.to_possible_value()).map(|value| value.get_name().into());
        [
            (NAME, title.clone().map(Value::from)),
            ("swiss", small(swiss)),
            ("all-play-all", all_play_all.then(|| true.into())),
            ("cycles", small(cycles)),
            ("challenger", list(challenger.iter().cloned())),
            ("sprt", sprt.map(|sprt| sprt.to_string().into())),
            ("arena", span(arena)),
            ("playoff", small(playoff)),
            ("clock", clock.map(|clock| clock.to_string().into())),
            ("move-limit", span(move_limit)),
            ("games", number(*games)),
            ("rated", rated.then(|| true.into())),
            ("for", kind),
            ("min-rating", number(*min_rating)),
            ("max-rating", number(*max_rating)),
            ("max-entrants", number(*max_entrants)),
            ("max-running", number(*max_running)),
            ("starts-at", starts_at.map(|at| date(Some(at)).into())),
            ("starts-in", span(starts_in)),
            ("no-show", span(no_show)),
            ("spectator-delay", span(spectator_delay)),
            ("fills-bye", fills_bye.as_ref().map(|ai| ai.to_string().into())),
            ("enter", list(enter.iter().map(ToString::to_string))),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }

    /// The options with these names and values.
    ///
    /// # Errors
    /// What is wrong, with the name of the option.
    pub(super) fn from_values<'a>(values: impl Iterator<Item = (&'a str, Value)>) -> Result<Self, String> {
        let command = command();
        let (mut arguments, mut name) = (Vec::new(), None);
        for (key, value) in values {
            match command.get_arguments().find(|option| name_of(option) == key) {
                None => return Err(unknown(&command, key)),
                Some(option) if option.is_positional() => name = Some(text(key, &value)?),
                Some(option) => arguments.extend(self::arguments(option, key, &value)?),
            }
        }
        // What follows these is never taken for an option.
        arguments.extend(name.into_iter().flat_map(|name| ["--".to_owned(), name]));
        let parsed = command.try_get_matches_from(arguments).and_then(|matches| Self::from_arg_matches(&matches));
        parsed.map_err(|error| {
            let shown = in_plain_words(error).to_string();
            let problem = shown.split("\n\n").next().unwrap_or_default();
            problem.strip_prefix("error: ").unwrap_or(problem).to_owned()
        })
    }

    /// These options, and those of `others` which they do not replace.
    pub(super) fn or(&self, others: &Self) -> Result<Self, UsageError> {
        let own: Vec<_> = self.values().collect();
        let others = others.values().filter(|(other, _)| !own.iter().any(|(own, _)| replaces(own, other)));
        Self::from_values(own.iter().cloned().chain(others)).map_err(UsageError)
    }

    pub(super) fn challengers(&self) -> &[String] {
        &self.challenger
    }

    pub(super) fn ais(&self) -> &[Ai] {
        &self.enter
    }

    /// The options that make these settings; none for what has no option.
    pub(super) fn of(settings: &v1::TournamentSettings) -> anyhow::Result<Self> {
        let number = |number: i32| u16::try_from(number).context("the server's answer has a number out of bounds");
        let not_zero = |count: i32| number(count).map(|count| Some(count).filter(|count| *count > 0));
        let span = |span: Option<prost_types::Duration>| span.and_then(|span| Some(Span(span.try_into().ok()?)));
        let (game, admits) = (settings.game.clone().unwrap_or_default(), settings.admits.clone().unwrap_or_default());
        let kinds: Vec<_> = admits.kinds().collect();
        let mut options = Self {
            title: Some(settings.name.clone()),
            playoff: u8::try_from(settings.playoff).ok().filter(|size| *size > 0),
            clock: span(game.total_time).map(|Span(total)| TotalTime {
                total,
                increment: span(game.increment).map_or(Duration::ZERO, |Span(increment)| increment),
            }),
            move_limit: span(game.move_limit),
            games: Some(number(game.games)?),
            rated: game.rated,
            admits: match (kinds.contains(&PlayerKind::Human), kinds.contains(&PlayerKind::Bot)) {
                (true, false) => Some(Kind::People),
                (false, true) => Some(Kind::Bots),
                _ => None,
            },
            min_rating: not_zero(admits.min_rating)?,
            max_rating: not_zero(admits.max_rating)?,
            max_entrants: Some(number(settings.max_entrants)?),
            max_running: Some(number(settings.max_running)?),
            starts_at: settings.starts_at.and_then(|at| at.try_into().ok()),
            no_show: span(settings.no_show),
            spectator_delay: span(game.spectator_delay).filter(|Span(delay)| !delay.is_zero()),
            fills_bye: settings.fills_bye.clone().and_then(|ai| ai.try_into().ok()),
            sprt: settings.sprt.and_then(|test| Sprt::new(test.elo0, test.elo1, test.alpha, test.beta).ok()),
            ..Self::default()
        };
        match settings.format.clone() {
            Some(Format::Swiss(swiss)) => options.swiss = Some(swiss.rounds.try_into()?),
            Some(Format::AllPlayAll(all)) => {
                options.all_play_all = true;
                (options.cycles, options.challenger) = (Some(all.cycles.try_into()?), all.challenger_ids);
            }
            Some(Format::Arena(arena)) => options.arena = span(arena.duration),
            None => {}
        }
        Ok(options)
    }

    /// These options without those with these names.
    pub(super) fn without(&self, names: &[String]) -> Result<Self, UsageError> {
        let command = command();
        let is_known = |name: &&String| command.get_arguments().any(|option| name_of(option) == name.as_str());
        if let Some(name) = names.iter().find(|name| !is_known(name)) {
            return Err(UsageError(unknown(&command, name)));
        }
        Self::from_values(self.values().filter(|(name, _)| !names.iter().any(|other| other == name)))
            .map_err(UsageError)
    }

    /// The settings for the API, with the ids of [the challengers](Self::challengers). `game` has what has no option.
    pub(super) fn settings(
        &self,
        challenger_ids: Vec<String>,
        game: v1::RoomSettings,
        now: Timestamp,
    ) -> Result<v1::TournamentSettings, UsageError> {
        let name = self.title.clone().ok_or_else(|| UsageError("the tournament needs a NAME".to_owned()))?;
        let kinds = match self.admits.unwrap_or_default() {
            Kind::All => vec![PlayerKind::Human, PlayerKind::Bot],
            Kind::People => vec![PlayerKind::Human],
            Kind::Bots => vec![PlayerKind::Bot],
        };
        let number = |number: Option<u16>| number.map_or(0, i32::from);
        let game = v1::RoomSettings {
            move_limit: self.move_limit.and_then(|limit| limit.0.try_into().ok()),
            total_time: self.clock.and_then(|clock| clock.total.try_into().ok()),
            increment: self.clock.and_then(|clock| clock.increment.try_into().ok()),
            games: number(self.games),
            rated: self.rated,
            spectator_delay: self.spectator_delay.and_then(|delay| delay.0.try_into().ok()),
            ..game
        };
        let starts_in = self.starts_in.map(|wait| convert::timestamp(now.after(wait.0)));
        Ok(v1::TournamentSettings {
            name,
            format: Some(self.format(challenger_ids)?),
            playoff: self.playoff.map_or(0, i32::from),
            game: Some(game),
            admits: Some(v1::Opponents {
                kinds: kinds.into_iter().map(i32::from).collect(),
                min_rating: number(self.min_rating),
                max_rating: number(self.max_rating),
            }),
            max_entrants: number(self.max_entrants),
            max_running: number(self.max_running),
            starts_at: self.starts_at.map(Into::into).or(starts_in),
            no_show: self.no_show.and_then(|wait| wait.0.try_into().ok()),
            fills_bye: self.fills_bye.clone().map(Into::into),
            sprt: self.sprt.map(convert::sprt),
        })
    }

    fn format(&self, challenger_ids: Vec<String>) -> Result<Format, UsageError> {
        if !self.all_play_all && (self.cycles.is_some() || !self.challenger.is_empty()) {
            return Err(UsageError("--cycles and --challenger need --all-play-all".to_owned()));
        }
        match (self.swiss, self.arena) {
            (Some(rounds), _) => Ok(Format::Swiss(v1::Swiss { rounds: rounds.into() })),
            (_, Some(Span(duration))) => Ok(Format::Arena(v1::Arena { duration: duration.try_into().ok() })),
            _ if self.all_play_all => {
                let cycles = self.cycles.map_or(0, i32::from);
                Ok(Format::AllPlayAll(v1::AllPlayAll { cycles, challenger_ids }))
            }
            _ => Err(UsageError("choose --swiss ROUNDS, --all-play-all or --arena DURATION".to_owned())),
        }
    }
}

/// The options alone, to parse the values of a file.
fn command() -> Command {
    TournamentOptions::augment_args(Command::new("create")).no_binary_name(true).disable_help_flag(true)
}

fn name_of(option: &Arg) -> &str {
    option.get_long().unwrap_or(NAME)
}

/// Whether an option that is given replaces another of a file.
fn replaces(given: &str, other: &str) -> bool {
    given == other
        || matches!(
            (given, other),
            ("swiss" | "arena", "swiss" | "all-play-all" | "cycles" | "challenger" | "sprt" | "arena")
                | ("all-play-all", "swiss" | "arena")
                | ("starts-at", "starts-in")
                | ("starts-in", "starts-at")
        )
}

fn unknown(command: &Command, key: &str) -> String {
    let likeness = |option: &Arg| strsim::jaro_winkler(name_of(option), key);
    let nearest = command.get_arguments().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    format!("there is no setting `{key}`; the nearest is `{}`", nearest.map_or("none", name_of))
}

/// An option of a file as arguments; none for a flag that is off.
fn arguments(option: &Arg, key: &str, value: &Value) -> Result<Vec<String>, String> {
    if !option.get_action().takes_values() {
        let on = value.as_bool().ok_or_else(|| format!("`{key}` is true or false"))?;
        return Ok(if on { vec![format!("--{key}")] } else { Vec::new() });
    }
    let values = match value {
        Value::Array(values) if matches!(option.get_action(), clap::ArgAction::Append) => values.iter().collect(),
        single => vec![single],
    };
    values.into_iter().map(|value| Ok(format!("--{key}={}", text(key, value)?))).collect()
}

fn text(key: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.value().clone()),
        Value::Integer(number) => Ok(number.value().to_string()),
        Value::Float(number) => Ok(number.value().to_string()),
        Value::Datetime(time) => Ok(time.value().to_string()),
        Value::Boolean(_) | Value::Array(_) | Value::InlineTable(_) => Err(format!("`{key}` needs one text or number")),
    }
}

/// A refusal of the settings, with the names of the options in place of those of the API.
pub(super) fn explain(error: ClientError) -> anyhow::Error {
    if !error.is("BAD_SETTINGS") {
        return error.into();
    }
    let words: Vec<_> = error.to_string().split(' ').map(in_options).collect();
    anyhow!(words.join(" "))
}

/// A word of a message: an option, if it is a field of the settings.
fn in_options(word: &str) -> String {
    let field = word.rsplit('.').next().unwrap_or(word);
    if field.is_empty() || field == word && !word.contains('_') {
        return word.to_owned();
    }
    let name = match field {
        "rounds" => "swiss",
        "duration" => "arena",
        "total_time" | "increment" => "clock",
        "kinds" => "for",
        "challengers" | "challenger_ids" => "challenger",
        same => same,
    };
    let name = name.replace('_', "-");
    let is_option = command().get_arguments().any(|option| option.get_long() == Some(&name));
    if is_option { format!("--{name}") } else { field.to_owned() }
}

/// None without values.
fn list(values: impl Iterator<Item = String>) -> Option<Value> {
    let values: Array = values.collect();
    (!values.is_empty()).then(|| values.into())
}

fn playoff(text: &str) -> Result<u8, &'static str> {
    ["2", "4", "8"].contains(&text).then(|| text.parse().ok()).flatten().ok_or("it must be 2, 4 or 8")
}

/// A name or id; those of AIs are no player's.
fn challenger(text: &str) -> Result<String, String> {
    if check_ai::parse(text).is_ok() {
        return Err(format!(
            "it is an AI of the server, and a challenger is a player: name a bot that plays it, as `reversi bot --name NAME --ai {text}` does"
        ));
    }
    Ok(text.to_owned())
}

fn time(text: &str) -> Result<SystemTime, String> {
    let time = text.parse::<prost_types::Timestamp>().ok().and_then(|time| time.try_into().ok());
    time.ok_or_else(|| "a time is a date with the time of day and Z for UTC, as 2026-12-24T18:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_api_are_named_as_options() {
        for (message, shown) in [
            ("settings.max_entrants must be 2 to 1000", "--max-entrants must be 2 to 1000"),
            (
                "settings.swiss.rounds must be 1 to 99, or 0 with a playoff",
                "--swiss must be 1 to 99, or 0 with a playoff",
            ),
            ("settings.admits.max_rating must not be below min_rating", "--max-rating must not be below --min-rating"),
            (
                "settings.game.move_limit is needed where there is no total_time",
                "--move-limit is needed where there is no --clock",
            ),
            ("settings.name must have a letter.", "name must have a letter."),
        ] {
            assert_eq!(message.split(' ').map(in_options).collect::<Vec<_>>().join(" "), shown);
        }
    }
}
