//! Jobs of the accelerator for public keys: one operation each (NXP's driver `fsl_caam` 2.4.0 has the same sequence of
//! commands, `templateArithmeticPKHA` and `templateArithmeticECC`).

use super::super::descriptor::{Descriptor, Format, class, key, pkha};
use super::super::{Caam, Completion};
use super::curve::{Curve, Number, Point};
use crate::queue::address;
use cpb_core::{Bus, Error};

/// What a point is multiplied by, or what is added to it.
pub(super) enum Operand<'p> {
    /// A scalar.
    Scalar(&'p [u8]),
    /// A point. If it is the same as the first one, that is doubled.
    Point(&'p Point),
}

impl<B: Bus> Caam<'_, B> {
    /// An operation modulo `n` with A and B, of which B may be empty. The result is as long as `n`.
    pub(super) fn modular(
        &mut self,
        function: u32,
        [a, b]: [&[u8]; 2],
        n: &[u8],
        result: &mut Number,
        how: Completion,
    ) -> Result<(), Error> {
        let mut job = begun();
        for (kind, part) in [(pkha::N, n), (pkha::A, a), (pkha::B, b)] {
            self.load_number(&mut job, kind, part)?;
        }
        job.operation(pkha::OPERATION | function);
        self.store_number(&mut job, pkha::B, result, n.len())?;
        self.run(job, how)?;
        self.bus.invalidate(&mut result.0);
        Ok(())
    }

    /// The product of a point and a scalar, whose time does not depend on it, or the sum of two points.
    pub(super) fn point(
        &mut self,
        curve: &Curve,
        one: &Point,
        other: Operand<'_>,
        result: &mut Point,
        how: Completion,
    ) -> Result<(), Error> {
        let size = curve.size;
        let mut job = begun();
        for (kind, part) in [(pkha::N, &curve.prime), (pkha::A3, &curve.a), (pkha::B0, &curve.b)] {
            self.load_number(&mut job, kind, &part.0[..size])?;
        }
        let function = match other {
            Operand::Scalar(scalar) => {
                self.bus.clean(scalar);
                let place = address(&self.bus, scalar)?.into();
                job.key(class::ONE | key::PK_E, place, scalar.len());
                pkha::POINT_MULTIPLE | pkha::EQUAL_TIME
            }
            Operand::Point(other) => {
                self.load_number(&mut job, pkha::B1, &other.x.0[..size])?;
                self.load_number(&mut job, pkha::B2, &other.y.0[..size])?;
                let is_same = (one.x.0, one.y.0) == (other.x.0, other.y.0);
                if is_same { pkha::POINT_DOUBLE } else { pkha::POINT_SUM }
            }
        };
        self.load_number(&mut job, pkha::A0, &one.x.0[..size])?;
        self.load_number(&mut job, pkha::A1, &one.y.0[..size])?;
        job.operation(pkha::OPERATION | function);
        self.store_number(&mut job, pkha::B1, &mut result.x, size)?;
        self.store_number(&mut job, pkha::B2, &mut result.y, size)?;
        self.run(job, how)?;
        self.bus.invalidate(&mut result.x.0);
        self.bus.invalidate(&mut result.y.0);
        Ok(())
    }

    fn load_number(&mut self, job: &mut Descriptor, kind: u32, number: &[u8]) -> Result<(), Error> {
        if !number.is_empty() {
            self.bus.clean(number);
            let place = address(&self.bus, number)?.into();
            job.fifo_load(class::ONE | kind, place, number.len() as u32);
        }
        Ok(())
    }

    fn store_number(
        &mut self,
        job: &mut Descriptor,
        kind: u32,
        number: &mut Number,
        size: usize,
    ) -> Result<(), Error> {
        self.bus.clean(&number.0);
        job.fifo_store(kind, address(&self.bus, &number.0)?.into(), size as u32);
        Ok(())
    }
}

/// A job that begins with empty memories.
fn begun() -> Descriptor {
    let mut job = Descriptor::job(Format::RT1170);
    let all = pkha::CLEAR_A | pkha::CLEAR_B | pkha::CLEAR_E | pkha::CLEAR_N;
    job.operation(pkha::OPERATION | pkha::CLEAR | all);
    // Waits until they are empty.
    job.jump(class::ONE | 1);
    job
}
