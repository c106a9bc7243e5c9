const steps = ['', 'k', 'M', 'G', 'T'] as const;

/** 1234567 → "1.23 M"; with a unit "1.23 Mbit/s". */
export const scaled = (value: number | null | undefined, unit = ''): string => {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  let rest = Math.abs(value);
  let step = 0;
  while (rest >= 1000 && step < steps.length - 1) {
    rest /= 1000;
    step += 1;
  }
  const digits = rest >= 100 || Number.isInteger(rest) ? 0 : rest >= 10 ? 1 : 2;
  const text = `${value < 0 ? '−' : ''}${rest.toFixed(digits)}`;
  return unit === '' && step === 0 ? text : `${text} ${steps[step]}${unit}`.trimEnd();
};

const maxExact = 10_000_000;

/** A count: exact below ten million, scaled above. */
export const howMany = (count: number): string => (count < maxExact ? count.toLocaleString('en') : scaled(count));

/** Microseconds with a readable unit. */
export const duration = (microseconds: number | null | undefined): string => {
  if (microseconds === null || microseconds === undefined || !Number.isFinite(microseconds)) return '–';
  if (microseconds < 0) return `−${duration(-microseconds)}`;
  if (microseconds < 1000) return `${Math.round(microseconds)} µs`;
  if (microseconds < 1_000_000) return `${(microseconds / 1000).toFixed(microseconds < 10_000 ? 2 : 1)} ms`;
  return `${(microseconds / 1_000_000).toFixed(2)} s`;
};

/** Seconds as 1:02:03. */
export const clock = (seconds: number | null | undefined): string => {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  const whole = Math.max(0, Math.round(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
};

const byteSteps = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export const bytes = (count: number | null | undefined): string => {
  if (count === null || count === undefined) return '–';
  if (count < 0) return `−${bytes(-count)}`;
  let rest = count;
  let step = 0;
  while (rest >= 1024 && step < byteSteps.length - 1) {
    rest /= 1024;
    step += 1;
  }
  return `${rest.toFixed(step === 0 || rest >= 100 ? 0 : 1)} ${byteSteps[step]}`;
};

/** A metric value with its unit. */
export const measured = (value: number | null | undefined, unit: string): string => {
  if (unit === 'us' || unit === 'µs') return duration(value);
  if (unit === 'ms') return duration(value === null || value === undefined ? value : value * 1000);
  if (unit === 'bytes' || unit === 'B') return bytes(value);
  if (unit === 'bytes/s' || unit === 'B/s') return `${bytes(value)}/s`;
  if (unit === '%') return value === null || value === undefined ? '–' : `${value.toFixed(1)} %`;
  if (unit === '1/s') return scaled(value, '/s');
  return scaled(value, unit === 'count' || unit === '1' ? '' : unit);
};
