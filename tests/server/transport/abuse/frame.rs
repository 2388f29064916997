//! Hand-made HTTP/2 frames, since no library sends invalid ones.

/// The first bytes of a client: the preface and empty settings.
pub(crate) fn client_preface() -> Vec<u8> {
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &frame(SETTINGS, 0, 0, &[])].concat()
}

/// The last bytes of a client: a GOAWAY, so that the server need not wait for more.
pub(crate) fn goaway_frame() -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[0; 8])
}

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;
/// A type that HTTP/2 does not define.
pub(crate) const UNKNOWN: u8 = 0xbe;

/// Of SETTINGS and PING.
pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;

/// A unary call with this message on a stream.
pub(crate) fn unary_call(stream: u32, headers: &[u8], message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    let message = [&[0], &length[..], message].concat();
    [frame(HEADERS, END_HEADERS, stream, headers), frame(DATA, END_STREAM, stream, &message)].concat()
}

/// The error code of a stream that the client cancels.
pub(crate) const CANCEL: [u8; 4] = [0, 0, 0, 8];

/// A frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// The headers of a call, in the simplest HPACK encoding.
pub(crate) fn call(path: &str) -> Vec<u8> {
    // `:method: POST` and `:scheme: http` are in the static table, and the names of the others.
    let mut block = vec![0x83, 0x86];
    block.extend(field(&[0x04], path));
    block.extend(field(&[0x01], "localhost"));
    block.extend(header("content-type", "application/grpc"));
    block
}

/// The same headers, added to the dynamic table of the server.
pub(crate) fn indexed_call(path: &str) -> Vec<u8> {
    let mut block = vec![0x83, 0x86];
    block.extend(field(&[0x44], path));
    block.extend(field(&[0x41], "localhost"));
    let mut content = vec![0x40];
    content.extend(text("content-type"));
    block.extend(field(&content, "application/grpc"));
    block
}

/// The headers of that call from the dynamic table; the last one added has index 62.
pub(crate) const INDEXED_CALL: [u8; 5] = [0x83, 0x86, 0x80 | 64, 0x80 | 63, 0x80 | 62];

/// One more header.
pub(crate) fn header(name: &str, value: &str) -> Vec<u8> {
    let mut named = vec![0];
    named.extend(text(name));
    field(&named, value)
}

fn field(name: &[u8], value: &str) -> Vec<u8> {
    [name, &text(value)].concat()
}

/// A string without Huffman coding: its length, the first seven bits in the first byte, and its bytes.
fn text(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    if text.len() < 127 {
        bytes.push(u8::try_from(text.len()).unwrap());
    } else {
        bytes.push(127);
        let mut rest = text.len() - 127;
        while rest >= 128 {
            bytes.push(u8::try_from(rest % 128).unwrap() | 128);
            rest /= 128;
        }
        bytes.push(u8::try_from(rest).unwrap());
    }
    bytes.extend(text.as_bytes());
    bytes
}

/// The error code of the first GOAWAY in the bytes of a server.
pub(crate) fn goaway(received: &[u8]) -> Option<u32> {
    let (_, payload) = frames(received).find(|(kind, _)| *kind == GOAWAY)?;
    Some(u32::from_be_bytes(payload.get(4..8)?.try_into().ok()?))
}

/// The types and payloads of the frames in the bytes of a server.
pub(crate) fn frames(mut received: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = received.split_first_chunk::<9>()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let (payload, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        received = rest;
        Some((head[3], payload))
    })
}
