//! What one client may use of the server: rates, counts and costs, by player and by address.

pub(crate) mod client_address;
pub(crate) mod concurrency_limit;
pub(crate) mod in_force;
pub(crate) mod invitation_limit;
pub(crate) mod limits;
pub(crate) mod pacer;
pub(crate) mod password_guesses;
pub(crate) mod rate_limiter;
pub(crate) mod request_cost;
pub(crate) mod search_use;
