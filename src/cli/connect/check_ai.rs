//! Checks the kind and level of an AI, with the same errors for all commands.

use anyhow::{anyhow, bail};

use crate::{
    ai::{AiKind, AiPlayer},
    cli::UsageError,
    client::{Ai, ClientError, ServerInfo},
};

/// Rejects an unknown AI, as `mcts` or `mcts:3`, before the log-in. Without a level it has its kind's default one.
pub(in crate::cli) fn check(kind: &str, level: Option<u32>) -> anyhow::Result<Ai> {
    let (kind, level) = match (kind.split_once(':'), level) {
        (None, level) => (kind, level),
        (Some((kind, text)), None) => {
            let level = text.parse().map_err(|_| UsageError("a level is a number, as in mcts:3".to_owned()))?;
            (kind, Some(level))
        }
        (Some(_), Some(level)) => {
            return Err(UsageError(format!("`{kind}` and the option for level {level} both name a level")).into());
        }
    };
    let known = AiKind::ALL.map(|kind| (kind.to_string(), u32::from(kind.profile().levels)));
    check_known(&known, "there are", kind, level).map_err(|error| UsageError(error.to_string()))?;
    Ok(Ai::new(kind).level(level.unwrap_or(0)))
}

/// [Checks](check) an AI of an option.
pub(in crate::cli) fn parse(text: &str) -> Result<Ai, String> {
    check(text, None).map_err(|error| error.to_string())
}

/// A built-in AI that plays in this process.
pub(in crate::cli) fn player(ai: &Ai) -> anyhow::Result<AiPlayer> {
    let kind: AiKind = ai.kind.parse().map_err(|error| anyhow!("{error}"))?;
    let level = if ai.level == 0 { kind.profile().default_level } else { u8::try_from(ai.level)? };
    AiPlayer::new(kind, level).map_err(|error| anyhow!("{error}"))
}

/// Lists the server's AIs if it refused `ai` as unknown; else `error`.
pub(in crate::cli) fn explain_refusal(error: ClientError, ai: &Ai, info: &ServerInfo) -> anyhow::Error {
    check_server_has(info, ai).err().unwrap_or_else(|| anyhow!(error))
}

/// Fails unless the server has this AI.
pub(in crate::cli) fn check_server_has(info: &ServerInfo, ai: &Ai) -> anyhow::Result<()> {
    let levels = |levels: i32| u32::try_from(levels).unwrap_or_default();
    let known: Vec<_> = info.ai_kinds.iter().map(|kind| (kind.kind.clone(), levels(kind.levels))).collect();
    check_known(&known, "this server has", &ai.kind, Some(ai.level).filter(|&level| level > 0))
}

fn check_known(known: &[(String, u32)], intro: &str, kind: &str, level: Option<u32>) -> anyhow::Result<()> {
    let Some((name, levels)) = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(kind)) else {
        let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        bail!("no AI is called `{kind}`; {intro} {}", names.join(", "));
    };
    match (level, levels) {
        (None, _) => Ok(()),
        (Some(level), levels) if (1..=*levels).contains(&level) => Ok(()),
        (Some(level), 1) => bail!("{name} has only level 1, not {level}"),
        (Some(level), levels) => bail!("{name} has levels 1 to {levels}, not {level}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_levels_are_checked() {
        let checked = |kind, level| check(kind, level).map_err(|error| error.to_string());
        assert_eq!(checked("mcts", Some(3)), Ok(Ai::new("mcts").level(3)));
        assert_eq!((parse("mcts:3"), parse("greedy")), (Ok(Ai::new("mcts").level(3)), Ok(Ai::new("greedy"))));
        assert_eq!(parse("mcts:x"), Err("a level is a number, as in mcts:3".into()));
        assert_eq!(checked("mcts:3", Some(3)), Err("`mcts:3` and the option for level 3 both name a level".into()));
        assert_eq!(parse("mcts:77"), Err("mcts has levels 1 to 12, not 77".into()));
        assert_eq!(checked("MCTS", None), Ok(Ai::new("MCTS")));
        assert_eq!(checked("mcts", Some(77)), Err("mcts has levels 1 to 12, not 77".into()));
        assert_eq!(checked("mcts", Some(0)), Err("mcts has levels 1 to 12, not 0".into()));
        assert_eq!(checked("greedy", Some(2)), Err("greedy has only level 1, not 2".into()));
        let unknown = checked("nobody", None).unwrap_err();
        assert_eq!(
            unknown,
            "no AI is called `nobody`; there are random, greedy, roxanne, positional, alphabeta, mcts, mcts-roxanne, expert"
        );
    }
}
