import { hexOfBytes } from '../../bytes/memory.ts';
import { formatAddress, writeMapped } from '../../ip/address.ts';
import { evpnRouteText } from './evpn/route.ts';
import type { BgpFamily, NlriForm } from './families.ts';
import { labelBlockText } from './layer2/label-block.ts';
import { BgpError, bgpError, updateError } from './notification.ts';
import { distinguisherBytes, distinguisherText } from './route-distinguisher.ts';

const labelBytes = 3;

const invalidNetwork = () => new BgpError(bgpError.update, updateError.invalidNetwork);

/** Bytes of a label stack: it ends with the bottom bit, or with a value that withdrawals use (RFC 8277, section 2.4; FRR: 0). */
const labelStackBytes = (bytes: Uint8Array, at: number, end: number): number => {
  for (let last = at; last + labelBytes <= end; last += labelBytes) {
    const isBottom = ((bytes[last + 2] as number) & 1) !== 0;
    const isWithdrawn = ((bytes[last] as number) & 0x7f) === 0 && bytes[last + 1] === 0 && bytes[last + 2] === 0;
    if (isBottom || isWithdrawn) return last + labelBytes - at;
  }
  throw invalidNetwork();
};

const prefixEnd = ({ form, addressBits }: BgpFamily, bytes: Uint8Array, at: number, end: number): number => {
  const bits = bytes[at] as number;
  const last = at + 1 + ((bits + 7) >> 3);
  if (last > end) throw invalidNetwork();
  let before = 0;
  if (form !== 'prefix') before = labelStackBytes(bytes, at + 1, last) + (form === 'vpn' ? distinguisherBytes : 0);
  if (bits < before * 8 || bits - before * 8 > addressBits) throw invalidNetwork();
  return last;
};

const flowspecEnd = (bytes: Uint8Array, at: number, end: number): number => {
  const first = bytes[at] as number;
  if (first < 0xf0) return at + 1 + first;
  return at + 2 > end ? end + 1 : at + 2 + (((first & 15) << 8) | (bytes[at + 1] as number));
};

type EndOf = (family: BgpFamily, bytes: Uint8Array, at: number, end: number) => number;

const endOf: Readonly<Record<NlriForm, EndOf>> = {
  prefix: prefixEnd,
  labeled: prefixEnd,
  vpn: prefixEnd,
  vpls: (_family, bytes, at, end) =>
    at + 2 > end ? end + 1 : at + 2 + (((bytes[at] as number) << 8) | (bytes[at + 1] as number)),
  evpn: (_family, bytes, at, end) => (at + 2 > end ? end + 1 : at + 2 + (bytes[at + 1] as number)),
  flowspec: (_family, bytes, at, end) => flowspecEnd(bytes, at, end),
};

/** Where the route that starts at `at` (after a path id, if there is one) ends. Throws where it does not fit. */
export const nlriEnd = (family: BgpFamily, bytes: Uint8Array, at: number, end: number): number => {
  const last = at < end ? endOf[family.form](family, bytes, at, end) : end + 1;
  if (last > end) throw invalidNetwork();
  return last;
};

/** Calls `handle` with each route [at, last) of a list; `pathId` is 0 without add-path. */
export const eachNlri = (
  { family, hasPathIds }: { readonly family: BgpFamily; readonly hasPathIds: boolean },
  { bytes, start, end }: NlriRange,
  handle: (bytes: Uint8Array, at: number, last: number, pathId: number) => void,
): void => {
  for (let at = start; at < end; ) {
    let pathId = 0;
    if (hasPathIds) {
      if (at + 5 > end) throw invalidNetwork();
      for (let i = 0; i < 4; i++) pathId = pathId * 256 + (bytes[at + i] as number);
      at += 4;
    }
    const last = nlriEnd(family, bytes, at, end);
    handle(bytes, at, last, pathId);
    at = last;
  }
};

export interface NlriRange {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** Start of the part of a labelled route that identifies it: the labels before it may change. */
export const identityStart = ({ form }: BgpFamily, bytes: Uint8Array, at: number, last: number): number =>
  form === 'labeled' || form === 'vpn' ? at + 1 + labelStackBytes(bytes, at + 1, last) : at;

const prefixText = ({ addressBits }: BgpFamily, bytes: Uint8Array, at: number, bits: number): string => {
  const raw = new Uint8Array(16);
  raw.set(bytes.subarray(at, at + ((bits + 7) >> 3)));
  const view = new DataView(raw.buffer);
  const words = new Int32Array(4);
  if (addressBits === 32) writeMapped(words, 0, view.getInt32(0));
  else for (let i = 0; i < 4; i++) words[i] = view.getInt32(i * 4);
  return `${formatAddress(words)}/${bits}`;
};

/** A route in text form: prefixes and EVPN routes as routers show them, blocks of labels in words, others as bytes. */
export const formatNlri = (family: BgpFamily, bytes: Uint8Array, at: number, last: number): string => {
  const { form } = family;
  if (form === 'prefix') return prefixText(family, bytes, at + 1, bytes[at] as number);
  if (form === 'labeled' || form === 'vpn') {
    const start = identityStart(family, bytes, at, last);
    const address = start + (form === 'vpn' ? distinguisherBytes : 0);
    const bits = (bytes[at] as number) - (address - at - 1) * 8;
    const prefix = prefixText(family, bytes, address, bits);
    return form === 'vpn' ? `${distinguisherText(bytes, start)} ${prefix}` : prefix;
  }
  if (form === 'evpn') return evpnRouteText(bytes, at, last);
  return (form === 'vpls' ? labelBlockText(bytes, at, last) : undefined) ?? hexOfBytes(bytes, at, last);
};
