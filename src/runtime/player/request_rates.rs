//! The rates of one player.

use std::sync::Arc;

use crate::runtime::limit::{
    invitation_limit::InvitationLimit, limits::Limits, rate_limiter::RateLimiter, search_use::SearchUse,
};

/// Seats that one player may reserve for others in a minute, on average.
const INVITATIONS_PER_MINUTE: u32 = 30;

/// Seats that one player may reserve for others at once: an organiser seats a tournament of 64.
const INVITATION_BURST: u32 = 128;

/// The rates of a player. A log-out that keeps the token does not reset them.
pub(super) struct Rates {
    pub(super) requests: RateLimiter,
    pub(super) chats: RateLimiter,
    /// None without a limit.
    pub(super) games: Option<RateLimiter>,
    /// None without a limit.
    pub(super) tournaments: Option<RateLimiter>,
    /// Seats that it reserves for others.
    pub(super) invitations: RateLimiter,
    /// Seats that others reserve for it.
    pub(super) invited: Arc<InvitationLimit>,
    pub(super) ai_searches: Arc<SearchUse>,
}

impl Rates {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            requests: RateLimiter::new(limits.requests_per_second, limits.request_burst),
            chats: RateLimiter::new(limits.chats_per_second, limits.chat_burst),
            games: RateLimiter::per_minute_unless_zero(limits.games_per_minute, limits.game_burst),
            tournaments: RateLimiter::per_hour_unless_zero(limits.tournaments_per_hour),
            invitations: RateLimiter::per_minute(INVITATIONS_PER_MINUTE, INVITATION_BURST),
            invited: Arc::default(),
            ai_searches: Arc::new(SearchUse::new(limits.ai_seconds_per_minute)),
        }
    }
}
