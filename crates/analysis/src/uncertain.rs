//! Figures that track the sources of their errors, so that sums and differences get the right error instead of one
//! that assumes independence.
//!
//! A temporary slowdown of the machine affects all cells of a pass. Each figure therefore carries the contribution of
//! each pass to its error (the jackknife's contributions). In a sum these are added pass by pass before they are
//! squared. So a difference of two cells has a smaller error than either, exactly to the extent to which they moved
//! together.

use crate::location::{Confidence, Location, student};
use crate::units::{Interval, Unit};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A figure and the parts of its error.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertain {
    /// The figure.
    pub value: f64,
    /// The contribution of each pass to the error, as (pass number, error), by number.
    by_pass: Vec<(u32, f64)>,
    /// Variance that does not come from any pass.
    own: f64,
    /// Degrees of freedom of the error; `None` if the error is unknown.
    freedom: Option<usize>,
}

/// A figure with its bounds, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounded<U> {
    /// The figure.
    pub value: U,
    /// The 95 % confidence interval; `None` if the error is unknown.
    pub interval: Option<Interval<U>>,
}

impl Uncertain {
    /// From a location, in logarithms, of passes with these `numbers`, in ascending order. `grain` is the uncertainty
    /// from rounding to the clock's resolution, as a share.
    pub fn of_passes(
        location: &Location,
        numbers: impl Iterator<Item = u32>,
        grain: f64,
    ) -> Uncertain {
        let value = location.value.exp();
        let by_pass = numbers.zip(location.errors().map(|error| error * value)).collect();
        Uncertain { value, by_pass, own: (grain * value).powi(2), freedom: location.freedom() }
    }

    /// From passes with these numbers and values above 0, in ascending order, for tests.
    #[cfg(test)]
    pub(crate) fn planted(passes: &[(u32, f64)]) -> Uncertain {
        let logs: Vec<f64> = passes.iter().map(|(_, value)| value.ln()).collect();
        let location = Location::of(&logs).expect("passes");
        Uncertain::of_passes(&location, passes.iter().map(|(number, _)| *number), 0.0)
    }

    /// A single reading, whose error is unknown.
    pub fn single(value: f64) -> Uncertain {
        Uncertain { value, by_pass: Vec::new(), own: 0.0, freedom: None }
    }

    /// The same figure with an additional error that no other figure shares: `error` is its standard deviation, known
    /// with `freedom` degrees of freedom.
    pub fn scattered(&self, error: f64, freedom: usize) -> Uncertain {
        Uncertain {
            own: self.own + error.powi(2),
            freedom: Some(self.freedom.unwrap_or(freedom)),
            ..self.clone()
        }
    }

    /// A linear combination of figures, none of which is a sum of the others.
    pub fn sum<'a>(terms: impl IntoIterator<Item = (f64, &'a Uncertain)>) -> Uncertain {
        let mut sum =
            Uncertain { value: 0.0, by_pass: Vec::new(), own: 0.0, freedom: Some(usize::MAX) };
        for (factor, term) in terms {
            sum.value += factor * term.value;
            sum.own += factor.powi(2) * term.own;
            sum.freedom = sum.freedom.zip(term.freedom).map(|(a, b)| a.min(b));
            sum.by_pass = merged(&sum.by_pass, &term.by_pass, factor);
        }
        sum
    }

    /// A linear combination of figures with independent errors. Many figures with few degrees of freedom each give a
    /// sum with many (Satterthwaite 1946).
    pub fn sum_of_independent<'a>(
        terms: impl IntoIterator<Item = (f64, &'a Uncertain)>,
    ) -> Uncertain {
        let terms: Vec<(f64, &Uncertain)> = terms.into_iter().collect();
        let variances = || terms.iter().map(|(factor, term)| (factor * term.error()).powi(2));
        let own = variances().sum::<f64>();
        let freedom = terms.iter().map(|(_, term)| term.freedom).collect::<Option<Vec<_>>>();
        let spread = |freedom: Vec<usize>| -> f64 {
            variances().zip(freedom).map(|(variance, n)| variance.powi(2) / n as f64).sum()
        };
        // The cast saturates: without scatter, the degrees of freedom are as many as possible.
        let freedom = freedom.map(|freedom| (own.powi(2) / spread(freedom)).max(1.0) as usize);
        let value = terms.iter().map(|(factor, term)| factor * term.value).sum();
        Uncertain { value, by_pass: Vec::new(), own, freedom }
    }

    /// The same figure with errors that no other figure shares, for figures of different runs, which have no passes
    /// in common.
    pub fn apart(&self) -> Uncertain {
        let own = self.error().powi(2);
        Uncertain { value: self.value, by_pass: Vec::new(), own, freedom: self.freedom }
    }

    /// The errors of this figure about another value.
    pub fn about(self, value: f64) -> Uncertain {
        Uncertain { value, ..self }
    }

    /// Whether its error is unknown.
    pub fn is_single(&self) -> bool {
        self.freedom.is_none()
    }

    /// `offset` plus `factor` times its natural logarithm, with errors to first order.
    pub fn ln(&self, factor: f64, offset: f64) -> Uncertain {
        let scale = factor / self.value;
        let by_pass = self.by_pass.iter().map(|(n, error)| (*n, error * scale)).collect();
        let value = offset + factor * self.value.ln();
        Uncertain { value, by_pass, own: self.own * scale.powi(2), freedom: self.freedom }
    }

    /// The standard error, as far as it is known.
    pub fn error(&self) -> f64 {
        let squares: f64 = self.by_pass.iter().map(|(_, error)| error.powi(2)).sum();
        (squares + self.own).sqrt()
    }

    /// Half the width of the interval; `None` if the error is unknown.
    pub fn margin(&self, confidence: Confidence) -> Option<f64> {
        Some(self.error() * student(self.freedom?, confidence))
    }

    /// The probability that the error alone moves a figure at least this far from 0, if its true value is 0. `None`
    /// if the error is unknown.
    pub fn chance_of_nothing(&self) -> Option<f64> {
        let freedom = self.freedom? as f64;
        let distance = self.value.abs() / self.error();
        if distance.is_nan() {
            return Some(1.0);
        }
        let student = StudentsT::new(0.0, 1.0, freedom.clamp(1.0, 1e6)).ok()?;
        Some(2.0 * student.sf(distance))
    }

    /// The figure with its 95 % interval.
    pub fn bounded<U: Unit>(&self) -> Bounded<U> {
        self.map(|value| value)
    }

    /// A monotonic function of the figure, with its interval.
    pub fn map<U: Unit>(&self, function: impl Fn(f64) -> f64) -> Bounded<U> {
        let interval = self.margin(Confidence::Shown).map(|margin| {
            let bounds = [self.value - margin, self.value + margin].map(&function);
            let (low, high) = (bounds[0].min(bounds[1]), bounds[0].max(bounds[1]));
            Interval { low: U::of(low), high: U::of(high) }
        });
        Bounded { value: U::of(function(self.value)), interval }
    }
}

