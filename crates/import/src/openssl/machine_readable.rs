//! `-mr`: fields between colons. Of a measurement `+DT` tells what and for how long, `+R` the count and
//! the seconds; `+H` has the sizes, `+F` a row in bytes a second, `+F2` and later public keys.
//!
//! The numbers behind `+R` and `+F` differ between versions, so public-key rates are read where their
//! fields tell what they are, and otherwise by the counts alone.

use super::super::speed_table::SpeedRow;
use super::Call;
use super::doing::Doing;

/// What nothing else prints.
pub(super) fn tells(line: &str) -> bool {
    ["+DT:", "+DTP:", "+F:", "+H:"].iter().any(|start| line.starts_with(start))
}

/// Takes a line, if it is of that form.
pub(super) fn line(text: &str, line: u32, call: &mut Call) -> bool {
    let Some(rest) = text.strip_prefix('+') else { return false };
    let fields: Vec<&str> = rest.split(':').collect();
    match fields.as_slice() {
        ["DT", name, seconds, bytes] => {
            announce(call, (*name).to_owned(), seconds, bytes.parse().ok(), line)
        }
        ["DTP", bits, what, name, seconds] => {
            let what = format!("{bits} bits {what} {name}");
            let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
            announce(call, what, seconds, None, line);
        }
        [kind, count, .., seconds] if kind.starts_with('R') && fields.len() > 3 => {
            // Processes of -multi print into each other.
            if let Some(open) = call.counts.last_mut().filter(|open| open.count.is_empty()) {
                (*count).clone_into(&mut open.count);
                (*seconds).clone_into(&mut open.stated);
                open.line = line;
            }
        }
        ["H", sizes @ ..] => {
            call.sizes = sizes.iter().map_while(|size| size.parse().ok()).collect();
        }
        ["F", _, name, rates @ ..] => {
            call.in_bytes = true;
            let rates = rates.iter().map(|rate| ((*rate).to_owned(), line)).collect();
            call.rows.push(SpeedRow { name: (*name).to_owned(), rates, label: None, line });
        }
        _ => return false,
    }
    true
}

fn announce(call: &mut Call, what: String, seconds: &str, bytes: Option<u32>, line: u32) {
    call.counts.retain(|count| !count.count.is_empty());
    let (count, stated) = (String::new(), String::new());
    let nominal = seconds.to_owned();
    call.counts.push(Doing { what, nominal, bytes, count, stated, line, announced: line });
}
