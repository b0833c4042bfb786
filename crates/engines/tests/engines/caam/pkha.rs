//! The accelerator for public keys by itself: modular arithmetic and curves, with published answers, in each layout.

use super::*;
use cpb_drivers::caam::descriptor::{command, key, pkha};
use cpb_drivers::caam::status::{ccb, ccb_error, cha, deco, deco_error};

/// P-256 (SP 800-186, 3.2.1.3): p, a, b, the base point, and its order.
const P_256: [&str; 6] = [
    "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
    "ffffffff00000001000000000000000000000000fffffffffffffffffffffffc",
    "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
    "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
    "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
];

/// P-384 (SP 800-186, 3.2.1.4).
const P_384: [&str; 6] = [
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff",
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000fffffffc",
    "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
    "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
    "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
    "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
];

/// The published cases of a curve that are valid, each as private scalar, point, and x of the product.
fn published(algorithm: &str) -> Vec<[Vec<u8>; 3]> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/ecdh.json");
    let text = std::fs::read_to_string(path).expect("the vectors");
    let family: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let groups = family["groups"].as_array().expect("groups");
    let group = groups.iter().find(|group| group["algorithm"] == algorithm).expect("the algorithm");
    let cases = group["cases"].as_array().expect("cases");
    let valid = cases.iter().filter(|case| case["valid"] != false);
    let parts = |case: &serde_json::Value| {
        ["private", "message", "result"].map(|name| hex(case[name].as_str().expect("a field")))
    };
    valid.map(parts).collect()
}

/// Loads numbers by their types.
fn load(machine: &mut Machine, job: &mut Descriptor, numbers: &[(u32, &[u8])]) {
    for (kind, number) in numbers {
        let place = machine.put(number);
        job.fifo_load(class::ONE | kind, place, number.len() as u32);
    }
}

/// A modular operation: the status, and the result as long as the modulus.
fn modular(
    machine: &mut Machine,
    function: u32,
    a: &[u8],
    b: &[u8],
    e: &[u8],
    n: &[u8],
) -> (u32, Vec<u8>) {
    let mut job = machine.job();
    job.operation(pkha::OPERATION | pkha::CLEAR | 0xF << 16).jump(class::ONE | 1);
    load(machine, &mut job, &[(pkha::N, n), (pkha::A, a)]);
    if !b.is_empty() {
        load(machine, &mut job, &[(pkha::B, b)]);
    }
    if !e.is_empty() {
        let place = machine.put(e);
        job.key(class::ONE | key::PK_E, place, e.len());
    }
    let output = machine.room(n.len());
    let kind = if function & pkha::TO_A != 0 { pkha::A } else { pkha::B };
    job.operation(pkha::OPERATION | function).fifo_store(kind, output, n.len() as u32);
    (machine.run(&mut job), machine.bytes(output, n.len()).to_vec())
}

/// An operation of a curve with a scalar or a second point: the result, x before y.
fn curve(
    machine: &mut Machine,
    curve: &[Vec<u8>],
    function: u32,
    one: &[u8],
    other: &[u8],
    scalar: &[u8],
) -> (u32, Vec<u8>) {
    let size = curve[0].len();
    let mut job = machine.job();
    job.operation(pkha::OPERATION | pkha::CLEAR | 0xF << 16).jump(class::ONE | 1);
    let numbers = [(pkha::N, &curve[0][..]), (pkha::A3, &curve[1]), (pkha::B0, &curve[2])];
    load(machine, &mut job, &numbers);
    if !one.is_empty() {
        load(machine, &mut job, &[(pkha::A0, &one[..size]), (pkha::A1, &one[size..])]);
    }
    if !other.is_empty() {
        load(machine, &mut job, &[(pkha::B1, &other[..size]), (pkha::B2, &other[size..])]);
    }
    if !scalar.is_empty() {
        let place = machine.put(scalar);
        job.key(class::ONE | key::PK_E, place, scalar.len());
    }
    let output = machine.room(2 * size);
    let size = size as u32;
    job.operation(pkha::OPERATION | function).fifo_store(pkha::B1, output, size).fifo_store(
        pkha::B2,
        output + u64::from(size),
        size,
    );
    (machine.run(&mut job), machine.bytes(output, 2 * size as usize).to_vec())
}

#[test]
fn modular_arithmetic_is_right_in_each_layout() {
    // Modulo 65377; the answers are Python's.
    let n = hex("00ff61");
    for configuration in configurations() {
        let mut machine = Machine::new(configuration);
        for (function, a, b, e, result) in [
            (pkha::ADD, "fedc", "0102", "", "00007d"),
            (pkha::ADD | pkha::TO_A, "fedc", "0102", "", "00007d"),
            (pkha::SUBTRACT, "0001", "0003", "", "00ff5f"),
            (pkha::SUBTRACT_A, "0001", "0003", "", "000002"),
            (pkha::MULTIPLY, "1234", "4321", "", "00ecec"),
            (pkha::POWER, "1234", "", "010001", "000600"),
            (pkha::POWER | pkha::EQUAL_TIME, "1234", "", "010001", "000600"),
            (pkha::POWER, "1234", "", "00", "000001"),
            (pkha::REDUCE, "fedcba9876", "", "", "003e0e"),
            (pkha::INVERT, "0003", "", "", "00aa41"),
        ] {
            let known = modular(&mut machine, function, &hex(a), &hex(b), &hex(e), &n);
            assert_eq!(known, (0, hex(result)), "{function:#x}");
        }
    }
}

