//! Detects numbers in the notation of people and spreadsheets: `28.353,13k`, `28,353.13k`, `28 353.13k`. openssl
//! prints none of these, and they are ambiguous, so they are refused.

use super::super::speed_table;

/// Returns a number with a separator, in a row or a progress line.
pub(super) fn found(text: &str) -> Option<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if text.starts_with("Doing ") {
        return words.into_iter().find(|word| is_number(word) && is_separated(word));
    }
    let named = words.iter().position(|word| is_number(word) && word.contains(is_mark))?;
    let (name, figures) = words.split_at(named);
    let row = named > 0
        && name[0].starts_with(|c: char| c.is_ascii_alphabetic())
        && !name[0].ends_with(':')
        && figures.iter().all(|word| is_number(word));
    if !row {
        return None;
    }
    let parted = || {
        let ends = words.windows(2).find(|pair| is_group(pair[0]) && is_rest(pair[1]))?;
        Some(ends[0])
    };
    figures.iter().copied().find(|word| is_separated(word)).or_else(parted)
}

fn is_mark(c: char) -> bool {
    matches!(c, '.' | ',' | '\'')
}

/// Digits and separators, with or without a unit, that begin and end with a digit.
fn is_number(word: &str) -> bool {
    let number = word.strip_suffix(['k', 's']).unwrap_or(word);
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    digit(number.chars().next())
        && digit(number.chars().next_back())
        && number.chars().all(|c| c.is_ascii_digit() || is_mark(c))
}

fn is_separated(word: &str) -> bool {
    word.contains([',', '\'']) || word.matches('.').count() > 1
}

/// One to three digits alone, as before a space between thousands.
fn is_group(word: &str) -> bool {
    (1..=3).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// A rate of three digits before the point, as after such a space.
fn is_rest(word: &str) -> bool {
    !speed_table::rates(word).is_empty() && word.find('.') == Some(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_openssl_does_not_print_are_found() {
        for (line, word) in [
            ("aes-128-cbc 28353,13k 39013,35k", "28353,13k"),
            ("aes-128-cbc 28,353.13k 39,013.35k", "28,353.13k"),
            ("aes-128-cbc 28'353.13k", "28'353.13k"),
            ("aes-128-cbc 28.353.13k", "28.353.13k"),
            ("aes-128-cbc 28 353.13k 39 013.35k", "28"),
            ("rsa 2048 bits 0,000304s 0,000018s 3285,0 56233,0", "0,000304s"),
            (
                "Doing aes-128-cbc for 3s on 16 size blocks: 5,591,286 aes-128-cbc's in 3.00s",
                "5,591,286",
            ),
            ("Doing aes-128-cbc for 3s on 16 size blocks: 5591286 aes-128-cbc's in 3,00s", "3,00s"),
        ] {
            assert_eq!(found(line), Some(word), "{line}");
        }
    }

    #[test]
    fn numbers_that_it_prints_are_none() {
        for line in [
            "aes-128-cbc      28353.13k    39013.35k",
            "aes-128 cbc 921326.93k infk",
            "rsa 2048 bits 0.000304s 0.000018s 3285.0 56233.0",
            "256 bits ecdsa (nistp256)   0.0000s   0.0001s  25024.0   9283.0",
            "type 16 bytes 64 bytes",
            "compiler: gcc -Wa,--noexecstack -O2",
            "Doing 2048 bits private rsa's for 10s: 32 2048 bits private RSA's in 9.98s",
            "version: 3.0.19",
            "md5 1234567.89k12345678.90kinfk",
            "",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
