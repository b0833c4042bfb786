//! Text for terminals that show only ASCII.
//!
//! `--ascii` or the locale decides this once, when cpb starts. Text is converted where it is printed
//! (`cmd/output.rs`); the layout asks [`width`] for the room that the converted text takes, so that columns
//! line up.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::sync::atomic::{AtomicBool, Ordering};

static ON: AtomicBool = AtomicBool::new(false);

/// The option that selects ASCII.
pub const OPTION: &str = "--ascii";

/// Whether text is converted to ASCII.
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Sets whether text is converted to ASCII from now on.
pub fn choose(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

/// Whether a command line selects ASCII, or the environment's locale is not UTF-8. Without a locale UTF-8 is
/// assumed, because terminals support it and many containers set no locale.
pub fn is_wanted(
    mut arguments: impl Iterator<Item = OsString>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> bool {
    let asked = |argument: &OsString| argument == OPTION;
    if arguments.by_ref().take_while(|argument| argument != "--").any(|one| asked(&one)) {
        return true;
    }
    // POSIX, 8.2: the first variable that is set and not empty counts.
    let named = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable);
    named.filter(|value| !value.is_empty()).map(|locale| !has_utf8(&locale)).next().unwrap_or(false)
}

/// Whether a locale's character set is UTF-8: `de_DE.UTF-8@euro`, `C.utf8`.
fn has_utf8(locale: &OsStr) -> bool {
    let locale = locale.to_string_lossy().to_lowercase();
    let set = locale.split_once('.').map_or("", |(_, set)| set);
    set.split('@').next().is_some_and(|set| set == "utf-8" || set == "utf8")
}

/// A text as it is printed: in ASCII if selected.
pub fn shown(text: &str) -> Cow<'_, str> {
    if is_on() { in_ascii(text) } else { Cow::Borrowed(text) }
}

/// JSON as it is printed: in ASCII if selected. Other characters occur only in strings, and are escaped there.
pub fn shown_json(text: &str) -> Cow<'_, str> {
    if is_on() { escaped(text) } else { Cow::Borrowed(text) }
}

/// The number of columns that a text takes on a terminal; every character in reports is one column wide.
pub fn width(text: &str) -> usize {
    shown(text).chars().count()
}

/// Converts a text to ASCII.
fn in_ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut ascii = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii() => ascii.push(c),
            c => ascii.push_str(instead(c)),
        }
    }
    Cow::Owned(ascii)
}

fn escaped(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut ascii = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            ascii.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| ascii += &format!("\\u{unit:04x}"));
        }
    }
    Cow::Owned(ascii)
}

/// The replacement of a character that is not ASCII.
fn instead(c: char) -> &'static str {
    if let Some(letter) = LETTERS.split(' ').nth((c as usize).wrapping_sub(FIRST_LETTER as usize)) {
        return letter;
    }
    match c {
        '±' => "+/-",
        '−' | '–' | '—' | '‐'..='‒' | '─' | '━' => "-",
        '·' => ".",
        '•' => "*",
        'µ' | 'μ' => "u",
        '°' => "deg",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '≈' => "~",
        '→' => "->",
        '←' => "<-",
        '↔' => "<->",
        '…' => "...",
        '‘' | '’' | '‚' | '′' => "'",
        '“' | '”' | '„' | '″' => "\"",
        '«' => "<<",
        '»' => ">>",
        '✓' | '✔' => "yes",
        '✗' | '✘' => "no",
        '²' => "^2",
        '³' => "^3",
        '½' => "1/2",
        '∞' => "inf",
        '€' => "EUR",
        '©' => "(c)",
        '®' => "(R)",
        '™' => "(TM)",
        '█' => "#",
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' => " ",
        // Combining marks.
        '\u{300}'..='\u{36f}' => "",
        _ => "?",
    }
}

/// The letters of Latin-1 and Latin Extended-A, from À to ſ, without their diacritics.
const LETTERS: &str = "A A A A A A AE C E E E E I I I I D N O O O O O x O U U U U Y Th ss a a a a a a ae c e e e e i i \
    i i d n o o o o o / o u u u u y th y A a A a A a C c C c C c C c D d D d E e E e E e E e E e G g \
    G g G g G g H h H h I i I i I i I i I i IJ ij J j K k k L l L l L l L l L l N n N n N n n N n O \
    o O o O o OE oe R r R r R r S s S s S s S s T t T t T t U u U u U u U u U u U u W w Y y Y Z z Z \
    z Z z s";
const FIRST_LETTER: char = 'À';

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(line: &str, variables: &[(&str, &str)]) -> bool {
        let value = |name: &str| variables.iter().find(|(known, _)| *known == name);
        is_wanted(line.split(' ').map(OsString::from), |name| {
            value(name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_option_or_a_locale_without_utf_8_asks_for_it() {
        assert!(wanted("cpb --ascii show", &[("LANG", "C.UTF-8")]));
        assert!(wanted("cpb show --ascii", &[]));
        assert!(!wanted("cpb lab run guest -- tool --ascii", &[]));
        for (variables, ascii) in [
            (&[][..], false),
            (&[("LANG", "")], false),
            (&[("LANG", "C")], true),
            (&[("LANG", "POSIX")], true),
            (&[("LANG", "de_DE")], true),
            (&[("LANG", "de_DE.ISO-8859-15@euro")], true),
            (&[("LANG", "de_DE.UTF-8@euro")], false),
            (&[("LANG", "C.utf8")], false),
            (&[("LANG", "C.UTF-8"), ("LC_ALL", "C")], true),
            (&[("LANG", "C"), ("LC_CTYPE", "en_US.UTF-8")], false),
            (&[("LC_ALL", ""), ("LC_CTYPE", "C"), ("LANG", "C.UTF-8")], true),
        ] {
            assert_eq!(wanted("cpb list", variables), ascii, "{variables:?}");
        }
    }

    #[test]
    fn every_character_has_something_in_its_place() {
        let text = "±1.5% 2× 3 µs ≤ 4 KiB — “5” … ✓ 97 °C, Zürich, Łódź, e\u{301}, 日";
        let ascii = "+/-1.5% 2x 3 us <= 4 KiB - \"5\" ... yes 97 degC, Zurich, Lodz, e, ?";
        assert_eq!(in_ascii(text), ascii);
        assert_eq!(LETTERS.split(' ').count(), 'ſ' as usize - 'À' as usize + 1);
        for c in '\u{80}'..='\u{2fff}' {
            assert!(instead(c).is_ascii(), "{c:?}");
        }
    }

    #[test]
    fn json_stays_what_it_is() {
        let text = serde_json::to_string(&["“µ”", "𝄞"]).expect("JSON");
        let ascii = escaped(&text);
        assert!(ascii.is_ascii(), "{ascii}");
        let [first, second]: [String; 2] = serde_json::from_str(&ascii).expect("JSON");
        assert_eq!((first.as_str(), second.as_str()), ("“µ”", "𝄞"));
    }
}
