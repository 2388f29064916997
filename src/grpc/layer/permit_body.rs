//! Response bodies that are counted until they are sent.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tonic::{Status, body::Body};

/// A body that holds a permit until its last byte is sent or the connection ends: unread responses stay counted.
struct PermitBody<P> {
    body: Body,
    _permit: P,
}

pub(crate) fn with_permit<P: Send + Unpin + 'static>(body: Body, permit: P) -> Body {
    Body::new(PermitBody { body, _permit: permit })
}

impl<P: Unpin> http_body::Body for PermitBody<P> {
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
