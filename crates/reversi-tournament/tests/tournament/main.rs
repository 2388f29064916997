//! Tests of tournaments: laws of pairing, properties of random histories, and stories.

mod dutch;
mod pairing;
mod properties;
mod results;
mod scenarios;
mod stored;
mod swiss;
mod trial;
