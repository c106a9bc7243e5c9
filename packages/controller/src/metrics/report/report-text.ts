// Names come from users and agents and are never markup.
export const escaped = (text: unknown) => String(text).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
export const cell = (value: unknown, kind = '') => `<td${kind && ` class="${kind}"`}>${escaped(value)}</td>`;
export const table = (head: readonly string[], rows: readonly string[]) =>
  `<table><thead><tr>${head.map((name) => `<th>${escaped(name)}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;

const prefixes = ['', 'k', 'M', 'G', 'T'] as const;

const scaled = (value: number): { text: string; prefix: string } => {
  let rest = Math.abs(value);
  let step = 0;
  while (rest >= 1000 && step < prefixes.length - 1) {
    rest /= 1000;
    step += 1;
  }
  const digits = Number.isInteger(rest) || rest >= 100 ? 0 : rest >= 10 ? 1 : 2;
  return { text: `${value < 0 ? '−' : ''}${rest.toFixed(digits)}`, prefix: prefixes[step] ?? '' };
};

const microseconds = (value: number): string => {
  if (value < 1000) return `${Math.round(value)} µs`;
  if (value < 1_000_000) return `${(value / 1000).toFixed(value < 10_000 ? 2 : 1)} ms`;
  return `${(value / 1_000_000).toFixed(2)} s`;
};

/** A number in readable form, with its unit. */
export const numberText = (value: number | null | undefined, unit: string): string => {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (unit === 'us' || unit === 'µs') return microseconds(value);
  if (unit === 'ms') return microseconds(value * 1000);
  if (unit === '%') return `${value.toFixed(1)} %`;
  const { text, prefix } = scaled(value);
  if (unit === '1/s' || unit === '/s') return prefix === '' ? `${text}/s` : `${text} ${prefix}/s`;
  return `${text} ${prefix}${unit === 'count' || unit === '1' ? '' : unit}`.trimEnd();
};
