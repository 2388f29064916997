//! Players who are logged in: who they are, what they hold, and what is sent to them.

pub(crate) mod directory;
pub(crate) mod inbox;
pub(crate) mod presence;
pub(crate) mod quota;
