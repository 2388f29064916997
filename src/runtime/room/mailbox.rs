//! The queue of messages to one actor.

use std::{
    future::poll_fn,
    task::{Context, Poll},
};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::message::Message;
use crate::runtime::reusable_wait::{Cancelled, WakeGate};

/// The actor's end of its queue.
pub(super) struct Mailbox {
    messages: mpsc::Receiver<Box<Message>>,
    /// None once closed.
    stop: Option<Cancelled>,
    /// Skips polling both until one of them has woken the task: the actor polls its mailbox at every step.
    pub(super) gate: WakeGate,
}

impl Mailbox {
    /// Returns messages until `stop` is cancelled.
    pub(super) fn new(messages: mpsc::Receiver<Box<Message>>, stop: CancellationToken) -> Self {
        Self { messages, stop: Some(Cancelled::new(stop)), gate: WakeGate::default() }
    }

    /// The next message; none after the stop, or once closed and empty. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<Box<Message>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Box<Message>>> {
        let Self { messages, stop, gate } = self;
        gate.poll(context, |context| {
            if let Some(stop) = stop
                && stop.poll(context).is_ready()
            {
                return Poll::Ready(None);
            }
            messages.poll_recv(context)
        })
    }

    /// Accepts messages until no caller has a handle, even after the stop.
    pub(super) fn outlive_stop(&mut self) {
        self.stop = None;
        self.gate.signal().open();
    }

    /// Accepts no more messages. Those in the queue can still be taken.
    pub(super) fn close(&mut self) {
        self.messages.close();
        self.stop = None;
        self.gate.signal().open();
    }

    /// True if only the registry holds a sender, and no message waits.
    pub(super) fn is_idle(&self) -> bool {
        self.messages.sender_strong_count() == 1 && self.messages.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mailbox_with_a_message_is_not_idle() {
        let (sender, messages) = mpsc::channel(1);
        let mailbox = Mailbox::new(messages, CancellationToken::new());
        assert!(mailbox.is_idle());
        sender.try_send(Box::new(Message::Unwatched)).map_err(drop).unwrap();
        assert!(!mailbox.is_idle());
    }
}
