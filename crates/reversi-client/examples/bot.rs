//! A bot that plays one game with random moves. Run: bot URL[,URL] [AI KIND]; without a kind it plays any other player.
use reversi_client::{
    Ai, Client, ClientError, PlayEvent, PlayerKind, SideWish, backoff, rules::Bitboard, rules::SplitMix64,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ClientError> {
    let arguments: Vec<String> = std::env::args().collect();
    let mut rng = SplitMix64::new(std::process::id().into());
    let me = Client::connect(&arguments[1]).await?.log_in(&format!("bot {}", rng.next()), PlayerKind::Bot).await?;
    let mut pick = |legal: Bitboard| legal.iter().max_by_key(|_| rng.next()).expect("never empty");
    me.quick_start(arguments.get(2).map(|kind| Ai::new(kind)), SideWish::Random).await?;
    let mut lost = 0;
    loop {
        // After a lost or silent connection, a new stream starts with every open turn.
        if lost > 0 {
            tokio::time::sleep(backoff(lost)).await;
        }
        lost += 1;
        let mut turns = match me.turns().await {
            Err(error) if error.is_transient() => continue,
            opened => opened?,
        };
        while let Some(Ok(event)) = turns.next().await {
            match event {
                PlayEvent::Turn(turn) => drop(me.play(&turn.game, turn.ply, pick(turn.legal)).await),
                PlayEvent::GameEnded { outcome, .. } => return me.log_out().await.map(|()| println!("{outcome}")),
                PlayEvent::Closing(closing) if !closing.reason.is_passing() => return Ok(()),
                PlayEvent::Closing(_) => break,
                _ => {}
            }
            lost = 0;
        }
    }
}
