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

const transformLength = ({ keyBits }: Transform): number => (keyBits === undefined ? 8 : 12);

const proposalLength = ({ spi, transforms }: Proposal): number => {
  let length = 8 + spi.length;
  for (const one of transforms) length += transformLength(one);
  return length;
};

const writeTransform = (bytes: Uint8Array, at: number, { type, id, keyBits }: Transform): void => {
  bytes[at + 4] = type;
  writeUint16(bytes, at + 6, id);
  if (keyBits === undefined) return;
  writeUint16(bytes, at + 8, keyLengthAttribute);
  writeUint16(bytes, at + 10, keyBits);
};

const writeProposal = (bytes: Uint8Array, start: number, { number, protocol, spi, transforms }: Proposal): void => {
  bytes[start + 4] = number;
  bytes[start + 5] = protocol;
  bytes[start + 6] = spi.length;
  bytes[start + 7] = transforms.length;
  bytes.set(spi, start + 8);
  let at = start + 8 + spi.length;
  for (let i = 0; i < transforms.length; i++) {
    const transform = transforms[i] as Transform;
    bytes[at] = i === transforms.length - 1 ? 0 : 3;
    writeUint16(bytes, at + 2, transformLength(transform));
    writeTransform(bytes, at, transform);
    at += transformLength(transform);
  }
};

export const writeSa = (proposals: readonly Proposal[]): IkePayload => {
  let length = 0;
  for (const one of proposals) length += proposalLength(one);
  const body = new Uint8Array(length);
  let at = 0;
  for (let i = 0; i < proposals.length; i++) {
    const proposal = proposals[i] as Proposal;
    body[at] = i === proposals.length - 1 ? 0 : 2;
    writeUint16(body, at + 2, proposalLength(proposal));
    writeProposal(body, at, proposal);
    at += proposalLength(proposal);
  }
  return { type: payloadType.sa, body };
};

const readTransform = (bytes: Uint8Array, start: number, end: number): Transform => {
  let keyBits: number | undefined;
  for (let at = start + 8; at < end; ) {
    if (at + 4 > end) throw new IkeSyntaxError('an attribute of a transform is cut off');
    const attribute = readUint16(bytes, at);
    if (attribute === keyLengthAttribute) keyBits = readUint16(bytes, at + 2);
    at += (attribute & 0x8000) !== 0 ? 4 : 4 + readUint16(bytes, at + 2);
  }
  return { type: bytes[start + 4] as number, id: readUint16(bytes, start + 6), keyBits };
};

interface Chain<Part> {
  readonly start: number;
  readonly end: number;
  readonly what: string;
  read(bytes: Uint8Array, start: number, end: number): Part;
}

/** Parts of a chain whose elements have their length at offset 2 and at least 8 bytes. */
const readChain = <Part>(bytes: Uint8Array, { start, end, what, read }: Chain<Part>): Part[] => {
  const parts: Part[] = [];
  for (let at = start; at < end; ) {
    const length = at + 8 <= end ? readUint16(bytes, at + 2) : 0;
    if (length < 8 || at + length > end) throw new IkeSyntaxError(`${what} is cut off`);
    parts.push(read(bytes, at, at + length));
    at += length;
  }
  return parts;
};

const readProposal = (bytes: Uint8Array, start: number, end: number): Proposal => {
  const spiAt = start + 8;
  const transformsAt = spiAt + (bytes[start + 6] as number);
  if (transformsAt > end) throw new IkeSyntaxError('an SPI is cut off');
  const transforms = readChain(bytes, { start: transformsAt, end, what: 'a transform', read: readTransform });
  const count = bytes[start + 7] as number;
  if (transforms.length !== count)
    throw new IkeSyntaxError(`a proposal has ${transforms.length} of ${count} transforms`);
  const [number, protocol] = [bytes[start + 4] as number, bytes[start + 5] as number];
  return { number, protocol, spi: bytes.subarray(spiAt, transformsAt), transforms };
};

export const readSa = (body: Uint8Array): Proposal[] =>
  readChain(body, { start: 0, end: body.length, what: 'a proposal', read: readProposal });

export const writeKeyExchange = (group: number, data: Uint8Array): IkePayload => {
  const body = new Uint8Array(4 + data.length);
  writeUint16(body, 0, group);
  body.set(data, 4);
  return { type: payloadType.keyExchange, body };
};

export const readKeyExchange = (body: Uint8Array): { group: number; data: Uint8Array } => {
  need(body, 4, 'a key exchange');
  return { group: readUint16(body, 0), data: body.subarray(4) };
};

export const writeNonce = (nonce: Uint8Array): IkePayload => ({ type: payloadType.nonce, body: nonce });

export const readNonce = (body: Uint8Array): Uint8Array => {
  if (body.length < 16 || body.length > 256) throw new IkeSyntaxError(`a nonce has ${body.length} bytes`);
  return body;
};

export const writeNotify = ({ type, protocol = 0, spi = empty, data }: Notification): IkePayload => {
  const body = new Uint8Array(4 + spi.length + data.length);
  body[0] = protocol;
  body[1] = spi.length;
  writeUint16(body, 2, type);
  if (spi.length > 0) body.set(spi, 4);
  if (data.length > 0) body.set(data, 4 + spi.length);
  return { type: payloadType.notify, body };
};

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

const writeTyped = (type: number, first: number, data: Uint8Array): IkePayload => {
  const body = new Uint8Array(4 + data.length);
  body[0] = first;
  body.set(data, 4);
  return { type, body };
};

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
  const bytes = new Uint8Array(8 + 2 * start.length);
  bytes[0] = start.length === 4 ? selectorType.ipv4 : selectorType.ipv6;
  bytes[1] = protocol;
  writeUint16(bytes, 2, bytes.length);
  writeUint16(bytes, 4, startPort);
  writeUint16(bytes, 6, endPort);
  bytes.set(start, 8);
  bytes.set(end, 8 + start.length);
  return bytes;
};

export const writeSelectors = (type: number, selectors: readonly TrafficSelector[]): IkePayload =>
  writeTyped(type, selectors.length, concatBytes(...selectors.map(writeSelector)));

export const readSelectors = (body: Uint8Array): TrafficSelector[] => {
  need(body, 4, 'a traffic selector');
  const parts = readChain(body, { start: 4, end: body.length, what: 'a traffic selector', read: readSelector });
  if (parts.length !== body[0]) throw new IkeSyntaxError('traffic selectors are missing');
  return parts.filter((one) => one !== undefined);
};

/** Undefined for selectors of an unknown type. */
const readSelector = (bytes: Uint8Array, at: number, end: number): TrafficSelector | undefined => {
  const size = bytes[at] === selectorType.ipv4 ? 4 : bytes[at] === selectorType.ipv6 ? 16 : 0;
  if (size === 0) return undefined;
  if (end - at !== 8 + 2 * size) throw new IkeSyntaxError('a traffic selector has a wrong length');
  return {
    protocol: bytes[at + 1] as number,
    startPort: readUint16(bytes, at + 4),
    endPort: readUint16(bytes, at + 6),
    start: copyOf(bytes, at + 8, at + 8 + size),
    end: copyOf(bytes, at + 8 + size, end),
  };
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
