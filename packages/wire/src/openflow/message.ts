/** Versions of OpenFlow as they stand in messages. */
export const openFlowVersion = { '1.0': 1, '1.1': 2, '1.2': 3, '1.3': 4, '1.4': 5, '1.5': 6 } as const;
export type OpenFlowVersion = keyof typeof openFlowVersion;

export const headerBytes = 8;

/** Types that all versions share. */
export const messageType = {
  ...{ hello: 0, error: 1, echoRequest: 2, echoReply: 3, experimenter: 4 },
  ...{ featuresRequest: 5, featuresReply: 6, configRequest: 7, configReply: 8, setConfig: 9 },
  ...{ packetIn: 10, flowRemoved: 11, portStatus: 12, packetOut: 13, flowMod: 14 },
} as const;

/** Types that version 1.0 numbers otherwise. */
const laterTypes = {
  old: {
    ...{ groupMod: -1, portMod: 15, tableMod: -1, statsRequest: 16, statsReply: 17 },
    barrierRequest: 18,
    barrierReply: 19,
    roleRequest: -1,
    roleReply: -1,
    asyncRequest: -1,
    asyncReply: -1,
    setAsync: -1,
    meterMod: -1,
  },
  new: {
    ...{ groupMod: 15, portMod: 16, tableMod: 17, statsRequest: 18, statsReply: 19 },
    barrierRequest: 20,
    barrierReply: 21,
    roleRequest: 24,
    roleReply: 25,
    asyncRequest: 26,
    asyncReply: 27,
    setAsync: 28,
    meterMod: 29,
  },
} as const;
export type LaterTypes = { readonly [Name in keyof typeof laterTypes.new]: number };
export const laterTypesOf = (version: number): LaterTypes => {
  const { old, new: later } = laterTypes;
  if (version === openFlowVersion['1.0']) return old;
  const { roleRequest, roleReply, asyncRequest, asyncReply, setAsync, meterMod } = old;
  return {
    ...later,
    ...(version < openFlowVersion['1.2'] && { roleRequest, roleReply }),
    ...(version < openFlowVersion['1.3'] && { asyncRequest, asyncReply, setAsync, meterMod }),
  };
};

/** Types and codes of errors; the types differ between versions. */
export const errorOf = (version: number) => ({
  helloIncompatible: [0, 0] as const,
  badVersion: [1, 0] as const,
  badType: [1, 1] as const,
  badStats: [1, 2] as const,
  badLength: [1, 6] as const,
  tableFull: version === 1 ? ([3, 0] as const) : ([5, 1] as const),
  badTable: version === 1 ? ([3, 5] as const) : ([5, 2] as const),
  badCommand: version === 1 ? ([3, 4] as const) : ([5, 6] as const),
  badMatch: version === 1 ? ([1, 6] as const) : ([4, 1] as const),
  groupUnknown: [6, 8] as const,
});

/** A message being written. */
export class MessageWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #end = headerBytes;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#end;
  }

  u8(value: number): this {
    this.#room(1);
    this.#view.setUint8(this.#end, value);
    this.#end += 1;
    return this;
  }

  u16(value: number): this {
    this.#room(2);
    this.#view.setUint16(this.#end, value);
    this.#end += 2;
    return this;
  }

  u32(value: number): this {
    this.#room(4);
    this.#view.setUint32(this.#end, value >>> 0);
    this.#end += 4;
    return this;
  }

  u64(value: number | bigint): this {
    this.#room(8);
    this.#view.setBigUint64(this.#end, BigInt(value));
    this.#end += 8;
    return this;
  }

  bytes(value: Uint8Array): this {
    this.#room(value.length);
    this.#bytes.set(value, this.#end);
    this.#end += value.length;
    return this;
  }

  /** A text in a field of so many bytes, ended by a zero. */
  text(value: string, size: number): this {
    const field = new Uint8Array(size);
    field.set(new TextEncoder().encode(value).subarray(0, size - 1));
    return this.bytes(field);
  }

  pad(count: number): this {
    return this.bytes(new Uint8Array(count));
  }

  /** Writes a length that is known only now. */
  patch16(at: number, value: number): this {
    this.#view.setUint16(at, value);
    return this;
  }

  finish(version: number, type: number, xid: number): Uint8Array {
    this.#view.setUint8(0, version);
    this.#view.setUint8(1, type);
    this.#view.setUint16(2, this.#end);
    this.#view.setUint32(4, xid >>> 0);
    return this.#bytes.subarray(0, this.#end);
  }

  #room(count: number): void {
    if (this.#end + count <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#end + count));
    larger.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

const bitmapElement = 1;

/** The first message of both sides: the newest version, and from 1.3 on all of them. */
export const helloMessage = (versions: readonly number[]): Uint8Array => {
  const newest = Math.max(...versions);
  const writer = new MessageWriter(16);
  if (newest >= openFlowVersion['1.3'])
    writer
      .u16(bitmapElement)
      .u16(8)
      .u32(versions.reduce((bits, version) => bits | (1 << version), 0));
  return writer.finish(newest, messageType.hello, 1);
};

/** The version that both sides speak, or -1. `message`: the hello of the other side. */
export const agreedVersion = (message: DataView, own: readonly number[]): number => {
  for (let at = headerBytes; at + 8 <= message.byteLength; ) {
    const length = message.getUint16(at + 2);
    if (length < 4) break;
    if (message.getUint16(at) === bitmapElement && length >= 8) {
      const bits = message.getUint32(at + 4);
      return Math.max(-1, ...own.filter((version) => ((bits >>> version) & 1) !== 0));
    }
    at += (length + 7) & ~7;
  }
  const newest = Math.min(message.getUint8(0), Math.max(...own));
  return own.includes(newest) ? newest : -1;
};

/** Divides a stream of bytes into messages. */
export class MessageReader {
  #rest: Uint8Array = new Uint8Array(0);

  /** Calls `onMessage` for each whole message; false: the stream is broken. */
  read(bytes: Uint8Array, onMessage: (message: Uint8Array) => void): boolean {
    const whole = new Uint8Array(this.#rest.length + bytes.length);
    whole.set(this.#rest);
    whole.set(bytes, this.#rest.length);
    let at = 0;
    while (at + headerBytes <= whole.length) {
      const length = ((whole[at + 2] as number) << 8) | (whole[at + 3] as number);
      if (length < headerBytes) return false;
      if (at + length > whole.length) break;
      onMessage(whole.slice(at, at + length));
      at += length;
    }
    this.#rest = whole.slice(at);
    return true;
  }

  reset(): void {
    this.#rest = new Uint8Array(0);
  }
}
