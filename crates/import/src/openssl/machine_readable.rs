//! `-mr`: fields separated by colons. For a measurement, `+DT` announces the task and its duration, and `+R` has the
//! count and the seconds. `+H` has the sizes, `+F` a row in bytes a second, `+F2` and later ones public keys.
//!
//! The numbers after `+R` and `+F` differ between versions. So public-key rates are read only if their fields
//! identify them; otherwise only the counts are used.

use super::super::speed_table::SpeedRow;
use super::Call;
use super::doing::Doing;

/// Whether a line has this form, which no other tool prints.
pub(super) fn tells(line: &str) -> bool {
    ["+DT:", "+DTP:", "+F:", "+H:"].iter().any(|start| line.starts_with(start))
}

/// Reads a line, if it has this form.
pub(super) fn line(text: &str, line: u32, call: &mut Call) -> bool {
    // With -multi: the report of a process to the first one.
    if let Some(sizes) = text.strip_prefix("Got: +H:") {
        let sizes: Vec<&str> = sizes.split([':', ' ']).collect();
        call.sizes = numbers(&sizes);
        return true;
    }
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
        // Since 3.2.
        ["DTP", name, operation, seconds] => {
            announce(call, format!("{name} {operation}"), seconds, None, line);
        }
        [kind, count, .., seconds] if kind.starts_with('R') && fields.len() > 3 => {
            // The output of several processes of -multi may be interleaved.
            if let Some(open) = call.counts.last_mut().filter(|open| open.count.is_empty()) {
                open.what = of_table(&open.what, kind);
                (*count).clone_into(&mut open.count);
                (*seconds).clone_into(&mut open.stated);
                open.line = line;
            }
        }
        ["H", sizes @ ..] => call.sizes = numbers(sizes),
        ["F", _, name, rates @ ..] => {
            call.in_bytes = true;
            let rates = rates.iter().map(|rate| ((*rate).to_owned(), line)).collect();
            call.rows.push(SpeedRow { name: (*name).to_owned(), rates, label: None, line });
        }
        _ => return false,
    }
    true
}

/// The numbers at the beginning of `fields`.
fn numbers(fields: &[&str]) -> Vec<u32> {
    fields.iter().map_while(|field| field.parse().ok()).collect()
}

/// The announced name, with its table, which follows from the number of its result: 15 to 17 are key encapsulation,
/// 18 to 20 signatures (apps/speed.c of 3.2 to 3.6).
fn of_table(announced: &str, kind: &str) -> String {
    let table = match kind[1..].parse() {
        Ok(15..=17) => "KEM",
        Ok(18..=20) => "signature",
        Ok(_) | Err(_) => return announced.to_owned(),
    };
    match announced.rsplit_once(' ') {
        Some((name, operation)) => format!("{name} {table} {operation}"),
        None => announced.to_owned(),
    }
}

fn announce(call: &mut Call, what: String, seconds: &str, bytes: Option<u32>, line: u32) {
    if call.counts.last().is_some_and(|count| count.count.is_empty()) {
        call.counts.pop();
    }
    let (count, stated) = (String::new(), String::new());
    let nominal = seconds.to_owned();
    call.counts.push(Doing { what, nominal, bytes, count, stated, line, announced: line });
}
