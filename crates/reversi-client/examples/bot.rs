//! A bot that plays one game with random moves. Run: bot URL [AI KIND]; without a kind it plays any other player.
use reversi_client::{Ai, Client, ClientError, PlayEvent, PlayerKind, SideWish, rules::Bitboard, rules::SplitMix64};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ClientError> {
    let arguments: Vec<String> = std::env::args().collect();
    let mut rng = SplitMix64::new(std::process::id().into());
    let me = Client::connect(&arguments[1]).await?.log_in(&format!("bot {}", rng.next()), PlayerKind::Bot).await?;
    let mut pick = |legal: Bitboard| legal.iter().max_by_key(|_| rng.next()).expect("never empty");
    let mut stream = me.play_stream().await?;
    me.quick_start(arguments.get(2).map(|kind| Ai::new(kind)), SideWish::Random).await?;
    while let Some(event) = stream.next().await {
        match event? {
            PlayEvent::Turn(turn) => stream.play(&turn, pick(turn.legal)).await?,
            PlayEvent::GameEnded { outcome, .. } => return me.log_out().await.map(|()| println!("{outcome}")),
            _ => {}
        }
    }
    Ok(())
}
