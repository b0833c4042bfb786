"""Statistics of small samples. cpb's own methods are as in crates/analysis/src."""

import math
import operator

# Abramowitz and Stegun, Handbook of Mathematical Functions, table 26.10: two-sided, 95 %.
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]


def spread(values):
    """Largest divided by smallest, minus 1."""
    return max(values) / min(values) - 1


def median(values):
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def lower_quartile(values):
    """The lower quartile; the lowest of up to four values."""
    return sorted(values)[(len(values) - 1) // 4]


def quantile(values, share):
    """The value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def mean(values):
    """The arithmetic mean."""
    return sum(values) / len(values)


def student(freedom):
    """Two-sided 95 % quantile of Student's t distribution (from ten degrees on, 26.7.5 there)."""
    if freedom <= len(STUDENT):
        return STUDENT[freedom - 1]
    z, n = 1.959964, freedom
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )


def deviation(values):
    """The standard deviation of the population from which the values are a sample."""
    middle = mean(values)
    return math.sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))


def variation(values):
    """The standard deviation as a share of the mean."""
    return deviation(values) / mean(values)


def margin(deviation_of_one, count):
    """Half the width of the 95 % interval of a mean of `count` values."""
    return student(count - 1) * deviation_of_one / math.sqrt(count)


def runs_for(deviation_of_one, wanted, most=10_000_000):
    """How many values are needed for half the 95 % interval of their mean to be at most `wanted`."""
    low, high = 1, 2
    while margin(deviation_of_one, high) > wanted:
        low, high = high, high * 2
        if high > most:
            return most
    while high - low > 1:
        middle = (low + high) // 2
        if margin(deviation_of_one, middle) > wanted:
            low = middle
        else:
            high = middle
    return high


def trimmed(values, share=0.2):
    """The mean without a share of the values at each end."""
    ordered = sorted(values)
    cut = int(len(ordered) * share)
    return mean(ordered[cut : len(ordered) - cut])


# Shares of the sorted values. A value counts fully from the first share on, less from the second on, and not at all
# from the third on (crates/analysis/src/location.rs).
COUNTS = 0.1, 0.2, 0.7


def weights(count):
    """The weight of each of `count` sorted values in cpb's location."""
    begin, falling, end = COUNTS
    shares = [(rank + 0.5) / count for rank in range(count)]
    found = [0 if share < begin else min(max((end - share) / (end - falling), 0), 1) for share in shares]
    return [weight / sum(found) for weight in found]


def weighted(values):
    """cpb's location, and half the width of its 95 % interval by the jackknife (None for fewer than three values)."""
    ordered, count = sorted(values), len(values)
    location = sum(map(operator.mul, ordered, weights(count)))
    if count < 3:
        return location, None
    others = weights(count - 1)
    without = []
    for rank in range(count):
        rest = ordered[:rank] + ordered[rank + 1 :]
        without.append(sum(map(operator.mul, rest, others)))
    influences = [(count - 1) * (location - one) for one in without]
    middle = mean(influences)
    squares = sum((influence - middle) ** 2 for influence in influences)
    counted = sum(weight > 0 for weight in weights(count))
    return location, student(counted - 1) * math.sqrt(squares / (count * (count - 1)))


def slope(points):
    """The slope of the straight line through (x, y) points, by least squares."""
    xs, ys = zip(*points, strict=True)
    x, y = mean(xs), mean(ys)
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a in xs)


def median_interval(values):
    """The bounds of a 95 % interval of the median, from the order of the values only (binomial)."""
    ordered, count = sorted(values), len(values)
    below, outside = 0.5**count, 0
    tail = below
    while tail <= 0.025 and outside < count // 2:
        outside += 1
        below *= (count - outside + 1) / outside
        tail += below
    outside = max(outside - 1, 0)
    return ordered[outside], ordered[count - 1 - outside]
