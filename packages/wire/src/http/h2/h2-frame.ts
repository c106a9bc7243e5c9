/** Types of frames (RFC 9113, section 6). */
export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const frameFlag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export const h2Error = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  connect: 10,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
  http11Required: 13,
} as const;

export const setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

export const clientPreface = Uint8Array.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', (letter) => letter.charCodeAt(0));

export const frameHeaderBytes = 9;
export const maxWindow = 2 ** 31 - 1;
export const defaultWindow = 65_535;
export const defaultFrameBytes = 16_384;

/** An error that ends the connection. */
export class H2ConnectionError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** An error that ends one stream. */
export class H2StreamError extends Error {
  readonly code: number;
  readonly stream: number;

  constructor(stream: number, code: number, message: string) {
    super(message);
    this.stream = stream;
    this.code = code;
  }
}

export interface H2Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

export const failConnection = (code: number, message: string): never => {
  throw new H2ConnectionError(code, message);
};

export const uint32At = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)) >>>
  0;

/** The payload without its padding. */
export const unpadded = ({ flags, bytes, start, end }: H2Frame): [from: number, to: number] => {
  if ((flags & frameFlag.padded) === 0) return [start, end];
  if (end === start) return failConnection(h2Error.frameSize, 'there is no length of the padding');
  const to = end - (bytes[start] as number);
  return to <= start ? failConnection(h2Error.protocol, 'more padding than payload') : [start + 1, to];
};

const settingBytes = 6;

const checkSetting = (id: number, value: number): void => {
  if (id === setting.enablePush && value > 1) failConnection(h2Error.protocol, `ENABLE_PUSH of ${value}`);
  if (id === setting.initialWindowSize && value > maxWindow)
    failConnection(h2Error.flowControl, `INITIAL_WINDOW_SIZE of ${value}`);
  if (id === setting.maxFrameSize && (value < defaultFrameBytes || value > 2 ** 24 - 1))
    failConnection(h2Error.protocol, `MAX_FRAME_SIZE of ${value}`);
};

/** The settings in a frame, checked; undefined for an acknowledgement. */
export const readSettings = ({ id, flags, bytes, start, end }: H2Frame): [id: number, value: number][] | undefined => {
  if (id !== 0) failConnection(h2Error.protocol, 'settings of a stream');
  if ((flags & frameFlag.ack) !== 0)
    return end > start ? failConnection(h2Error.frameSize, 'settings in an acknowledgement') : undefined;
  if ((end - start) % settingBytes !== 0) failConnection(h2Error.frameSize, 'incomplete settings');
  const settings: [number, number][] = [];
  for (let at = start; at < end; at += settingBytes) {
    const entry: [number, number] = [((bytes[at] as number) << 8) | (bytes[at + 1] as number), uint32At(bytes, at + 2)];
    checkSetting(...entry);
    settings.push(entry);
  }
  return settings;
};
