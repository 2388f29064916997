//! The services of `reversi.v1`: each method is convert, call, convert.

mod status;
