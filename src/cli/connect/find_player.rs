//! Finds a player by a name or an id of the command line.

use anyhow::{Context as _, anyhow};

use crate::{
    cli::warn,
    client::{Player, PlayerId, Reader},
    room,
};

/// A player by id, or by name: who has it now, or else who had it last. An id has precedence: a player cannot pose as
/// another by choosing an id as a name. Says which other players had the name.
pub(in crate::cli) async fn find(reader: &Reader, text: &str) -> anyhow::Result<PlayerId> {
    let id = text.parse::<room::PlayerId>().ok().and_then(|id| id.to_string().parse().ok());
    if let Some(id) = &id
        && let Ok((player, _)) = reader.stats(id).await
    {
        return Ok(player.id);
    }
    match (reader.stats_of_name(text).await, id) {
        (Ok((player, _, earlier)), _) => {
            if !earlier.is_empty() {
                let ids = earlier.iter().map(|other| other.id.to_string()).collect::<Vec<_>>().join(", ");
                let Player { name, id, .. } = &player;
                warn(format_args!("{name} is {id}; others had the name earlier, find them by id: {ids}"));
            }
            Ok(player.id)
        }
        (Err(error), Some(id)) if error.is_unknown_or_malformed() => Ok(id),
        (Err(error), None) if error.is_unknown_or_malformed() => Err(anyhow!(
            "no player is named `{text}`, nor was a player of a stored game; `reversi games --ids` shows names and ids"
        )),
        (Err(error), _) => Err(error).context(format!("cannot find `{text}`")),
    }
}
