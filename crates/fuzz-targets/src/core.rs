//! Frames and workload ids.

use cpb_core::Workload;
use cpb_core::frame::{Decoder, MAX_FRAME, encode, parse_reply, parse_request};
use cpb_core::message::Request;

/// Takes any bytes as received on the line: there is no panic, and the frame after them is decoded.
pub fn frame_decoder(line: &[u8]) {
    let mut decoder = Decoder::default();
    for &byte in line {
        if let Some(Ok(message)) = decoder.push(byte) {
            let _ = parse_request(message);
            let _ = parse_reply(message);
        }
    }
    let mut buffer = [0; MAX_FRAME];
    let frame = encode(&Request::Stop, &mut buffer).expect("Stop is short");
    let mut last = None;
    for &byte in frame {
        if let Some(Ok(message)) = decoder.push(byte) {
            last = Some(parse_request(message) == Ok(Request::Stop));
        }
    }
    assert_eq!(last, Some(true), "the frame after garbage is decoded");
}

/// Takes any bytes that are a message: it comes out of a frame unchanged.
pub fn frame_roundtrip(message: &[u8]) {
    if let Ok(request) = parse_request(message) {
        let came_out = through_a_frame(&request, |message| parse_request(message) == Ok(request));
        assert!(came_out, "{request:?}");
    }
    if let Ok(reply) = parse_reply(message) {
        let came_out = through_a_frame(&reply, |message| parse_reply(message) == Ok(reply.clone()));
        assert!(came_out, "{reply:?}");
    }
}

/// Whether `message`, framed, is decoded at the frame's last byte to something that is `same`. Also true if
/// it is too long for a frame.
fn through_a_frame<T: serde::Serialize>(message: &T, same: impl Fn(&[u8]) -> bool) -> bool {
    let mut buffer = [0; MAX_FRAME];
    let Ok(frame) = encode(message, &mut buffer) else {
        return true;
    };
    let zeros = frame.iter().filter(|&&byte| byte == 0).count();
    let mut decoder = Decoder::default();
    let mut found = Vec::new();
    for &byte in frame {
        found.extend(decoder.push(byte).map(|decoded| decoded.is_ok_and(&same)));
    }
    zeros == 2 && found == [true]
}

/// Takes any text that is a workload's id: the id that it is printed as gives the same workload.
pub fn workload_id(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    if let Ok(workload) = text.parse::<Workload>() {
        let id = workload.to_string();
        assert_eq!(id.parse(), Ok(workload), "{text}");
        let _ = workload.valid();
    }
}
