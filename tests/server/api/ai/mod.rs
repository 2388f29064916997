//! AI seats: their share of the threads, what they report, and what they search meanwhile.

mod pondering;
mod shares;
mod thoughts;