/// Errors by pass, with those of `others` multiplied by `factor`.
fn merged(errors: &[(u32, f64)], others: &[(u32, f64)], factor: f64) -> Vec<(u32, f64)> {
    let mut all = Vec::with_capacity(errors.len().max(others.len()));
    let mut errors = errors.iter().copied().peekable();
    for &(number, other) in others {
        while let Some(error) = errors.next_if(|error| error.0 < number) {
            all.push(error);
        }
        let own = errors.next_if(|error| error.0 == number).map_or(0.0, |error| error.1);
        all.push((number, own + factor * other));
    }
    all.extend(errors);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanoseconds;

    fn figure(values: &[f64]) -> Uncertain {
        let numbered: Vec<(u32, f64)> = (0..).zip(values.iter().copied()).collect();
        Uncertain::planted(&numbered)
    }

    #[test]
    fn what_moves_both_of_a_pair_leaves_their_difference_sure() {
        let mut random = fastrand::Rng::with_seed(5);
        let common: Vec<f64> = (0..40).map(|_| 1.0 + 0.1 * random.f64()).collect();
        let of = |factor: f64| figure(&common.iter().map(|c| c * factor).collect::<Vec<_>>());
        let (double, single) = (of(2.0), of(1.0));
        let difference = Uncertain::sum([(1.0, &double), (-2.0, &single)]);
        assert!(difference.value.abs() < 1e-12 && difference.error() < 1e-12, "{difference:?}");
        assert!(Uncertain::sum([(1.0, &double), (2.0, &single)]).error() > 0.005);
    }

    #[test]
    fn passes_of_only_one_of_a_pair_count_for_it_alone() {
        let numbered = |from: u32| -> Vec<(u32, f64)> {
            (from..from + 20).map(|n| (n, 100.0 + f64::from(n % 3))).collect()
        };
        let [first, second] = [0, 20].map(|from| Uncertain::planted(&numbered(from)));
        let sum = Uncertain::sum([(1.0, &first), (1.0, &second)]);
        assert!((sum.error() - first.error().hypot(second.error())).abs() < 1e-9);
    }

    #[test]
    fn a_mean_of_many_that_are_hardly_known_is_known_well() {
        let few = Uncertain::single(0.0).scattered(0.01, 2);
        let all = vec![few.clone(); 50];
        let mean = Uncertain::sum_of_independent(all.iter().map(|one| (1.0 / 50.0, one)));
        assert!((mean.error() - 0.01 / 50f64.sqrt()).abs() < 1e-12);
        assert_eq!(mean.freedom, Some(100));
        // The least certain one determines the error of the mean and its degrees of freedom.
        let worst = Uncertain::single(0.0).scattered(1.0, 2);
        let sum = Uncertain::sum_of_independent([(1.0, &few), (1.0, &few), (1.0, &worst)]);
        assert_eq!(sum.freedom, Some(2));
        let single = Uncertain::single(0.0);
        assert!(Uncertain::sum_of_independent([(1.0, &few), (1.0, &single)]).is_single());
    }

    #[test]
    fn nothing_is_known_of_a_single_reading_until_its_scatter_is() {
        let single = Uncertain::single(7.0);
        assert_eq!(single.margin(Confidence::Shown), None);
        assert_eq!(single.bounded::<Nanoseconds>().interval, None);
        let sum = Uncertain::sum([(1.0, &single), (1.0, &figure(&[1.0, 2.0, 1.5]))]);
        assert_eq!(sum.margin(Confidence::Shown), None);
        let known = single.scattered(1.0, 3);
        assert!((known.margin(Confidence::Shown).unwrap() - 3.182).abs() < 0.001);
    }
}
