//! Stories of one room: each test is a scene, named for what happens in it. B and K numbers are those of
//! the behaviours the server is modelled on.

mod clocks;
mod games;
mod people;
mod permissions;
mod seats;
mod series;
