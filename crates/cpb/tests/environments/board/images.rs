//! Images for boards that cannot be emulated here: their boot ROM finds what it reads, and everything lies in
//! existing memory.

use super::image;
use object::read::elf::{ElfFile32, ProgramHeader};
use object::{LittleEndian, Object, ObjectSection};
use std::ops::Range;

/// A board's memory according to its chip's reference manual.
struct Board {
    name: &'static str,
    flash: Range<u32>,
    /// The offset of the flash configuration block from the beginning of flash.
    configuration: u32,
    itcm: Range<u32>,
    dtcm: Range<u32>,
    ocram: Range<u32>,
}

const BOARDS: [Board; 2] = [
    Board {
        name: "imxrt1060-evk",
        flash: 0x6000_0000..0x6080_0000,
        configuration: 0,
        itcm: 0..0x2_0000,
        dtcm: 0x2000_0000..0x2002_0000,
        ocram: 0x2020_0000..0x2028_0000,
    },
    Board {
        name: "imxrt1170-evk",
        flash: 0x3000_0000..0x3100_0000,
        configuration: 0x400,
        itcm: 0..0x4_0000,
        dtcm: 0x2000_0000..0x2004_0000,
        ocram: 0x2024_0000..0x202c_0000,
    },
];

/// What a programmer would write into flash.
struct Flash {
    start: u32,
    bytes: Vec<u8>,
}

impl Flash {
    fn of(elf: &ElfFile32<'_, LittleEndian>, board: &Board) -> Flash {
        let mut bytes = vec![0xff; board.flash.len()];
        for header in elf.elf_program_headers() {
            let content = header.data(LittleEndian, elf.data()).expect("a segment");
            if content.is_empty() {
                continue;
            }
            let address = header.p_paddr.get(LittleEndian);
            assert!(board.flash.contains(&address), "{}: {address:#x} is no flash", board.name);
            let place = (address - board.flash.start) as usize;
            bytes[place..place + content.len()].copy_from_slice(content);
        }
        Flash { start: board.flash.start, bytes }
    }

    fn word(&self, address: u32) -> u32 {
        let place = (address - self.start) as usize;
        u32::from_le_bytes(self.bytes[place..place + 4].try_into().expect("four bytes"))
    }
}

#[test]
fn the_boot_rom_of_an_imx_rt_finds_what_it_looks_for() {
    for board in BOARDS {
        let test = "the_boot_rom_of_an_imx_rt_finds_what_it_looks_for";
        let Some(path) = image(test, &format!("{}-O2", board.name)) else { return };
        let bytes = std::fs::read(&path).expect("an image");
        let elf = ElfFile32::<LittleEndian>::parse(&*bytes).expect("an ELF file");
        let flash = Flash::of(&elf, &board);
        let start = board.flash.start;

        // "FCFB", the tag of a flash configuration block, and its version 1.4.0 with letter V.
        let configuration = start + board.configuration;
        assert_eq!(flash.word(configuration), u32::from_le_bytes(*b"FCFB"), "{}", board.name);
        assert_eq!(flash.word(configuration + 4), 0x5601_0400, "{}", board.name);

        // The image vector table: tag, length 32, version 0x40; then entry, boot data, itself.
        let table = start + 0x1000;
        assert_eq!(flash.word(table), 0x4020_00d1, "{}", board.name);
        let (entry, boot_data) = (flash.word(table + 4), flash.word(table + 16));
        assert_eq!(flash.word(table + 20), table, "{}: it knows where it is", board.name);
        assert_eq!(flash.word(boot_data), start, "{}", board.name);
        let end = elf
            .elf_program_headers()
            .iter()
            .map(|header| header.p_paddr.get(LittleEndian) + header.p_filesz.get(LittleEndian));
        let end = end.filter(|end| board.flash.contains(end)).max().expect("segments in flash");
        assert_eq!(flash.word(boot_data + 4), end - start, "{}: the image's length", board.name);
        assert_eq!(flash.word(boot_data + 8), 0, "{}: no plug-in", board.name);

        // The entry is a vector table: a stack, and Thumb code in flash.
        let (stack, reset) = (flash.word(entry), flash.word(entry + 4));
        assert!(board.dtcm.contains(&(stack - 4)) && stack % 8 == 0, "{}: {stack:#x}", board.name);
        assert!(board.flash.contains(&reset) && reset % 2 == 1, "{}: {reset:#x}", board.name);
        assert_eq!(elf.entry() as u32 | 1, reset, "{}", board.name);

        // A programmer that does not accept ELF gets the same bytes.
        let binary = std::fs::read(path.with_extension("bin")).expect("a flash image");
        assert_eq!(binary.len() as u32, end - start, "{}", board.name);
        assert!(flash.bytes[(table - start) as usize..].starts_with(&binary[0x1000..0x2000]));
    }
}

#[test]
fn every_part_of_an_image_lies_where_it_was_placed() {
    for board in BOARDS {
        let test = "every_part_of_an_image_lies_where_it_was_placed";
        let Some(path) = image(test, &format!("{}-O2", board.name)) else { return };
        let bytes = std::fs::read(&path).expect("an image");
        let elf = ElfFile32::<LittleEndian>::parse(&*bytes).expect("an ELF file");
        let places = [
            (".text", &board.itcm),
            (".rodata", &board.dtcm),
            (".stack", &board.dtcm),
            (".data", &board.dtcm),
            (".bss", &board.dtcm),
            (".heap", &board.dtcm),
            (".bulk", &board.ocram),
            (".startup", &board.flash),
        ];
        for (name, memory) in places {
            let section = elf.section_by_name(name).unwrap_or_else(|| panic!("{name} is there"));
            let (first, last) = (section.address(), section.address() + section.size() - 1);
            let inside = memory.contains(&(first as u32)) && memory.contains(&(last as u32));
            assert!(inside, "{}: {name} at {first:#x} to {last:#x}", board.name);
        }
    }
}
