//! Key blobs, contexts and boot headers of encrypted images.

use cpb_otfad::{BLOBS, Context, Kek, Key, KeyBlobs, PARTS, PLAIN, Scramble, boot, open, seal};

/// The bytes before the image: a choice of the part and of scrambling, a key encryption key, its scramble, and the
/// address of the flash.
const HEAD: usize = 1 + 16 + 5 + 4;

/// Takes the head and then an image: whatever it is, it is opened or refused, and what opens is sealed and opened again
/// without a change. Its first bytes are read as an unwrapped context as well, which chance cannot wrap.
pub fn image(bytes: &[u8]) {
    let Some((head, image)) = bytes.split_at_checked(HEAD) else { return };
    let mut key = [0; 16];
    key.copy_from_slice(&head[1..17]);
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let scramble = (head[0] & 0x80 != 0).then(|| Scramble { mask: word(17), align: head[21] });
    let part = &PARTS[usize::from(head[0] & 0x7F) % PARTS.len()];
    let (kek, flash) = (Kek { key: Key::new(key), scramble, part }, word(22));

    if let Some(blobs) = image.first_chunk::<BLOBS>()
        && let Ok(opened) = KeyBlobs::open(blobs, &kek)
    {
        assert_eq!(KeyBlobs::open(&opened.seal(&kek), &kek).as_ref(), Ok(&opened));
        let mut twice = image.to_vec();
        opened.apply(flash, &mut twice);
        opened.apply(flash, &mut twice);
        assert_eq!(twice, image);
    }
    if let Some(plain) = image.first_chunk::<PLAIN>()
        && let Ok(context) = Context::parse(plain)
    {
        assert_eq!(open(&seal(context.as_ref(), 1, &kek), 1, &kek), Ok(context));
    }
    let _ = boot::read(flash, image);
}
