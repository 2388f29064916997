//! Examples for one room: each test is one scenario, named after the expected behaviour. B and K numbers are those of
//! the behaviours on which the server is modelled.

mod absence;
mod clocks;
mod games;
mod invitations;
mod meetings;
mod members;
mod ownership;
mod permissions;
mod seats;
mod series;
