import type { Samples } from '../../engine.ts';
import { generatorLoadMetrics, isLocalSocketError } from './generator-load-metrics.ts';

const kinds: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
};

/** The error class used in counter names. */
const errorKindOf = (code: string): string => {
  if (isLocalSocketError(code)) return 'local';
  if (/^ERR_(SSL|TLS)|CERT|SELF_SIGNED|^(EPROTO|UNABLE_TO_VERIFY|INVALID_CA)/.test(code)) return 'tls';
  return kinds[code] ?? (/^[A-Z0-9_]+$/.test(code) ? 'other' : code);
};

export const errorCodeOf = (error: Error): string => (error as NodeJS.ErrnoException).code ?? 'other';

/** Counts an error by class; local socket errors also count as generator load. */
export const countError = (samples: Samples, engine: string, code: string, count = 1): void => {
  if (isLocalSocketError(code)) samples.counter(generatorLoadMetrics.socketErrors).add(count);
  samples.counter(`${engine}.errors.${errorKindOf(code)}`).add(count);
};
