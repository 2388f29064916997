//! Stories: one file for each subject.

mod arena;
mod conduct;
mod control;
mod formats;
