//! A script performed in a room, with all commands and results.

use std::time::Duration;

use reversi::{
    room::{ChatText, Command, Event, Issuer, Occupant, PlayerId, Rejection, Room, Settings, Timestamp, Visibility},
    rules::{Color, Square},
};

use crate::room::{
    script::{Deed, PEOPLE, Plot, Wait, player},
    test_room::{World, ai, id, member_card, profile},
};

/// A command and its result.
pub(crate) struct Moment {
    pub(crate) now: Timestamp,
    pub(crate) actor: Issuer,
    pub(crate) command: Command,
    pub(crate) before: Room,
    pub(crate) result: Result<Vec<Event>, Rejection>,
    pub(crate) after: Room,
}

pub(crate) struct RandomHistory {
    pub(crate) world: World,
    pub(crate) moments: Vec<Moment>,
}

impl RandomHistory {
    pub(crate) fn perform(plot: Plot) -> Self {
        let world = World::new(plot.settings, plot.seats, plot.policy);
        let mut stage = Self { world, moments: Vec::new() };
        for step in plot.steps {
            stage.pass_time(&step.wait);
            if step.punctual {
                stage.run(Issuer::Server, Command::Tick);
            }
            let actor = match step.actor {
                0..6 => player(step.actor),
                6 => Issuer::Admin,
                _ => Issuer::Server,
            };
            stage.attempt(actor, step.deed);
        }
        stage.run(plot.closer, Command::Close);
        stage
    }

    fn pass_time(&mut self, wait: &Wait) {
        let now = self.world.now;
        self.world.now = match *wait {
            Wait::Nothing => now,
            Wait::Millis(millis) => now.after(Duration::from_millis(millis)),
            Wait::Deadline(millis) => {
                let due = self.world.room.deadline().unwrap_or(now).after(Duration::from_millis(millis));
                // The deadline may have passed already; time never goes back.
                due.max(now)
            }
        };
    }

    fn attempt(&mut self, actor: Issuer, deed: Deed) {
        let (number, ply) = self.world.room.game().map_or((1, 0), |game| (game.number, game.ply()));
        match deed {
            Deed::Plain(command) => self.run(actor, command),
            Deed::JoinAs(who, credentials) => self.run(player(who), Command::Join(profile(PEOPLE[who]), credentials)),
            Deed::Configure(settings) => self.run(actor, Command::Configure(settings)),
            Deed::Rename(private) => {
                let visibility = if private { Visibility::Private } else { Visibility::Public };
                let settings = Settings { visibility, ..self.world.room.settings().clone() };
                self.run(self.owner(), Command::Configure(Box::new(settings)));
            }
            Deed::Presence(who, present) => self.run(Issuer::Server, Command::SetPresence(id(PEOPLE[who]), present)),
            Deed::SitDown(other) => {
                self.run(player(other), Command::Join(profile(PEOPLE[other]), member_card()));
                self.run(player(0), Command::TakeSeat(Color::Black));
                self.run(player(other), Command::TakeSeat(Color::White));
            }
            Deed::Begin => self.begin(),
            Deed::Moves(choices) => choices.into_iter().for_each(|choice| self.make_move(choice)),
            Deed::Stray { game, ply: off, square } => {
                let square = Square::ALL[usize::from(square % 64)];
                let ply = (ply + off).saturating_sub(3);
                self.run(actor, Command::Play { game: (number + game).saturating_sub(1), ply, square, thought: None });
            }
            Deed::Strike { ply: off, times } => {
                let strike = Command::Strike { game: number, ply: ply + off / 3 };
                (0..times).for_each(|_| self.run(Issuer::Server, strike.clone()));
            }
            Deed::Outage(micros) => {
                // Other issuers try this too, and are refused.
                self.run(actor, Command::Credit { micros });
                self.run(Issuer::Server, Command::Credit { micros });
            }
            Deed::Resign(seat) => self.run(self.sitter(seat), Command::Resign { game: number }),
            Deed::Offer(offer, seat) => self.run(self.sitter(seat), Command::Offer(offer)),
            Deed::Answer(offer, accept, seat) => self.run(self.sitter(seat), Command::Answer(offer, accept)),
            Deed::Haggle(offer, accept, seat) => {
                self.run(self.sitter(seat), Command::Offer(offer));
                self.run(self.sitter(seat.opposite()), Command::Answer(offer, accept));
            }
            Deed::Remove { seat, ban } => {
                if let Some(player) = self.world.room.seats()[seat].occupant.player() {
                    self.run(Issuer::Admin, Command::Kick { player, ban });
                }
            }
            Deed::Abort => self.run(actor, Command::Abort { game: number }),
            Deed::BanStrangers(many) => {
                for stranger in 0..many {
                    let player = PlayerId::from_random(1000 + stranger);
                    self.run(Issuer::Admin, Command::Kick { player, ban: true });
                }
            }
            Deed::Babble(lines) => {
                let text = ChatText::parse("hello").expect("a line");
                (0..lines).for_each(|_| self.run(actor, Command::Chat(text.clone())));
            }
        }
    }

    fn begin(&mut self) {
        for seat in Color::ALL {
            match self.world.room.seats()[seat].occupant.clone() {
                Occupant::Open | Occupant::Reserved(_) => self.run(self.owner(), Command::SetSeat(seat, ai())),
                Occupant::Player(occupant) => self.run(Issuer::Player(occupant.id), Command::SetReady(true)),
                Occupant::Ai(_) => {}
            }
        }
        self.run(self.owner(), Command::Start);
    }

    fn make_move(&mut self, choice: u8) {
        let Some(game) = self.world.room.running() else {
            return;
        };
        let moves: Vec<_> = game.position.legal_moves().iter().collect();
        let square = moves[usize::from(choice) % moves.len()];
        self.run(self.world.mover(), self.world.move_to(square));
    }

    fn sitter(&self, seat: Color) -> Issuer {
        self.world.room.seats()[seat].occupant.player().map_or(Issuer::Server, Issuer::Player)
    }

    fn owner(&self) -> Issuer {
        Issuer::Player(self.world.room.owner().map_or(id("ada"), |owner| owner.id))
    }

    fn run(&mut self, actor: Issuer, command: Command) {
        let (now, before) = (self.world.now, self.world.room.clone());
        let result = self.world.room.decide(now, actor, command.clone());
        if let Ok(events) = &result {
            events.iter().for_each(|event| self.world.room.apply(event));
            self.world.history.extend(events.iter().cloned());
        }
        self.moments.push(Moment { now, actor, command, before, result, after: self.world.room.clone() });
    }
}
