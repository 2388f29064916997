//! The limits of a server as options: one for each row of [`Limits::TABLE`], with its environment variable.

use std::sync::LazyLock;

use clap::{Arg, ArgMatches, Command, Error, FromArgMatches, value_parser};

use crate::runtime::{Limit, Limits};

/// The variables by row, such as `REVERSI_MAX_ROOMS` for `max-rooms`; static because clap borrows names.
static VARIABLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let variable = |limit: &Limit| format!("REVERSI_{}", limit.flag.replace('-', "_").to_uppercase());
    Limits::TABLE.iter().map(variable).collect()
});

/// The limits given by options; the others have their defaults.
#[derive(Debug)]
pub(in crate::cli) struct LimitOptions(pub(super) Limits);

impl clap::Args for LimitOptions {
    fn augment_args(command: Command) -> Command {
        let defaults = Limits::default();
        let options = Limits::TABLE.iter().zip(VARIABLES.iter()).map(|(limit, variable)| {
            Arg::new(limit.name)
                .long(limit.flag)
                .env(variable.as_str())
                .value_name(limit.unit)
                .value_parser(value_parser!(u64).range(limit.range.clone()))
                .help(format!("{} [default: {}]", limit.help, (limit.get)(&defaults)))
                .help_heading("Limits")
                .hide_short_help(true)
        });
        command.args(options)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LimitOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut limits = Limits::default();
        for limit in Limits::TABLE {
            if let Some(&value) = matches.get_one::<u64>(limit.name) {
                (limit.set)(&mut limits, value);
            }
        }
        let given = |name| matches.contains_id(name);
        if !given("request_burst") {
            limits.request_burst = limits.requests_per_second.saturating_mul(2);
        }
        if !given("request_burst_per_address") {
            limits.request_burst_per_address = limits.requests_per_second_per_address.saturating_mul(2);
        }
        Ok(Self(limits))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::{CommandFactory as _, Parser};

    use super::*;

    #[derive(Parser)]
    struct TestCommand {
        #[command(flatten)]
        limits: LimitOptions,
    }

    #[test]
    fn without_options_the_limits_have_their_defaults() {
        assert_eq!(TestCommand::parse_from(["serve"]).limits.0, Limits::default());
    }

    #[test]
    fn a_burst_is_twice_the_rate_if_left_out() {
        let burst = |words: &[&str]| TestCommand::parse_from(words).limits.0.request_burst;
        assert_eq!((burst(&["", "--rate", "7"]), burst(&["", "--rate", "7", "--burst", "9"])), (14, 9));
        assert!(TestCommand::try_parse_from(["", "--rate", "0"]).is_err());
    }

    #[test]
    fn each_option_sets_its_own_limit() {
        let words = "--max-streams-per-connection 2 --max-header-bytes 3 --call-time 4 --keepalive 5 \
                     --keepalive-answer 6 --max-seats-per-human 7 --room-sleep 8 --reader-patience 9 \
                     --ai-memory 10";
        let asked = Limits {
            streams_per_connection: 2,
            header_bytes: 3,
            call_time: Duration::from_secs(4),
            keepalive: Duration::from_secs(5),
            keepalive_answer: Duration::from_secs(6),
            seats_per_human: 7,
            room_sleep: Duration::from_secs(8),
            reader_patience: Duration::from_secs(9),
            ai_memory_mib: 10,
            ..Limits::default()
        };
        assert_eq!(limits(words), asked);
        for seconds in ["0", "18446744073709551615"] {
            assert!(TestCommand::try_parse_from(["", "--keepalive", seconds]).is_err());
        }
    }

    #[test]
    fn each_limit_by_address_has_an_option_and_may_be_switched_off() {
        let words = "--max-connections-per-address 0 --max-rooms-per-address 1 --max-seats-per-address 2 \
                     --max-streams-per-address 3 --max-calls-per-address 4 --rate-per-address 5 --log-in-rate 0 \
                     --chat-rate-per-address 6 --chat-burst-per-address 7 --max-addresses 8 --max-calls 9 \
                     --max-players-per-address 10 --wrong-guesses-per-address 11 \
                     --game-rate 0 --game-burst 10 --game-rate-per-address 0 --game-burst-per-address 11 \
                     --max-tournaments-per-address 0 --tournament-rate 12 --tournament-rate-per-address 0";
        let asked = Limits {
            connections_per_address: 0,
            rooms_per_address: 1,
            seats_per_address: 2,
            streams_per_address: 3,
            calls_per_address: 4,
            requests_per_second_per_address: 5,
            request_burst_per_address: 10,
            log_ins_per_minute: 0,
            chats_per_second_per_address: 6,
            chat_burst_per_address: 7,
            addresses: 8,
            calls_per_player: 9,
            players_per_address: 10,
            games_per_minute: 0,
            game_burst: 10,
            games_per_minute_per_address: 0,
            game_burst_per_address: 11,
            tournaments_per_address: 0,
            tournaments_per_hour: 12,
            tournaments_per_hour_per_address: 0,
            wrong_guesses_per_address: 11,
            ..Limits::default()
        };
        assert_eq!(limits(words), asked);
    }

    #[test]
    fn each_limit_of_analyses_has_an_option() {
        let words = "--max-analyses 1 --max-analyses-per-player 2 --max-analyses-per-address 0 --analysis-threads 4 \
                     --analysis-time 5 --game-analysis-time 6 --analysis-nodes 7 --max-analysis-lines 8";
        let asked = Limits {
            analyses: 1,
            analyses_per_player: 2,
            analyses_per_address: 0,
            analysis_threads: 4,
            analysis_time: Duration::from_secs(5),
            game_analysis_time: Duration::from_secs(6),
            analysis_nodes: 7,
            analysis_lines: 8,
            ..Limits::default()
        };
        assert_eq!(limits(words), asked);
        assert!(TestCommand::try_parse_from(["", "--analysis-threads", "0"]).is_err());
    }

    #[test]
    fn values_that_http2_does_not_allow_are_refused() {
        let words = "--max-message-bytes 1 --max-frame-bytes 16384 --stream-window 2 --connection-window 65535 \
                     --max-resets-unseen 3 --max-resets-for-faults 4";
        let asked = Limits {
            message_bytes: 1,
            frame_bytes: 16_384,
            stream_window: 2,
            connection_window: 65_535,
            resets_unseen: 3,
            resets_for_faults: 4,
            ..Limits::default()
        };
        assert_eq!(limits(words), asked);
        for (option, value) in [
            ("--max-frame-bytes", "16383"),
            ("--max-frame-bytes", "16777216"),
            ("--stream-window", "0"),
            ("--connection-window", "65534"),
            ("--connection-window", "2147483648"),
        ] {
            assert!(TestCommand::try_parse_from(["", option, value]).is_err(), "{option} {value}");
        }
    }

    #[test]
    fn an_option_and_its_variable_have_matching_names() {
        let command = TestCommand::command();
        for limit in Limits::TABLE {
            let option = command.get_arguments().find(|option| option.get_id() == limit.name).unwrap();
            let variable = option.get_env().unwrap().to_str().unwrap();
            assert_eq!(variable.strip_prefix("REVERSI_").unwrap().to_lowercase().replace('_', "-"), limit.flag);
        }
    }

    fn limits(words: &str) -> Limits {
        TestCommand::parse_from(["serve"].into_iter().chain(words.split_whitespace())).limits.0
    }
}
