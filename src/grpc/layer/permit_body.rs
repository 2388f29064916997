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

#[cfg(test)]
mod tests {
    use http_body::Body as _;

    use super::*;

    #[test]
    fn a_permit_does_not_hide_the_end_of_a_body() {
        let (empty, text) = (with_permit(Body::empty(), ()), with_permit(Body::new("text".to_owned()), ()));
        assert_eq!((empty.is_end_stream(), empty.size_hint().exact()), (true, Some(0)));
        assert_eq!((text.is_end_stream(), text.size_hint().exact()), (false, Some(4)));
    }
}
