//! The attacker: a process of its own.

use std::{
    io::Read as _,
    process::{Child, Command, Stdio},
    time::Duration,
};

use tokio::{
    io::AsyncReadExt as _,
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};

use crate::{OPENING, attack::Attack};

/// Given instead of a server's address: the attacker attacks a dummy server in its process.
pub(crate) const DUMMY: &str = "dummy";

/// Duration of an attack before the measurement: long enough for the attack to start, short enough that its initial
/// burst is measured, too.
const BEFORE: Duration = Duration::from_millis(300);

/// A process that attacks until it is stopped.
pub(crate) struct Attacker(Child);

impl Attacker {
    pub(crate) fn start(number: usize, address: &str) -> Self {
        let itself = std::env::current_exe().unwrap();
        let mut command = Command::new("chrt");
        command.args(["--idle", "0", "taskset", "-c", "1"]).arg(itself).args(["attack", &number.to_string(), address]);
        let attacker = Self(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
        std::thread::sleep(BEFORE);
        attacker
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Stops the process. Returns the number of its attacks.
    pub(crate) fn stop(mut self) -> f64 {
        drop(self.0.stdin.take());
        let mut attacks = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut attacks).unwrap();
        assert!(self.0.wait().unwrap().success());
        attacks.trim().parse().unwrap()
    }
}

/// The processor time of a process.
pub(crate) fn processor_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // After the name, which may have spaces: the state is the third field, times in hundredths of a second the 14th and
    // 15th.
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace();
    let hundredths: u64 = fields.skip(11).take(2).map(|time| time.parse::<u64>().unwrap()).sum();
    Duration::from_millis(10 * hundredths)
}

/// Attacks until standard input ends, then prints the number of attacks.
pub(crate) async fn attack_until_input_ends(attack: Attack, address: &str) {
    let mut dummy = JoinSet::new();
    let address = match address {
        DUMMY => {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap().to_string();
            let is_patient = matches!(attack, Attack::SlowHeaders | Attack::UnfinishedHeads);
            dummy.spawn(accept_connections(listener, is_patient));
            address
        }
        address => address.to_owned(),
    };
    let mut attacks = 0;
    let attacking = async {
        loop {
            attack.once(&address).await;
            attacks += 1;
        }
    };
    let (mut input, mut byte) = (tokio::io::stdin(), [0]);
    tokio::select! {
        () = attacking => {}
        _ = input.read(&mut byte) => {}
    }
    println!("{attacks}");
}

/// The dummy server: accepts connections, and closes each after its first bytes (unless `patient`) or after
/// [`OPENING`].
async fn accept_connections(listener: TcpListener, patient: bool) {
    let mut all = JoinSet::new();
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        all.spawn(timeout(OPENING, read_all(socket, patient)));
        while all.try_join_next().is_some() {}
    }
}

async fn read_all(mut socket: TcpStream, patient: bool) {
    let mut received = [0; 16_384];
    while socket.read(&mut received).await.is_ok_and(|length| length > 0) && patient {}
}
