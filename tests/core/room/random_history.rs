//! A script performed in a room, with all commands and results.

use std::time::Duration;

use reversi::{
    room::{ChatText, Command, Event, Issuer, Occupant, PlayerId, Rejection, Room, Settings, Timestamp, Visibility},
    rules::{Color, Square},
};

use crate::room::{
    script::{Action, PLAYERS, Script, Wait, player},
    test_room::{TestRoom, ai, id, profile, valid_credentials},
};

/// A command and its result.
pub(crate) struct CommandTrace {
    pub(crate) now: Timestamp,
    pub(crate) actor: Issuer,
    pub(crate) command: Command,
    pub(crate) before: Room,
    pub(crate) result: Result<Vec<Event>, Rejection>,
    pub(crate) after: Room,
}

pub(crate) struct RandomHistory {
    pub(crate) test: TestRoom,
    pub(crate) commands: Vec<CommandTrace>,
}

impl RandomHistory {
    pub(crate) fn run(script: Script) -> Self {
        let test = TestRoom::new(script.settings, script.seats, script.policy);
        let mut random = Self { test, commands: Vec::new() };
        for step in script.steps {
            random.wait(&step.wait);
            if step.ticks_first {
                random.issue(Issuer::Server, Command::Tick);
            }
            let actor = match step.actor {
                0..6 => player(step.actor),
                6 => Issuer::Admin,
                _ => Issuer::Server,
            };
            random.perform(actor, step.action);
        }
        random.issue(script.closed_by, Command::Close);
        random
    }

    fn wait(&mut self, wait: &Wait) {
        let now = self.test.now;
        self.test.now = match *wait {
            Wait::Nothing => now,
            Wait::Millis(millis) => now.after(Duration::from_millis(millis)),
            Wait::Deadline(millis) => {
                let due = self.test.room.deadline().unwrap_or(now).after(Duration::from_millis(millis));
                // The deadline may have passed already; time never goes back.
                due.max(now)
            }
        };
    }

    fn perform(&mut self, actor: Issuer, action: Action) {
        let (number, ply) = self.test.room.game().map_or((1, 0), |game| (game.number, game.ply()));
        match action {
            Action::Plain(command) => self.issue(actor, command),
            Action::JoinAs(who, credentials) => {
                self.issue(player(who), Command::Join(profile(PLAYERS[who]), credentials))
            }
            Action::Configure(settings) => self.issue(actor, Command::Configure(settings, None)),
            Action::Rename(private) => {
                let visibility = if private { Visibility::Private } else { Visibility::Public };
                let settings = Settings { visibility, ..self.test.room.settings().clone() };
                self.issue(self.owner(), Command::Configure(Box::new(settings), None));
            }
            Action::Presence(who, present) => {
                self.issue(Issuer::Server, Command::SetPresence(id(PLAYERS[who]), present))
            }
            Action::SitDown(other) => {
                self.issue(player(other), Command::Join(profile(PLAYERS[other]), valid_credentials()));
                self.issue(player(0), Command::TakeSeat(Color::Black));
                self.issue(player(other), Command::TakeSeat(Color::White));
            }
            Action::StartGame => self.start_game(),
            Action::Moves(choices) => choices.into_iter().for_each(|choice| self.play_legal_move(choice)),
            Action::NearbyMove { game, ply: off, square } => {
                let square = Square::ALL[usize::from(square % 64)];
                let ply = (ply + off).saturating_sub(3);
                self.issue(
                    actor,
                    Command::Play { game: (number + game).saturating_sub(1), ply, square, thought: None },
                );
            }
            Action::Strike { ply: off, times } => {
                let strike = Command::Strike { game: number, ply: ply + off / 3 };
                (0..times).for_each(|_| self.issue(Issuer::Server, strike.clone()));
            }
            Action::Outage(micros) => {
                // Other issuers try this too, and are refused.
                self.issue(actor, Command::Credit { micros });
                self.issue(Issuer::Server, Command::Credit { micros });
            }
            Action::Resign(seat) => self.issue(self.occupant_of(seat), Command::Resign { game: number }),
            Action::Offer(offer, seat) => self.issue(self.occupant_of(seat), Command::Offer(offer)),
            Action::Answer(offer, accept, seat) => self.issue(self.occupant_of(seat), Command::Answer(offer, accept)),
            Action::OfferAndAnswer(offer, accept, seat) => {
                self.issue(self.occupant_of(seat), Command::Offer(offer));
                self.issue(self.occupant_of(seat.opposite()), Command::Answer(offer, accept));
            }
            Action::KickOccupant { seat, ban } => {
                if let Some(player) = self.test.room.seats()[seat].occupant.player() {
                    self.issue(Issuer::Admin, Command::Kick { player, ban });
                }
            }
            Action::Abort => self.issue(actor, Command::Abort { game: number }),
            Action::BanStrangers(many) => {
                for stranger in 0..many {
                    let player = PlayerId::from_random(1000 + stranger);
                    self.issue(Issuer::Admin, Command::Kick { player, ban: true });
                }
            }
            Action::ChatLines(lines) => {
                let text = ChatText::parse("hello").expect("a line");
                (0..lines).for_each(|_| self.issue(actor, Command::Chat(text.clone())));
            }
        }
    }

    fn start_game(&mut self) {
        for seat in Color::ALL {
            match self.test.room.seats()[seat].occupant.clone() {
                Occupant::Open | Occupant::Reserved(_) => self.issue(self.owner(), Command::SetSeat(seat, ai())),
                Occupant::Player(occupant) => self.issue(Issuer::Player(occupant.id), Command::SetReady(true)),
                Occupant::Ai(_) => {}
            }
        }
        self.issue(self.owner(), Command::Start);
    }

    fn play_legal_move(&mut self, choice: u8) {
        let Some(game) = self.test.room.running() else {
            return;
        };
        let moves: Vec<_> = game.position.legal_moves().iter().collect();
        let square = moves[usize::from(choice) % moves.len()];
        self.issue(self.test.mover(), self.test.move_to(square));
    }

    fn occupant_of(&self, seat: Color) -> Issuer {
        self.test.room.seats()[seat].occupant.player().map_or(Issuer::Server, Issuer::Player)
    }

    fn owner(&self) -> Issuer {
        Issuer::Player(self.test.room.owner().map_or(id("ada"), |owner| owner.id))
    }

    fn issue(&mut self, actor: Issuer, command: Command) {
        let (now, before) = (self.test.now, self.test.room.clone());
        let result = self.test.room.decide(now, actor, command.clone());
        if let Ok(events) = &result {
            events.iter().for_each(|event| self.test.room.apply(event));
            self.test.history.extend(events.iter().cloned());
        }
        self.commands.push(CommandTrace { now, actor, command, before, result, after: self.test.room.clone() });
    }
}
