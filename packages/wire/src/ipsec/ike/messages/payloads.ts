import { copyOf } from '../../../bytes/memory.ts';
import { concatBytes, type IkePayload, IkeSyntaxError, readUint16, viewOf, writeUint16 } from './message.ts';
import { payloadType, protocolId } from './numbers.ts';

export interface Transform {
  readonly type: number;
  readonly id: number;
  /** Attribute 14, for ciphers with keys of several lengths. */
  readonly keyBits?: number | undefined;
}

export interface Proposal {
  readonly number: number;
  readonly protocol: number;
  readonly spi: Uint8Array;
  readonly transforms: readonly Transform[];
}

export interface Notification {
  readonly type: number;
  readonly protocol?: number;
  readonly spi?: Uint8Array;
  readonly data: Uint8Array;
}

/** One address range; `start` and `end` have 4 or 16 bytes. */
export interface TrafficSelector {
  readonly protocol: number;
  readonly startPort: number;
  readonly endPort: number;
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

export interface Identification {
  readonly type: number;
  readonly data: Uint8Array;
}

export interface ConfigurationAttribute {
  readonly type: number;
  readonly value: Uint8Array;
}

const empty = new Uint8Array(0);
const keyLengthAttribute = 0x800e;
const selectorType = { ipv4: 7, ipv6: 8 } as const;

const need = (body: Uint8Array, length: number, what: string): void => {
  if (body.length < length) throw new IkeSyntaxError(`${what} is cut off`);
};

const writeTransform = ({ type, id, keyBits }: Transform, isLast: boolean): Uint8Array => {
  const bytes = new Uint8Array(keyBits === undefined ? 8 : 12);
  bytes[0] = isLast ? 0 : 3;
  writeUint16(bytes, 2, bytes.length);
  bytes[4] = type;
  writeUint16(bytes, 6, id);
  if (keyBits !== undefined) {
    writeUint16(bytes, 8, keyLengthAttribute);
    writeUint16(bytes, 10, keyBits);
  }
  return bytes;
};

const writeProposal = ({ number, protocol, spi, transforms }: Proposal, isLast: boolean): Uint8Array => {
  const head = new Uint8Array(8);
  head[0] = isLast ? 0 : 2;
  head.set([number, protocol, spi.length, transforms.length], 4);
  const parts = transforms.map((one, index) => writeTransform(one, index === transforms.length - 1));
  const bytes = concatBytes(head, spi, ...parts);
  writeUint16(bytes, 2, bytes.length);
  return bytes;
};

export const writeSa = (proposals: readonly Proposal[]): IkePayload => ({
  type: payloadType.sa,
  body: concatBytes(...proposals.map((one, index) => writeProposal(one, index === proposals.length - 1))),
});

const readTransform = (bytes: Uint8Array): Transform => {
  let keyBits: number | undefined;
  for (let at = 8; at < bytes.length; ) {
    if (at + 4 > bytes.length) throw new IkeSyntaxError('an attribute of a transform is cut off');
    const attribute = readUint16(bytes, at);
    if (attribute === keyLengthAttribute) keyBits = readUint16(bytes, at + 2);
    at += (attribute & 0x8000) !== 0 ? 4 : 4 + readUint16(bytes, at + 2);
  }
  return { type: bytes[4] as number, id: readUint16(bytes, 6), keyBits };
};

/** Parts of a chain whose elements have their length at offset 2 and at least 8 bytes. */
const chainOf = (bytes: Uint8Array, what: string): Uint8Array[] => {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = at + 8 <= bytes.length ? readUint16(bytes, at + 2) : 0;
    if (length < 8 || at + length > bytes.length) throw new IkeSyntaxError(`${what} is cut off`);
    parts.push(bytes.subarray(at, at + length));
    at += length;
  }
  return parts;
};

export const readSa = (body: Uint8Array): Proposal[] =>
  chainOf(body, 'a proposal').map((bytes) => {
    const [number = 0, protocol = 0, spiLength = 0, count = 0] = bytes.subarray(4, 8);
    need(bytes, 8 + spiLength, 'an SPI');
    const transforms = chainOf(bytes.subarray(8 + spiLength), 'a transform').map(readTransform);
    if (transforms.length !== count)
      throw new IkeSyntaxError(`a proposal has ${transforms.length} of ${count} transforms`);
    return { number, protocol, spi: bytes.subarray(8, 8 + spiLength), transforms };
  });

export const writeKeyExchange = (group: number, data: Uint8Array): IkePayload => ({
  type: payloadType.keyExchange,
  body: concatBytes(Uint8Array.of(group >>> 8, group & 255, 0, 0), data),
});

export const readKeyExchange = (body: Uint8Array): { group: number; data: Uint8Array } => {
  need(body, 4, 'a key exchange');
  return { group: readUint16(body, 0), data: body.subarray(4) };
};

export const writeNonce = (nonce: Uint8Array): IkePayload => ({ type: payloadType.nonce, body: nonce });

export const readNonce = (body: Uint8Array): Uint8Array => {
  if (body.length < 16 || body.length > 256) throw new IkeSyntaxError(`a nonce has ${body.length} bytes`);
  return body;
};

export const writeNotify = ({ type, protocol = 0, spi = empty, data }: Notification): IkePayload => ({
  type: payloadType.notify,
  body: concatBytes(Uint8Array.of(protocol, spi.length, type >>> 8, type & 255), spi, data),
});

