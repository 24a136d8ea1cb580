// Lanczos approximation with g = 7 and nine terms (Godfrey 2001): relative error below 1e-14 for x > 0.
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const;

/** Natural logarithm of the gamma function, x >= 0.5. */
function logGamma(x: number): number {
  const base = x + 6.5;
  let series: number = LANCZOS[0];
  for (let term = 1; term < LANCZOS.length; term += 1) series += (LANCZOS[term] as number) / (x - 1 + term);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(series);
}

const TINY = 1e-300;
const away = (x: number): number => (Math.abs(x) < TINY ? TINY : x);

/** Continued fraction of the incomplete beta function by Lentz's method (Press et al., Numerical Recipes, 3rd ed., 6.4). */
function betaFraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= 500; m += 1) {
    for (const step of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / away(1 + step * d);
      c = away(1 + step / c);
      value *= d * c;
    }
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return value;
}

/** Regularised incomplete beta function I_x(a, b), 0 <= x <= 1, a and b >= 0.5. */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(x, a, b)) / a : 1 - (front * betaFraction(1 - x, b, a)) / b;
}

/** Chance that Student's t with `freedom` > 0 degrees of freedom exceeds t >= 0: I_{ν/(ν + t²)}(ν/2, 1/2) / 2; near 0 by what is left of it, which of a far tail is nothing. */
export function studentTail(t: number, freedom: number): number {
  const square = t * t;
  return square < Math.min(1, freedom)
    ? 0.5 - incompleteBeta(square / (freedom + square), 0.5, freedom / 2) / 2
    : incompleteBeta(freedom / (freedom + square), freedom / 2, 0.5) / 2;
}

const polynomial = (coefficients: readonly number[], x: number): number => coefficients.reduceRight((sum, each) => sum * x + each, 0);

// Coefficients of PPND16, algorithm AS 241 (Wichura 1988): about sixteen digits. Numerators and denominators, constant term first.
const CENTRE = [
  [3.387132872796366608, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125, 45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727],
  [1, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077, 21213.794301586595867, 39307.89580009271061, 28729.085735721942674, 5226.495278852545925],
] as const; // prettier-ignore
const FLANK = [
  [1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504, 1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833, 7.7454501427834140764e-4],
  [1, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455, 0.14810397642748007459, 0.0151986665636164571966, 5.475938084995344946e-4, 1.05075007164441684324e-9],
] as const; // prettier-ignore
const FAR = [
  [6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 0.29656057182850489123, 0.026532189526576123093, 0.0012426609473880784386, 2.71155556874348757815e-5, 2.01033439929228813265e-7],
  [1, 0.59983220655588793769, 0.13692988092273580531, 0.0148753612908506148525, 7.868691311456132591e-4, 1.8463183175100546818e-5, 1.4215117583164458887e-7, 2.04426310338993978564e-15],
] as const; // prettier-ignore

/** The number that a standard normal exceeds with the chance `tail`, 0 < tail <= 1/2 (Wichura 1988, AS 241). */
export function normalFromTail(tail: number): number {
  const ratio = ([top, bottom]: readonly [readonly number[], readonly number[]], x: number): number =>
    polynomial(top, x) / polynomial(bottom, x);
  const q = 0.5 - tail;
  if (q <= 0.425) return q * ratio(CENTRE, 0.180625 - q * q);
  const r = Math.sqrt(-Math.log(tail));
  return r <= 5 ? ratio(FLANK, r - 1.6) : ratio(FAR, r - 5);
}

/** Tails beyond this are not told apart. */
const LEAST_TAIL = 1e-280;

/**
 * The standard normal number that is as unlikely as `t` is under Student's t with `freedom` degrees of freedom: what a ratio is worth whose
 * standard error was itself told by freedom + 1 values. Odd and rising in t, nearer to 0 than t, and t itself as freedom grows; 0 without any
 * degree of freedom. Beyond ±35.8 numbers are not told apart.
 */
export function normalEquivalent(t: number, freedom: number): number {
  if (freedom <= 0 || t === 0) return 0;
  const tail = Math.max(LEAST_TAIL, studentTail(Math.abs(t), freedom));
  return Math.sign(t) * Math.min(Math.abs(t), normalFromTail(tail));
}

/** The t of `freedom` degrees of freedom whose `normalEquivalent` is z >= 0: beyond it is as unlikely as beyond z. Infinity without any degree of freedom. */
export function studentEquivalent(z: number, freedom: number): number {
  if (freedom <= 0) return Infinity;
  let [low, high] = [z, Math.max(1, 2 * z)];
  while (normalEquivalent(high, freedom) < z) high *= 2;
  for (let middle = (low + high) / 2; middle > low && middle < high; middle = (low + high) / 2) {
    if (normalEquivalent(middle, freedom) < z) low = middle;
    else high = middle;
  }
  return low;
}
