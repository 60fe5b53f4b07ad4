/** A size in decimal units: 1 kB is 1,000 bytes. */
export function bytes(size: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];
  const step = Math.min(
    units.length - 1,
    size < 1 ? 0 : Math.floor(Math.log10(size) / 3)
  );
  return (size / 1000 ** step).toLocaleString(undefined, {
    style: 'unit',
    unit: units[step],
    // The short form of bytes is "8 byte".
    unitDisplay: step ? 'short' : 'long',
    maximumFractionDigits: step && size < 10 ** (3 * step + 1) ? 1 : 0
  });
}
