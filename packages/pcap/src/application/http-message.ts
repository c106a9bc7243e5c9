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
