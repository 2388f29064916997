//! An answer that is counted until it is read, or given up.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tonic::{Status, body::Body};

/// A body with what is taken for it, which is given back when the body is dropped: behind its last byte, or with its
/// connection. A client that reads nothing leaves it where it is.
struct Counted<T> {
    body: Body,
    _taken: T,
}

/// The body, which keeps what is taken for it.
pub(crate) fn counted<T: Send + Unpin + 'static>(body: Body, taken: T) -> Body {
    Body::new(Counted { body, _taken: taken })
}

impl<T: Unpin> http_body::Body for Counted<T> {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
