//! Tests of tournaments: laws of pairing, properties of random histories, and stories.

mod dutch;
mod pairing;
mod properties;
mod results;
mod scenarios;
mod swiss;
mod trial;
