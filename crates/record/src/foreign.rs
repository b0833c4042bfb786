//! Untrusted text: characters in records, logs and file names that change how the text around them is displayed.
//!
//! Control characters are commands to a terminal. Unicode's bidirectional controls let text appear in a different
//! order than it is stored in (Unicode Technical Report 36, 2.6). A spreadsheet evaluates a field that begins like a
//! formula.

use std::borrow::Cow;

/// The replacement of each unwanted character.
const REPLACEMENT: char = '\u{fffd}';

/// Whether a character changes how its neighbours appear, or is a command to a terminal.
pub fn is_disguise(c: char) -> bool {
    c.is_control() || turns(c)
}

/// Whether a character changes the direction of text, or is a line or paragraph separator.
pub fn turns(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Replaces every character of `text` for which [`is_disguise`] is true.
pub fn plain(text: &str) -> Cow<'_, str> {
    replaced(text, is_disguise)
}

/// Like [`plain`], but keeps line feeds.
pub fn plain_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c != '\n' && is_disguise(c))
}

fn replaced(text: &str, unwanted: fn(char) -> bool) -> Cow<'_, str> {
    if text.contains(unwanted) {
        Cow::Owned(text.replace(unwanted, REPLACEMENT.encode_utf8(&mut [0; 4])))
    } else {
        Cow::Borrowed(text)
    }
}

/// A word of a command that readers may copy into a shell: quoted if the shell would change or split it.
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let is_safe = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    match !word.is_empty() && word.chars().all(is_safe) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

/// The characters that a spreadsheet takes for the beginning of a formula.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

/// Prefix of a field that begins like a formula; it makes the field text.
const QUOTE: char = '\'';

/// Whether a spreadsheet would evaluate the field: it begins like a formula, has more than one character, and is not
/// a number.
fn computes(field: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | 'e' | 'E');
    let number = field.chars().all(digits) && field.parse::<f64>().is_ok();
    field.starts_with(FORMULA) && field.chars().nth(1).is_some() && !number
}

/// Escapes a field of a table that may be opened in a spreadsheet.
pub fn field(text: String) -> String {
    if computes(&text) { format!("{QUOTE}{text}") } else { text }
}

/// Undoes [`field`].
pub fn unquoted(field: &str) -> &str {
    field.strip_prefix(QUOTE).filter(|text| computes(text)).unwrap_or(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_replaced_and_what_is_written_stays() {
        assert_eq!(plain("a\u{202e}b\u{1b}[2Jc\n"), "a\u{fffd}b\u{fffd}[2Jc\u{fffd}");
        assert_eq!(plain_lines("a\u{2066}\nb\u{200f}"), "a\u{fffd}\nb\u{fffd}");
        for text in ["", "µs ± 5 %", "日本語", "עברית", "e\u{301}"] {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn a_field_that_would_be_computed_is_text_and_numbers_stay_numbers() {
        for text in ["=1+1", "@SUM(A1)", "+cmd", "-2+3", "\tx", "＝A1", "-inf"] {
            let field = field(text.to_owned());
            assert_eq!(field, format!("'{text}"));
            assert_eq!(unquoted(&field), text);
        }
        for text in ["", "-", "-1.5", "+3e-7", "openssl", "a=b", "'quoted'", "12"] {
            assert_eq!(field(text.to_owned()), text);
            assert_eq!(unquoted(text), text);
        }
    }

    #[test]
    fn a_word_that_a_shell_would_change_is_quoted() {
        for word in ["imx6", "a-b_c.txt", "ssh:root@board", "cpb-results/x=1.jsonl", "Zürich"] {
            assert_eq!(shell_word(word), word);
        }
        for (word, quoted) in
            [("", "''"), ("NXP i.MX6", "'NXP i.MX6'"), ("$(x)", "'$(x)'"), ("a'b", r"'a'\''b'")]
        {
            assert_eq!(shell_word(word), quoted);
        }
    }
}
