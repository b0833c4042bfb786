//! P-256 and P-384: ECDSA and ECDH.

use super::super::ffi::{nettle_version_major, nettle_version_minor};
use super::numbers::{OwnedNumber, number, read, write};
use super::{Body, Buffers, Open, Random, ffi, random, taken};
use crate::key_pairs::make_pairs;
use core::ptr;
use cpb_core::{Error, Operation, Phase, Unsupported};
use ffi::{Curve, DsaSignature, Integer, Point, Scalar};

// SAFETY of all calls below: points, scalars and numbers are live; the curve is one of the library's
// constants; buffers have the stated lengths.

/// Opens a session.
pub(super) fn serve(
    open: &Open<'_>,
    curve: unsafe fn() -> *const Curve,
    body: Body<'_>,
) -> Result<(), Error> {
    // SAFETY: takes no arguments.
    let group = Group(unsafe { curve() });
    match open.operation {
        Operation::Sign => sign(open, group, body),
        Operation::Verify => verify(open, group, body),
        Operation::KeyAgreement => agree(open, group, body),
        _ => generate(open, group, body),
    }
}

fn sign(open: &Open<'_>, group: Group, body: Body<'_>) -> Result<(), Error> {
    let key = group.private_key(open.key)?;
    let mut source = Random::new()?;
    let mut signature = empty_signature();
    open.run(body, |Buffers { input, tag, .. }| {
        let context = source.context();
        // SAFETY: as above.
        unsafe {
            let (length, digest) = (input.len(), input.as_ptr());
            ffi::nettle_ecdsa_sign(&*key, context, random, length, digest, &mut *signature);
        }
        let (r, s) = tag.split_at_mut(tag.len() / 2);
        write(&signature.r, r)?;
        write(&signature.s, s)
    })
}

fn verify(open: &Open<'_>, group: Group, body: Body<'_>) -> Result<(), Error> {
    let mut key = group.point();
    Coordinates::new().point(open.key, &mut key)?;
    let mut signature = empty_signature();
    open.run(body, |Buffers { input, tag, .. }| {
        let (r, s) = tag.split_at(tag.len() / 2);
        read(&mut signature.r, r);
        read(&mut signature.s, s);
        let (length, digest) = (input.len(), input.as_ptr());
        // SAFETY: as above.
        taken(unsafe { ffi::nettle_ecdsa_verify(&*key, length, digest, &*signature) })
            .map_err(|refused| group.defect(&key, input, &signature.r).unwrap_or(refused))
    })
}

fn agree(open: &Open<'_>, group: Group, body: Body<'_>) -> Result<(), Error> {
    let key = group.private_key(open.key)?;
    let (mut peer, mut shared) = (group.point(), group.point());
    let (mut coordinates, mut secret) = (Coordinates::new(), number());
    let mut derive = |peer: &Point, output: &mut [u8]| {
        // SAFETY: as above; y is not requested.
        unsafe {
            ffi::nettle_ecc_point_mul(&mut *shared, &*key, peer);
            ffi::nettle_ecc_point_get(&*shared, &mut *secret, ptr::null_mut());
        }
        write(&secret, output)
    };
    if open.phase == Phase::Update {
        coordinates.point(open.buffers(open.jobs.job(0)?).input, &mut peer)?;
        return open.run(body, |Buffers { output, .. }| derive(&peer, output));
    }
    open.run(body, |Buffers { input, output, .. }| {
        coordinates.point(input, &mut peer)?;
        derive(&peer, output)
    })
}

fn generate(open: &Open<'_>, group: Group, body: Body<'_>) -> Result<(), Error> {
    let mut source = Random::new()?;
    let make = || {
        let (mut public, mut private) = (group.point(), group.scalar());
        let context = source.context();
        // SAFETY: as above.
        unsafe { ffi::nettle_ecdsa_generate_keypair(&mut *public, &mut *private, context, random) };
        Ok((public, private))
    };
    make_pairs(
        open.jobs,
        &open.parts,
        make,
        |(public, private), private_key, public_key| {
            let mut scalar = number();
            // SAFETY: as above.
            unsafe { ffi::nettle_ecc_scalar_get(&**private, &mut *scalar) };
            write(&scalar, private_key)?;
            Coordinates::of(public).write(public_key)
        },
        body,
    )
}