/// As some drivers do, which have E only in memory B.
#[test]
fn a_number_can_be_copied_from_b_to_e() {
    let mut machine = Machine::imx();
    let mut job = machine.job();
    load(&mut machine, &mut job, &[(pkha::N, &hex("ff61")), (pkha::A, &hex("1234"))]);
    load(&mut machine, &mut job, &[(pkha::B, &hex("010001"))]);
    let output = machine.room(2);
    let copy = pkha::REGISTER_B << pkha::FROM | pkha::REGISTER_E << pkha::TO;
    job.operation(pkha::OPERATION | pkha::COPY_BY_SOURCE | copy)
        .operation(pkha::OPERATION | pkha::POWER)
        .fifo_store(pkha::B, output, 2);
    assert_eq!(machine.run(&mut job), 0);
    assert_eq!(machine.bytes(output, 2), hex("0600"));
}

/// From A0 to A1, then back from A1 by the modulus' size.
#[test]
fn quarters_are_copied_and_stored() {
    let mut machine = Machine::imx();
    let mut job = machine.job();
    load(&mut machine, &mut job, &[(pkha::N, &[9; 4]), (pkha::A0, &hex("0102030405"))]);
    let output = machine.room(16);
    job.operation(pkha::OPERATION | pkha::COPY_BY_SOURCE | 1 << pkha::TO_QUARTER)
        .fifo_store(pkha::A1, output, 5)
        .operation(
            pkha::OPERATION
                | pkha::COPY_BY_MODULUS
                | 1 << pkha::FROM_QUARTER
                | pkha::REGISTER_B << pkha::TO,
        )
        .fifo_store(pkha::B0, output + 8, 6);
    assert_eq!(machine.run(&mut job), 0);
    assert_eq!(machine.bytes(output, 5), hex("0102030405"));
    assert_eq!(machine.bytes(output + 8, 6), hex("000002030405"));
}

#[test]
fn published_products_of_points_come_out() {
    for (algorithm, parameters) in [("ecdh-p256", P_256), ("ecdh-p384", P_384)] {
        let parameters = parameters.map(hex);
        let cases = published(algorithm);
        assert!(cases.len() > 40);
        for (number, [scalar, point, product]) in cases.iter().enumerate() {
            // The layouts take turns.
            let mut machine = Machine::new(configurations()[number % 5]);
            let equal_time = if number % 2 == 0 { pkha::EQUAL_TIME } else { 0 };
            let function = pkha::POINT_MULTIPLE | equal_time;
            let (status, result) =
                curve(&mut machine, &parameters, function, &point[1..], &[], scalar);
            assert_eq!((status, &result[..product.len()]), (0, &product[..]));
        }
    }
}

#[test]
fn sums_doubles_and_infinity_are_what_multiples_say() {
    for parameters in [P_256, P_384] {
        let parameters = parameters.map(hex);
        let [.., x, y, order] = &parameters;
        let base = [&x[..], y].concat();
        let mut machine = Machine::imx();
        let mut multiple = |scalar: &[u8]| {
            let known = curve(&mut machine, &parameters, pkha::POINT_MULTIPLE, &base, &[], scalar);
            assert_eq!(known.0, 0);
            known.1
        };
        let [one, two, three, infinity] = [&[1][..], &[2], &[3], order].map(&mut multiple);
        let mut before = order.clone();
        *before.last_mut().expect("a byte") -= 1;
        let minus_one = multiple(&before);
        assert_eq!(one, base);
        assert_eq!(infinity, vec![0; base.len()]);
        assert_eq!(minus_one[..x.len()], base[..x.len()]);
        let mut sum = |function, one: &[u8], other: &[u8]| {
            let known = curve(&mut machine, &parameters, function, one, other, &[]);
            assert_eq!(known.0, 0);
            known.1
        };
        assert_eq!(sum(pkha::POINT_SUM, &one, &two), three);
        assert_eq!(sum(pkha::POINT_SUM, &one, &one), two);
        assert_eq!(sum(pkha::POINT_DOUBLE, &[], &one), two);
        assert_eq!(sum(pkha::POINT_SUM, &one, &minus_one), infinity);
        assert_eq!(sum(pkha::POINT_SUM, &infinity, &two), two);
        assert_eq!(sum(pkha::POINT_SUM, &two, &infinity), two);
    }
}

