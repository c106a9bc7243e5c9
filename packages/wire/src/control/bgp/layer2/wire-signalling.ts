import type { MessageWriter } from '../../message-writer.ts';
import { layer2Attributes, layer2Community } from '../evpn/communities.ts';
import { esiBytes, findEvpnRoute, writeEvpnRoute } from '../evpn/route.ts';
import { type BgpFamily, familyOf } from '../families.ts';
import { findLayer2Information, layer2Encapsulation, layer2Information } from './community.ts';
import { findLabelBlock, maxCircuitBlock, writeCircuit } from './label-block.ts';

interface WireEnd {
  readonly distinguisher: Uint8Array;
  readonly localId: number;
  readonly remoteId: number;
  readonly label: number;
}

interface WireForm {
  readonly mtu: number;
  readonly hasControlWord: boolean;
}

/** An end that another router has announced. */
export interface FarEnd {
  readonly id: number;
  /** The label for an end of ours; undefined: it has none. */
  labelFor(ownId: number): number | undefined;
  /** The circuit to an end of ours has failed there. */
  isFailed(ownId: number): boolean;
}

/** How the ends of wires are written. */
export interface WireSignalling {
  readonly family: BgpFamily;
  readonly maxBytes: number;
  community(form: WireForm): Uint8Array;
  findForm(community: Uint8Array): WireForm | undefined;
  write(writer: MessageWriter, end: WireEnd): void;
  findEnd(route: Uint8Array): FarEnd | undefined;
}

const noEsi = new Uint8Array(esiBytes);

/** Ethernet auto-discovery routes (RFC 8214): an end has one label for all. */
const byEvpn: WireSignalling = {
  family: familyOf('l2vpn-evpn'),
  maxBytes: 2 + 25,
  community: ({ mtu, hasControlWord }) => layer2Community(mtu, hasControlWord),
  findForm: layer2Attributes,
  write: (writer, { distinguisher, localId, label }) =>
    writeEvpnRoute(writer, { type: 1, distinguisher, esi: noEsi, tag: localId, label: (label << 4) | 1 }),
  findEnd: (bytes) => {
    const route = findEvpnRoute(bytes, 0, bytes.length);
    if (route?.type !== 1) return undefined;
    return { id: route.tag, labelFor: () => route.label >>> 4, isFailed: () => false };
  },
};

/** Blocks of labels (RFC 6624): an end has labels for certain other ends. */
const byBgp: WireSignalling = {
  family: familyOf('l2vpn-vpls'),
  maxBytes: maxCircuitBlock,
  community: (form) => layer2Information({ encapsulation: layer2Encapsulation.ethernet, ...form }),
  findForm: (community) => {
    const form = findLayer2Information(community);
    return form?.encapsulation === layer2Encapsulation.ethernet ? form : undefined;
  },
  write: (writer, { distinguisher, localId, remoteId, label }) =>
    writeCircuit(writer, { distinguisher, site: localId, offset: remoteId, label, failed: [] }),
  findEnd: (bytes) => {
    const block = findLabelBlock(bytes, 0, bytes.length);
    if (block === undefined) return undefined;
    const { site, offset, size, label, failed } = block;
    const has = (ownId: number) => ownId >= offset && ownId < offset + size;
    return {
      id: site,
      labelFor: (ownId) => (has(ownId) ? label + ownId - offset : undefined),
      isFailed: (ownId) => has(ownId) && failed[ownId - offset] === true,
    };
  },
};

export const wireSignalling = { evpn: byEvpn, bgp: byBgp } as const;
