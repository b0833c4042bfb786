//! Archives in the "newc" format, which Linux accepts as its first file system: see
//! Documentation/driver-api/early-userspace/buffer-format.rst. Everything in an archive belongs to root,
//! whichever user creates it.

use std::io::{self, Write};

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const DATA: u32 = 0o100_644;
const LINK: u32 = 0o120_777;
const CHARACTER_DEVICE: u32 = 0o020_600;

/// An archive that is being written. A folder comes before its contents.
pub(super) struct Archive<W: Write> {
    output: W,
    files: u32,
    /// Bytes written so far; names and contents are aligned to four bytes.
    length: usize,
}

impl<W: Write> Archive<W> {
    pub(super) fn new(output: W) -> Archive<W> {
        Archive { output, files: 0, length: 0 }
    }

    pub(super) fn directory(&mut self, path: &str) -> io::Result<()> {
        self.entry(path, DIRECTORY, (0, 0), &[])
    }

    pub(super) fn program(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        self.entry(path, PROGRAM, (0, 0), content)
    }

    pub(super) fn file(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        self.entry(path, DATA, (0, 0), content)
    }

    pub(super) fn link(&mut self, path: &str, leads_to: &str) -> io::Result<()> {
        self.entry(path, LINK, (0, 0), leads_to.as_bytes())
    }

    pub(super) fn character_device(&mut self, path: &str, number: (u32, u32)) -> io::Result<()> {
        self.entry(path, CHARACTER_DEVICE, number, &[])
    }

    /// Writes the last entry.
    pub(super) fn end(mut self) -> io::Result<W> {
        self.entry("TRAILER!!!", 0, (0, 0), &[])?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn entry(
        &mut self,
        path: &str,
        mode: u32,
        (major, minor): (u32, u32),
        content: &[u8],
    ) -> io::Result<()> {
        self.files += 1;
        let too_long = |_| io::Error::other(format!("{path} is too long for an initramfs"));
        let size = u32::try_from(content.len()).map_err(too_long)?;
        // The terminating NUL counts.
        let name_size = u32::try_from(path.len() + 1).map_err(too_long)?;
        let numbers = [self.files, mode, 0, 0, 1, 0, size, 0, 0, major, minor, name_size, 0];
        self.write(b"070701")?;
        for number in numbers {
            self.write(format!("{number:08x}").as_bytes())?;
        }
        self.write(path.as_bytes())?;
        self.write(&[0])?;
        self.pad()?;
        self.write(content)?;
        self.pad()
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.length += bytes.len();
        self.output.write_all(bytes)
    }

    fn pad(&mut self) -> io::Result<()> {
        let missing = self.length.wrapping_neg() % 4;
        self.write(&[0; 3][..missing])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_laid_out_as_the_kernel_s_document_says() {
        let mut archive = Archive::new(Vec::new());
        archive.directory("bin").expect("memory");
        archive.program("bin/sh", b"#!ash").expect("memory");
        archive.character_device("console", (5, 1)).expect("memory");
        let bytes = archive.end().expect("memory");
        // 110 bytes of header, "bin\0" to 114, padded to 116; then the next header.
        let text = String::from_utf8(bytes.clone()).expect("nothing but ASCII");
        assert_eq!(&text[..14], "07070100000001");
        assert_eq!(&text[14..22], "000041ed", "a folder, mode 755");
        assert_eq!(&text[110..116], "bin\0\0\0");
        assert_eq!(&text[116..122], "070701");
        assert_eq!(&text[116 + 54..116 + 62], "00000005", "five bytes of content");
        assert_eq!(&text[226..233], "bin/sh\0");
        assert_eq!(&text[236..241], "#!ash", "content begins at a multiple of four");
        assert_eq!(&text[244..250], "070701");
        assert_eq!(&text[244 + 78..244 + 94], "0000000500000001", "major and minor");
        assert!(text.trim_end_matches('\0').ends_with("TRAILER!!!"));
        assert!(bytes.len().is_multiple_of(4));
    }
}