/// One of the library's curves.
#[derive(Clone, Copy)]
struct Group(*const Curve);

impl Group {
    fn point(self) -> OwnedNumber<Point> {
        // SAFETY: ecc.h; a point may be moved.
        unsafe {
            let init = |point| ffi::nettle_ecc_point_init(point, self.0);
            OwnedNumber::new(init, ffi::nettle_ecc_point_clear)
        }
    }

    fn scalar(self) -> OwnedNumber<Scalar> {
        // SAFETY: ecc.h; a scalar may be moved.
        unsafe {
            let init = |scalar| ffi::nettle_ecc_scalar_init(scalar, self.0);
            OwnedNumber::new(init, ffi::nettle_ecc_scalar_clear)
        }
    }

    fn private_key(self, key: &[u8]) -> Result<OwnedNumber<Scalar>, Error> {
        let (mut digits, mut scalar) = (number(), self.scalar());
        read(&mut digits, key);
        // SAFETY: as above.
        taken(unsafe { ffi::nettle_ecc_scalar_set(&mut *scalar, &*digits) })?;
        Ok(scalar)
    }

    /// Before Nettle 3.9, verification refuses a signature, valid or not, if the two points are equal whose sum
    /// decides it (NEWS of 3.9). These are h/s G and r/s Y, so h G and r Y are compared, for the digest h and
    /// the public key Y.
    #[cold]
    fn defect(self, key: &Point, digest: &[u8], r: &Integer) -> Option<Error> {
        // SAFETY: take no arguments.
        let version = unsafe { (nettle_version_major(), nettle_version_minor()) };
        if version >= (3, 9) {
            return None;
        }
        let (h, mut r_scalar) = (self.private_key(digest).ok()?, self.scalar());
        let (mut one, mut other) = (self.point(), self.point());
        // SAFETY: as above.
        unsafe {
            taken(ffi::nettle_ecc_scalar_set(&mut *r_scalar, r)).ok()?;
            ffi::nettle_ecc_point_mul_g(&mut *one, &*h);
            ffi::nettle_ecc_point_mul(&mut *other, &*r_scalar, key);
        }
        let mut encoded = [one, other].map(|point| (point, vec![0; 1 + 2 * digest.len()]));
        for (point, bytes) in &mut encoded {
            Coordinates::of(point).write(bytes).ok()?;
        }
        let [(_, one), (_, other)] = encoded;
        (one == other).then_some(Unsupported::Defect.into())
    }
}

/// A point's coordinates, on their way to the library or back.
struct Coordinates {
    x: OwnedNumber<Integer>,
    y: OwnedNumber<Integer>,
}

/// The byte before the coordinates (SEC 1, 2.3.3).
const UNCOMPRESSED: u8 = 4;

impl Coordinates {
    fn new() -> Coordinates {
        Coordinates { x: number(), y: number() }
    }

    fn of(point: &Point) -> Coordinates {
        let Coordinates { mut x, mut y } = Coordinates::new();
        // SAFETY: as above.
        unsafe { ffi::nettle_ecc_point_get(point, &mut *x, &mut *y) };
        Coordinates { x, y }
    }

    /// Reads a point. The library refuses one that is not on the curve.
    fn point(&mut self, key: &[u8], point: &mut Point) -> Result<(), Error> {
        let Some((&UNCOMPRESSED, coordinates)) = key.split_first() else {
            return Err(Error::Refused);
        };
        let (x, y) = coordinates.split_at(coordinates.len() / 2);
        read(&mut self.x, x);
        read(&mut self.y, y);
        // SAFETY: as above.
        taken(unsafe { ffi::nettle_ecc_point_set(point, &*self.x, &*self.y) })
    }

    fn write(&self, key: &mut [u8]) -> Result<(), Error> {
        let (form, coordinates) = key.split_first_mut().ok_or(Unsupported::Length)?;
        *form = UNCOMPRESSED;
        let (x, y) = coordinates.split_at_mut(coordinates.len() / 2);
        write(&self.x, x)?;
        write(&self.y, y)
    }
}

fn empty_signature() -> OwnedNumber<DsaSignature> {
    // SAFETY: dsa.h; its numbers may be moved.
    unsafe {
        OwnedNumber::new(|new| ffi::nettle_dsa_signature_init(new), ffi::nettle_dsa_signature_clear)
    }
}
