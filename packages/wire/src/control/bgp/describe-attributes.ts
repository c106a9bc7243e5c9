import { formatAddress, readAddress6, writeMapped } from '../../ip/address.ts';
import { attributeFlag, attributeType } from './attributes.ts';
import { extendedCommunityText } from './extended-community-text.ts';

const origins = ['IGP', 'EGP', 'incomplete'] as const;

const addressText = (view: DataView, at: number, length: number): string => {
  const words = new Int32Array(4);
  if (length === 4) writeMapped(words, 0, view.getInt32(at));
  else readAddress6(view, at, words, 0);
  return formatAddress(words);
};

/** Next hop of MP_REACH_NLRI: behind a route distinguisher for VPNs, before a link-local address for IPv6. */
const hopText = (bytes: Uint8Array): string => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { length } = bytes;
  if (length === 0) return '';
  const at = length === 12 || length === 24 || length === 48 ? 8 : 0;
  return addressText(view, at, length - at === 4 ? 4 : 16);
};

const asPathText = (view: DataView, start: number, end: number, size: number): string => {
  const parts: string[] = [];
  for (let at = start; at + 2 <= end; ) {
    const count = view.getUint8(at + 1);
    const numbers = Array.from({ length: count }, (_, i) =>
      size === 4 ? view.getUint32(at + 2 + i * 4) : view.getUint16(at + 2 + i * 2),
    );
    parts.push(view.getUint8(at) === 1 ? `{${numbers.join(',')}}` : numbers.join(' '));
    at += 2 + count * size;
  }
  return parts.join(' ');
};

const communitiesText = (view: DataView, start: number, end: number): string => {
  const parts: string[] = [];
  for (let at = start; at + 4 <= end; at += 4) parts.push(`${view.getUint16(at)}:${view.getUint16(at + 2)}`);
  return parts.join(' ');
};

const extendedText = (view: DataView, start: number, end: number): string => {
  const parts: string[] = [];
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let at = start; at + 8 <= end; at += 8) parts.push(extendedCommunityText(bytes, at));
  return parts.join(' ');
};

const tunnelText = (view: DataView, start: number, end: number): string => {
  if (end - start < 5) return 'tunnel broken';
  const label = (view.getUint16(start + 2) << 8) | view.getUint8(start + 4);
  return `tunnel type ${view.getUint8(start + 1)} label ${label}`;
};

type Reader = (view: DataView, start: number, end: number, fourByteAs: boolean) => string;

const readers: Readonly<Record<number, Reader>> = {
  [attributeType.origin]: (view, start) => `origin ${origins[view.getUint8(start)] ?? 'unknown'}`,
  [attributeType.asPath]: (view, start, end, four) => `path ${asPathText(view, start, end, four ? 4 : 2)}`,
  [attributeType.med]: (view, start) => `MED ${view.getUint32(start)}`,
  [attributeType.localPreference]: (view, start) => `preference ${view.getUint32(start)}`,
  [attributeType.communities]: (view, start, end) => `communities ${communitiesText(view, start, end)}`,
  [attributeType.extendedCommunities]: (view, start, end) => `extended ${extendedText(view, start, end)}`,
  [attributeType.pmsiTunnel]: (view, start, end) => tunnelText(view, start, end),
};

/** Attributes of a route for people. */
export const describeAttributes = (
  attributes: Uint8Array,
  nextHop: Uint8Array | undefined,
  fourByteAs: boolean,
): { readonly nextHop: string; readonly detail: string } => {
  const view = new DataView(attributes.buffer, attributes.byteOffset, attributes.byteLength);
  const parts: string[] = [];
  let hop = nextHop === undefined ? '' : hopText(nextHop);
  for (let at = 0; at + 3 <= attributes.length; ) {
    const isExtended = ((attributes[at] as number) & attributeFlag.extended) !== 0;
    const start = at + (isExtended ? 4 : 3);
    const end = start + (isExtended ? view.getUint16(at + 2) : (attributes[at + 2] as number));
    const type = attributes[at + 1] as number;
    if (type === attributeType.nextHop && nextHop === undefined) hop = addressText(view, start, 4);
    const reader = readers[type];
    if (reader !== undefined) parts.push(reader(view, start, end, fourByteAs));
    at = end;
  }
  return { nextHop: hop, detail: parts.join(', ') };
};
