// Extended communities of EVPN: 8 bytes each, the first two say what they are.

/** Data planes between the routers. Routes of MPLS need no community (RFC 8365, section 5.1.3). */
export type EvpnEncapsulation = 'vxlan' | 'mpls' | 'geneve';
export type ForwarderElection = 'modulo' | 'preference' | 'highest-weight';

const evpnCommunity = 0x06;
const tunnelTypes: Readonly<Record<EvpnEncapsulation, number>> = { vxlan: 8, mpls: 10, geneve: 19 };
const elections: Readonly<Record<ForwarderElection, number>> = { modulo: 0, 'highest-weight': 1, preference: 2 };

const bytesOf24 = (value: number): readonly [number, number, number] => [
  value >>> 16,
  (value >>> 8) & 255,
  value & 255,
];

/** RFC 9012, section 4.1. */
export const encapsulationCommunity = (encapsulation: EvpnEncapsulation): Uint8Array =>
  Uint8Array.of(0x03, 0x0c, 0, 0, 0, 0, 0, tunnelTypes[encapsulation]);

/** A host that has moved (RFC 7432, section 7.7). */
export const mobilityCommunity = (sequence: number): Uint8Array => {
  const bytes = Uint8Array.of(evpnCommunity, 0x00, 0, 0, 0, 0, 0, 0);
  new DataView(bytes.buffer).setUint32(4, sequence);
  return bytes;
};

/** RFC 7432, section 7.5; the label as it is written, in 24 bits. */
export const segmentLabelCommunity = (label: number, isSingleActive: boolean): Uint8Array =>
  Uint8Array.of(evpnCommunity, 0x01, isSingleActive ? 1 : 0, 0, 0, ...bytesOf24(label));

/** Who takes routes of a segment: the six bytes behind the type of its identifier (RFC 7432, section 7.6). */
export const segmentImportCommunity = (esi: Uint8Array): Uint8Array =>
  Uint8Array.of(evpnCommunity, 0x02, ...esi.subarray(1, 7));

/** RFC 9135, section 8.1. */
export const routerMacCommunity = (mac: Uint8Array): Uint8Array => Uint8Array.of(evpnCommunity, 0x03, ...mac);

/** How the designated forwarder is chosen (RFC 8584, section 2.2; RFC 9785, section 3). */
export const electionCommunity = (election: ForwarderElection, preference: number): Uint8Array => {
  const value = election === 'preference' ? preference : 0;
  return Uint8Array.of(evpnCommunity, 0x06, elections[election], 0, 0, 0, value >>> 8, value & 255);
};

/** Broadcasts come as copies to the address of the router (RFC 6514, section 5: ingress replication). */
export const ingressReplication = (label: number, address: Uint8Array): Uint8Array =>
  Uint8Array.of(0, 6, ...bytesOf24(label), ...address);

const controlWordFlag = 0x0004;

/** MTU and control word of a wire (RFC 8214, section 3.1). */
export const layer2Community = (mtu: number, hasControlWord: boolean): Uint8Array =>
  Uint8Array.of(evpnCommunity, 0x04, 0, hasControlWord ? controlWordFlag : 0, mtu >>> 8, mtu & 255, 0, 0);

/** Reads the community of a wire; undefined: it is another one. */
export const layer2Attributes = (bytes: Uint8Array): { mtu: number; hasControlWord: boolean } | undefined => {
  if (bytes[0] !== evpnCommunity || bytes[1] !== 0x04) return undefined;
  return {
    mtu: ((bytes[4] as number) << 8) | (bytes[5] as number),
    hasControlWord: ((bytes[3] as number) & controlWordFlag) !== 0,
  };
};
