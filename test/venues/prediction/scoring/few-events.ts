/** Simpson's rule over [from, to]. */
function integral(f: (x: number) => number, from: number, to: number): number {
  const steps = 4_000;
  const width = (to - from) / steps;
  let sum = f(from) + f(to);
  for (let index = 1; index < steps; index += 1) sum += (index % 2 === 1 ? 4 : 2) * f(from + index * width);
  return (sum * width) / 3;
}

/**
 * The normal number that is as unlikely as `ratio` when its error was told by so many events: both densities added up step by step, nothing
 * taken from the product. Student's t with ν degrees of freedom is √ν·tan u where u has the density cos^(ν − 1) u.
 */
export function worth(ratio: number, events: number): number {
  const freedom = events - 1;
  if (freedom === 0) return 0;
  const student = (u: number): number => Math.cos(u) ** (freedom - 1);
  const within = integral(student, 0, Math.atan(Math.abs(ratio) / Math.sqrt(freedom))) / (2 * integral(student, 0, Math.PI / 2));
  const normal = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  let [low, high] = [0, 8];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (integral(normal, 0, middle) < within) low = middle;
    else high = middle;
  }
  return Math.sign(ratio) * low;
}
