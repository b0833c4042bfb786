//! Properties of blobs and images, for any contexts.

use cpb_otfad::{
    BLOBS, Context, Counter, Flags, Kek, Key, KeyBlobs, OpenError, PARTS, Region, Scramble, boot,
};
use proptest::prelude::*;

const FLASH: u32 = 0x3000_0000;

fn flags() -> impl Strategy<Value = Flags> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(valid, decrypts, locked)| Flags {
        valid,
        decrypts,
        locked,
    })
}

prop_compose! {
    fn context()(
        start in 0_u32..48, size in 1_u32..16, key: [u8; 16], counter: [u8; 8], flags in flags()
    ) -> Context {
        let start = FLASH + start * 1024;
        let region = Region::new(start, u64::from(start + size * 1024)).expect("a region");
        Context { region, key: Key::new(key), counter: Counter(counter), flags }
    }
}

prop_compose! {
    fn kek()(
        key: [u8; 16], scramble in proptest::option::of(any::<(u32, u8)>()), part in 0..PARTS.len()
    ) -> Kek {
        let scramble = scramble.map(|(mask, align)| Scramble { mask, align });
        Kek { key: Key::new(key), scramble, part: &PARTS[part] }
    }
}

/// Any four contexts; regions may overlap.
fn blobs() -> impl Strategy<Value = KeyBlobs> {
    proptest::array::uniform4(proptest::option::of(context()))
        .prop_map(|contexts| KeyBlobs { contexts })
}

proptest! {
    #[test]
    fn what_is_sealed_opens(blobs in blobs(), kek in kek()) {
        prop_assert_eq!(KeyBlobs::open(&blobs.seal(&kek), &kek), Ok(blobs));
    }

    #[test]
    fn another_kek_opens_nothing(blobs in blobs(), kek in kek(), bit in 0_usize..128) {
        let mut other = *kek.key.bytes();
        other[bit / 8] ^= 1 << (bit % 8);
        let other = Kek { key: Key::new(other), ..kek.clone() };
        prop_assert_eq!(KeyBlobs::open(&blobs.seal(&kek), &other), Err(OpenError::Kek));
    }

    #[test]
    fn a_flipped_bit_of_the_blobs_names_its_blob(
        blobs in blobs(), kek in kek(), bit in 0..BLOBS * 8
    ) {
        let mut bytes = blobs.seal(&kek);
        bytes[bit / 8] ^= 1 << (bit % 8);
        let index = match KeyBlobs::open(&bytes, &kek) {
            Err(OpenError::Blob(index, _)) => Some(index),
            _ => None,
        };
        prop_assert_eq!(index, Some(bit / 8 / 64));
    }

    #[test]
    fn an_image_is_encrypted_byte_by_byte_as_a_whole_and_back(
        blobs in blobs(), plain in proptest::collection::vec(any::<u8>(), 1..9000), skip in 0_u32..3000
    ) {
        let mut image = plain.clone();
        blobs.apply(FLASH + skip, &mut image);
        let addresses = FLASH + skip..;
        for ((address, plain), encrypted) in addresses.zip(&plain).zip(&image) {
            let hits = blobs.contexts.iter().flatten();
            let hits = hits.filter(|context| context.flags.valid && context.region.contains(address));
            let hits: Vec<&Context> = hits.collect();
            let key = match hits[..] {
                [context] if context.flags.decrypts => {
                    context.keystream().block(address)[address as usize % 16]
                }
                _ => 0,
            };
            prop_assert_eq!(plain ^ key, *encrypted, "at {:#x}", address);
        }
        blobs.apply(FLASH + skip, &mut image);
        prop_assert_eq!(image, plain);
    }

    #[test]
    fn a_boot_header_is_read_as_written_and_no_bytes_are_too_odd(
        length in 0x2008_usize..0x4000, entry in 0_u32..0x4000, at in 0x400_usize..0x1030, byte: u8
    ) {
        let mut image = vec![0; length];
        let boot = boot::Boot { entry: FLASH + entry, start: FLASH, length: length as u32 };
        let mut configuration = [0; 512];
        configuration[..4].copy_from_slice(b"FCFB");
        boot::write(&boot, &configuration, &mut image).expect("room");
        let expected = if entry as usize + 8 <= length {
            Ok(boot)
        } else {
            Err(boot::BootError::Entry(boot.entry))
        };
        prop_assert_eq!(boot::read(FLASH, &image), expected);
        image[at] = byte;
        let _ = boot::read(FLASH, &image);
    }
}