#[test]
fn operations_that_cannot_be_are_errors_and_the_next_job_is_right() {
    let mut machine = Machine::imx();
    // The index of the operation: header, clear, jump, two words a number.
    let pk = |index, error| ccb_error(index, cha::PK, error);
    let modular = |function, a: usize, b: usize, n: &[u8]| {
        let mut machine = Machine::imx();
        modular(&mut machine, function, &vec![1; a], &vec![1; b], &[], n).0
    };
    for (status, right) in [
        (modular(pkha::ADD, 3, 2, &[7; 2]), pk(9, ccb::PK_A_SIZE)),
        (modular(pkha::ADD, 2, 3, &[7; 2]), pk(9, ccb::PK_B_SIZE)),
        (modular(pkha::ADD, 2, 2, &[0; 2]), pk(9, ccb::PK_ZERO)),
        (modular(pkha::MULTIPLY, 2, 2, &[8; 2]), pk(9, ccb::PK_EVEN)),
        (modular(pkha::POWER, 2, 0, &[7; 2]), pk(7, ccb::KEY_SIZE)),
        // 257 is a factor of both.
        (modular(pkha::INVERT, 2, 0, &[7; 2]), pk(7, ccb::PK_ZERO)),
        (modular(pkha::MULTIPLY | 1 << 19, 2, 2, &[7; 2]), pk(9, ccb::MODE)),
        (modular(14, 2, 2, &[7; 2]), pk(9, ccb::MODE)),
        (modular(pkha::ADD, 2, 2, &[7; 513]), deco_error(3, deco::FIFO_LOAD)),
        (modular(pkha::POINT_SUM, 2, 2, &[7; 129]), pk(9, ccb::DATA_SIZE)),
        (modular(pkha::POINT_MULTIPLE, 2, 2, &[7; 2]), pk(9, ccb::KEY_SIZE)),
    ] {
        assert_eq!(status, right);
    }
    let place = machine.put(&[1; 600]);
    for (number, command) in [
        // A quarter is too small, and E is no source.
        (deco_error(1, deco::FIFO_LOAD), (command::FIFO_LOAD | class::ONE | pkha::A1 | 129)),
        (deco_error(1, deco::FIFO_LOAD), (command::FIFO_LOAD | class::TWO | pkha::A1 | 16)),
        (deco_error(1, deco::FIFO_STORE), (command::FIFO_STORE | pkha::B1 | 129)),
        (deco_error(1, deco::FIFO_STORE), (command::FIFO_STORE | pkha::B | 513)),
        (deco_error(1, deco::KEY), (command::KEY | class::ONE | key::PK_E | 513)),
        (deco_error(1, deco::KEY), (command::KEY | class::TWO | key::PK_E | 16)),
    ] {
        let mut job = machine.job();
        job.push(command).pointer(place);
        assert_eq!(machine.run(&mut job), number, "{command:#x}");
    }
    for copy in [pkha::REGISTER_E << pkha::FROM, 4 << pkha::TO] {
        let mut job = machine.job();
        job.operation(pkha::OPERATION | pkha::COPY_BY_SOURCE | copy);
        assert_eq!(machine.run(&mut job), pk(1, ccb::MODE));
    }
    machine.works();
}

/// The longest scalar and the smallest prime, in a loop.
#[test]
fn a_descriptor_that_multiplies_without_end_expires_soon() {
    let mut machine = Machine::imx();
    let (scalar, prime) = (machine.put(&[0xFF; 512]), machine.put(&[7]));
    let mut job = machine.job();
    job.fifo_load(class::ONE | pkha::N, prime, 1)
        .key(class::ONE | key::PK_E, scalar, 512)
        .operation(pkha::OPERATION | pkha::POINT_MULTIPLE)
        .jump(0xFF);
    assert_eq!(machine.run(&mut job), deco_error(5, deco::WATCHDOG));
    machine.works();
}

/// A multiple of P-256's base point by a scalar of ones and by one of a single bit.
#[test]
fn only_a_multiple_in_equal_time_costs_the_same_for_all_scalars() {
    let parameters = P_256.map(hex);
    let base = [&parameters[3][..], &parameters[4]].concat();
    let ticks = |function, scalar: &[u8]| {
        let timing = Timing { word_product: 1.0, ..Timing::default() };
        let mut machine = Machine::with_timing(configurations()[0], timing);
        let (status, _) = curve(&mut machine, &parameters, function, &base, &[], scalar);
        assert_eq!(status, 0);
        machine.now
    };
    let equal = pkha::POINT_MULTIPLE | pkha::EQUAL_TIME;
    let (ones, single) = ([0xFF; 32], [&[0x80][..], &[0; 31]].concat());
    assert_eq!(ticks(equal, &ones), ticks(equal, &single));
    assert_eq!(ticks(equal, &ones), ticks(pkha::POINT_MULTIPLE, &ones));
    assert!(ticks(pkha::POINT_MULTIPLE, &single) < ticks(equal, &single) / 10 * 6);
    // 256 doublings and additions, and what makes the result affine.
    let product = 2 * 8 * 8 + 8;
    assert_eq!(ticks(equal, &ones), (256 * 21 + 4) * product + 2 * 256 * 8);
}
