//! Messages, and their frames: a length of four bytes, little endian, then postcard.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::host::Fingerprint;
use crate::measure::{Edges, Levels, Thoroughness};
use crate::subject::Op;
use crate::trial::{BlockRequest, BlockResult, Body, Check, Failure};

/// Counts changes of the messages; both sides must have the same.
pub(super) const VERSION: u32 = 4;

/// Exit status of a child whose line was closed by the function in flight.
pub(super) const LINE_LOST: i32 = 120;

/// The longest message, bytes: a request of 100,000 loops of 1 KiB fits, as does an answer
/// of ten million samples. What is longer is no message but noise on the line.
pub(super) const MOST_BYTES: usize = 256 << 20;

/// What a child says first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Hello {
    /// [`VERSION`] of the child.
    pub(super) version: u32,
    /// Which machine the child stands on.
    pub(super) fingerprint: Fingerprint,
    /// Process id.
    pub(super) pid: u32,
    /// The child's `memcpy` and `memset`, where the C library tells its version.
    pub(super) libc: Vec<(Op, String)>,
    /// The CPU that the child stays on, or why it could not be pinned.
    pub(super) cpu: Result<u32, String>,
}

/// What a parent asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Request {
    /// Samples.
    Block {
        /// Of what.
        request: BlockRequest,
        /// The caches that states are made of; `None`: as the processor tells.
        levels: Option<Levels>,
    },
    /// Where the caches end.
    Edges {
        /// How long it may take.
        how: Thoroughness,
    },
    /// Verification only.
    Verify {
        /// What the bodies should do.
        op: Op,
        /// Whom.
        bodies: Vec<Body>,
        /// How thoroughly.
        check: Check,
    },
}

/// What a child answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Reply {
    /// To [`Request::Block`].
    Block(BlockResult),
    /// To [`Request::Edges`]: what was found, or why nothing can be measured.
    Edges(Result<Edges, String>),
    /// To [`Request::Verify`]: one outcome a body.
    Verify(Vec<Result<(), Failure>>),
}

/// Why a message did not get through.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    /// The other side is gone, between messages.
    #[error("the other side is gone")]
    Closed,
    /// The line broke.
    #[error("the line broke: {0}")]
    Io(#[from] io::Error),
    /// The message is too long, or its length is noise.
    #[error(
        "a message of {bytes} bytes is longer than the {MOST_BYTES} that are allowed; ask for fewer members or samples at once"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The message is not understood.
    #[error("a message is not understood: {0}")]
    Garbled(#[from] postcard::Error),
}

/// A message in its frame.
pub(super) fn frame(message: &impl Serialize) -> Result<Vec<u8>, FrameError> {
    let mut bytes = postcard::to_extend(message, vec![0; 4])?;
    let len = bytes.len() - 4;
    if len > MOST_BYTES {
        return Err(FrameError::TooLong { bytes: len });
    }
    bytes[..4].copy_from_slice(&(len as u32).to_le_bytes());
    Ok(bytes)
}

/// Writes a message.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> Result<(), FrameError> {
    to.write_all(&frame(message)?)?;
    Ok(to.flush()?)
}

/// Takes the first message off what has been received, once it is complete.
pub(super) fn take<T: DeserializeOwned>(received: &mut Vec<u8>) -> Result<Option<T>, FrameError> {
    let Some((head, body)) = received.split_first_chunk::<4>() else { return Ok(None) };
    let bytes = u32::from_le_bytes(*head) as usize;
    if bytes > MOST_BYTES {
        return Err(FrameError::TooLong { bytes });
    }
    let Some(body) = body.get(..bytes) else { return Ok(None) };
    let message = postcard::from_bytes(body)?;
    received.drain(..4 + bytes);
    Ok(Some(message))
}

/// Reads a message. The length is not trusted with memory before the bytes are there.
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> Result<T, FrameError> {
    let mut head = [0; 4];
    let mut filled = 0;
    while filled < head.len() {
        match from.read(&mut head[filled..]) {
            Ok(0) if filled == 0 => return Err(FrameError::Closed),
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
    }
    let bytes = u32::from_le_bytes(head) as usize;
    if bytes > MOST_BYTES {
        return Err(FrameError::TooLong { bytes });
    }
    let mut body = Vec::new();
    from.take(bytes as u64).read_to_end(&mut body)?;
    if body.len() < bytes {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(postcard::from_bytes(&body)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{FailureKind, Misbehaviour};

    #[test]
    fn messages_come_back_as_they_went() {
        let failure = Failure {
            kind: FailureKind::Incorrect(Misbehaviour::WrongReturn),
            case: "n=65 dst+3 src+0".into(),
        };
        let reply = Reply::Verify(vec![Ok(()), Err(failure)]);
        let mut line = Vec::new();
        send(&mut line, &reply).unwrap();
        send(
            &mut line,
            &Reply::Block(BlockResult {
                samples: Vec::new(),
                failures: Vec::new(),
                clock: Default::default(),
                disturbed: 3,
            }),
        )
        .unwrap();
        let mut line = line.as_slice();
        assert_eq!(receive::<Reply>(&mut line).unwrap(), reply);
        assert!(
            matches!(receive::<Reply>(&mut line).unwrap(), Reply::Block(b) if b.disturbed == 3)
        );
        assert!(matches!(receive::<Reply>(&mut line), Err(FrameError::Closed)));
    }

    #[test]
    fn messages_are_taken_when_they_are_whole() {
        let mut line = frame(&7u32).unwrap();
        line.extend(frame(&8u32).unwrap());
        let mut received = Vec::new();
        let mut taken = Vec::new();
        for byte in line {
            received.push(byte);
            taken.extend(take::<u32>(&mut received).unwrap());
        }
        assert_eq!((taken, received.len()), (vec![7, 8], 0));
        assert!(matches!(take::<u32>(&mut b"noise".to_vec()), Err(FrameError::TooLong { .. })));
    }

    #[test]
    fn noise_is_an_error_and_never_a_panic_or_a_huge_allocation() {
        let noise = |bytes: &[u8]| receive::<Reply>(&mut &bytes[..]).unwrap_err();
        assert!(matches!(noise(b"hello, world"), FrameError::TooLong { .. }));
        assert!(matches!(noise(&[1, 0]), FrameError::Io(_)));
        assert!(matches!(noise(&[200, 0, 0, 0, 1, 2]), FrameError::Io(_)));
        assert!(matches!(noise(&[2, 0, 0, 0, 9, 9]), FrameError::Garbled(_)));
        let said = noise(&[255, 255, 255, 255]).to_string();
        assert!(said.contains("4294967295") && said.contains("fewer"), "{said}");
    }
}
