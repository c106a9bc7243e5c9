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

const MAX_HEAD_BYTES = 65_536;
const START_LINE = /^(?:HTTP\/1\.[01] \d{3}(?: .*)?|[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32} \S+ HTTP\/1\.[01])$/;

/** The parts of a step that begins with an HTTP/1.x message. */
export interface HttpMessage {
  /** Where the body begins. */
  readonly bodyOffset: number;
  /** The digits of the only Content-Length; undefined when there is none or more than one. */
  readonly contentLength: { readonly offset: number; readonly length: number; readonly value: number } | undefined;
  /** The body is chunked, or its length is said in a way that leaves doubt. */
  readonly isUnclear: boolean;
}

/** undefined where the step does not begin with a whole HTTP/1.x head. */
export function findHttpMessage(bytes: Uint8Array): HttpMessage | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAX_HEAD_BYTES)).toString('latin1');
  const end = head.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [startLine = '', ...fields] = head.slice(0, end).split('\r\n');
  if (!START_LINE.test(startLine)) return undefined;
  const lengths: { offset: number; length: number; value: number }[] = [];
  let isUnclear = false;
  let at = startLine.length + 2;
  for (const field of fields) {
    const [, name = '', gap = '', value = ''] = /^([^:]*)(:[ \t]*)(.*?)[ \t]*$/.exec(field) ?? [];
    if (/^transfer-encoding$/i.test(name)) isUnclear = true;
    if (/^content-length$/i.test(name)) {
      if (!/^\d{1,15}$/.test(value)) isUnclear = true;
      lengths.push({ offset: at + name.length + gap.length, length: value.length, value: Number(value) });
    }
    at += field.length + 2;
  }
  if (lengths.length > 1) isUnclear = true;
  return { bodyOffset: end + 4, contentLength: isUnclear ? undefined : lengths[0], isUnclear };
}
