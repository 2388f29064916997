//! Finds a player by a name or an id of the command line.

use anyhow::{Context as _, anyhow};

use crate::{
    client::{PlayerId, Session},
    room,
};

/// A player by id, or by the current name. An id has precedence: a player cannot pose as another by choosing an id as
/// a name. A player who has logged out is found by id only.
pub(in crate::cli) async fn find(session: &Session, text: &str) -> anyhow::Result<PlayerId> {
    let id = text.parse::<room::PlayerId>().ok().and_then(|id| id.to_string().parse().ok());
    if let Some(id) = &id
        && let Ok((player, _)) = session.stats(id).await
    {
        return Ok(player.id);
    }
    match (session.stats_of_name(text).await, id) {
        (Ok((player, _)), _) => Ok(player.id),
        (Err(error), Some(id)) if error.is_unknown_or_malformed() => Ok(id),
        (Err(error), None) if error.is_unknown_or_malformed() => Err(anyhow!(
            "no player is named `{text}`; a player who has logged out is found by id, which `reversi games --ids` shows"
        )),
        (Err(error), _) => Err(error).context(format!("cannot find `{text}`")),
    }
}
