//! The tower layers around the services, one file each, and the extensions that they add to requests.

pub(crate) mod auth;
pub(crate) mod caller;
pub(crate) mod cors;
pub(crate) mod deadline;
pub(crate) mod end_streams;
pub(crate) mod forwarded_for;
pub(crate) mod host;
pub(crate) mod http1_pacing;
mod permit_body;
mod play_rights;
pub(crate) mod refusals;
pub(crate) mod request_id;
pub(crate) mod web_page;
