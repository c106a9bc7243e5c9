import { findHttpMessage, type HttpMessage } from './http-message.ts';

/** What a change of length at a place does: nothing to others, a new Content-Length, or harm. */
export type LengthRule = 'free' | 'content-length' | 'fixed';

export interface StepFormat {
  readonly http: HttpMessage | undefined;
  ruleAt(region: { readonly offset: number; readonly length: number }): LengthRule;
}

export interface FormatOptions {
  /** `packet` keeps the length of every step. */
  readonly mode: string;
  /** As the session was recognised. */
  readonly appProtocol: string;
}

const lineProtocols = new Set(['smtp', 'ftp']);
const lengthPrefixed = new Set(['tls', 'dns', 'smb', 'ssh', 'quic']);
const SAMPLE_BYTES = 4096;

/** Tells for every place of a step whether its length may change. */
export function formatOf(recorded: Uint8Array, { mode, appProtocol }: FormatOptions): StepFormat {
  if (mode === 'packet' || lengthPrefixed.has(appProtocol)) return { http: undefined, ruleAt: () => 'fixed' };
  const http = findHttpMessage(recorded);
  if (http !== undefined) return { http, ruleAt: (region) => ruleOfHttp(http, recorded.length, region) };
  if (appProtocol === 'http') return { http: undefined, ruleAt: () => 'fixed' };
  const isFree = lineProtocols.has(appProtocol) || isText(recorded);
  return { http: undefined, ruleAt: () => (isFree ? 'free' : 'fixed') };
}

function ruleOfHttp(
  http: HttpMessage,
  stepLength: number,
  region: { readonly offset: number; readonly length: number },
): LengthRule {
  const { bodyOffset, contentLength, isUnclear } = http;
  const end = region.offset + region.length;
  // The blank line must stay where the head ends.
  if (end <= bodyOffset - 4) return touches(region, contentLength) ? 'fixed' : 'free';
  if (region.offset < bodyOffset || isUnclear) return 'fixed';
  if (contentLength === undefined) return stepLength > bodyOffset ? 'free' : 'fixed';
  return contentLength.value === stepLength - bodyOffset ? 'content-length' : 'fixed';
}

function touches(
  region: { readonly offset: number; readonly length: number },
  other: { readonly offset: number; readonly length: number } | undefined,
): boolean {
  if (other === undefined) return false;
  return region.offset <= other.offset + other.length && region.offset + region.length >= other.offset;
}

/** Binary formats nearly always say somewhere how long they are. */
function isText(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  return sample.every((byte) => byte >= 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d);
}