export const notify = (type: number, data: Uint8Array = empty): IkePayload => writeNotify({ type, data });

export const readNotify = (body: Uint8Array): Notification => {
  need(body, 4, 'a notification');
  const spiLength = body[1] as number;
  need(body, 4 + spiLength, 'a notification');
  return {
    protocol: body[0] as number,
    type: readUint16(body, 2),
    spi: body.subarray(4, 4 + spiLength),
    data: body.subarray(4 + spiLength),
  };
};

export const writeDelete = (protocol: number, spis: readonly Uint8Array[]): IkePayload => ({
  type: payloadType.delete,
  body: concatBytes(Uint8Array.of(protocol, spis[0]?.length ?? 0, spis.length >>> 8, spis.length & 255), ...spis),
});

export const readDelete = (body: Uint8Array): { protocol: number; spis: Uint8Array[] } => {
  need(body, 4, 'a delete');
  const [protocol = 0, size = 0] = body;
  const count = viewOf(body).getUint16(2);
  if (protocol === protocolId.ike) return { protocol, spis: [] };
  if (size !== 4 || body.length !== 4 + 4 * count) throw new IkeSyntaxError('a delete has SPIs of a wrong length');
  return { protocol, spis: Array.from({ length: count }, (_, i) => body.subarray(4 + i * 4, 8 + i * 4)) };
};

const writeTyped = (type: number, first: number, data: Uint8Array): IkePayload => ({
  type,
  body: concatBytes(Uint8Array.of(first, 0, 0, 0), data),
});

export const writeId = (type: number, { type: kind, data }: Identification): IkePayload => writeTyped(type, kind, data);

export const readId = (body: Uint8Array): Identification => {
  need(body, 4, 'an identification');
  return { type: body[0] as number, data: body.subarray(4) };
};

export const writeAuth = (method: number, data: Uint8Array): IkePayload => writeTyped(payloadType.auth, method, data);

export const readAuth = (body: Uint8Array): { method: number; data: Uint8Array } => {
  need(body, 4, 'an authentication');
  return { method: body[0] as number, data: body.subarray(4) };
};

const x509Signature = 4;

export const writeCertificate = (der: Uint8Array): IkePayload => ({
  type: payloadType.certificate,
  body: concatBytes(Uint8Array.of(x509Signature), der),
});

/** The DER of an X.509 certificate; undefined for other encodings. */
export const readCertificate = (body: Uint8Array): Uint8Array | undefined =>
  body[0] === x509Signature ? body.subarray(1) : undefined;

export const writeCertificateRequest = (authorities: readonly Uint8Array[]): IkePayload => ({
  type: payloadType.certificateRequest,
  body: concatBytes(Uint8Array.of(x509Signature), ...authorities),
});

const writeSelector = ({ protocol, startPort, endPort, start, end }: TrafficSelector): Uint8Array => {
  const head = new Uint8Array(8);
  const view = viewOf(head);
  head.set([start.length === 4 ? selectorType.ipv4 : selectorType.ipv6, protocol]);
  view.setUint16(2, 8 + 2 * start.length);
  view.setUint16(4, startPort);
  view.setUint16(6, endPort);
  return concatBytes(head, start, end);
};

export const writeSelectors = (type: number, selectors: readonly TrafficSelector[]): IkePayload =>
  writeTyped(type, selectors.length, concatBytes(...selectors.map(writeSelector)));

export const readSelectors = (body: Uint8Array): TrafficSelector[] => {
  need(body, 4, 'a traffic selector');
  const parts = chainOf(body.subarray(4), 'a traffic selector');
  if (parts.length !== body[0]) throw new IkeSyntaxError('traffic selectors are missing');
  return parts.flatMap((bytes) => {
    const size = bytes[0] === selectorType.ipv4 ? 4 : bytes[0] === selectorType.ipv6 ? 16 : 0;
    if (size === 0) return [];
    if (bytes.length !== 8 + 2 * size) throw new IkeSyntaxError('a traffic selector has a wrong length');
    const view = viewOf(bytes);
    return {
      protocol: bytes[1] as number,
      startPort: view.getUint16(4),
      endPort: view.getUint16(6),
      start: copyOf(bytes, 8, 8 + size),
      end: copyOf(bytes, 8 + size),
    };
  });
};

export const writeConfiguration = (type: number, attributes: readonly ConfigurationAttribute[]): IkePayload =>
  writeTyped(
    payloadType.configuration,
    type,
    concatBytes(
      ...attributes.flatMap(({ type: kind, value }) => [
        Uint8Array.of(kind >>> 8, kind & 255, value.length >>> 8, value.length & 255),
        value,
      ]),
    ),
  );

export const readConfiguration = (body: Uint8Array): { type: number; attributes: ConfigurationAttribute[] } => {
  need(body, 4, 'a configuration');
  const view = viewOf(body);
  const attributes: ConfigurationAttribute[] = [];
  for (let at = 4; at < body.length; ) {
    need(body, at + 4, 'a configuration attribute');
    const length = view.getUint16(at + 2);
    need(body, at + 4 + length, 'a configuration attribute');
    attributes.push({ type: view.getUint16(at) & 0x7fff, value: copyOf(body, at + 4, at + 4 + length) });
    at += 4 + length;
  }
  return { type: body[0] as number, attributes };
};
