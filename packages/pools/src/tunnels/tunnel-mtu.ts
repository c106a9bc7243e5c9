import type { IpVersion } from '../addresses/address.ts';

export const tunnelTypes = ['ipsec', 'gre', 'ipip', 'vxlan', 'geneve', 'l2tpv3', 'gtpu', 'wireguard', 'mpls'] as const;
export type TunnelType = (typeof tunnelTypes)[number];

/** The members of a tunnel's `params` that change its overhead. */
export interface TunnelParams {
  /** ipsec: a proposal such as "aes256gcm16" (default) or "aes128-sha256". */
  readonly cipher?: string | undefined;
  /** ipsec: "tunnel" (default) or "transport". */
  readonly mode?: string | undefined;
  /** ipsec: UDP encapsulation. */
  readonly natt?: boolean | undefined;
  /** gre: a key, a checksum, sequence numbers add four bytes each. gtpu: a sequence number adds four. */
  readonly key?: unknown;
  readonly checksum?: boolean | undefined;
  readonly sequence?: boolean | undefined;
  /** gre, mpls: carries Ethernet frames instead of IP packets. */
  readonly ethernet?: boolean | undefined;
  /** vxlan, geneve, l2tpv3: the inner frame is VLAN-tagged. */
  readonly innerVlan?: boolean | undefined;
  /** ipip over IPv6: the tunnel encapsulation limit option. */
  readonly encapLimit?: boolean | undefined;
  /** geneve: bytes of options. gtpu: bytes of extension headers (a PDU session container has 4). */
  readonly optionBytes?: number | undefined;
  /** l2tpv3: "udp" (default) or "ip". */
  readonly encapsulation?: string | undefined;
  /** l2tpv3: 0 (default), 4 or 8. */
  readonly cookieBytes?: number | undefined;
  /** l2tpv3: the L2-specific sublayer of four bytes, present by default. */
  readonly l2Specific?: boolean | undefined;
  /** mpls: labels in the stack, default 1. */
  readonly labels?: number | undefined;
  /** mpls: a pseudowire control word. */
  readonly controlWord?: boolean | undefined;
}

export interface TunnelMtuInput {
  readonly type: TunnelType;
  /** Version of the outer IP header, default 4. */
  readonly outerVersion?: IpVersion | undefined;
  /** Largest outer packet, default 1500. */
  readonly outerMtu?: number | undefined;
  readonly params?: TunnelParams | undefined;
}

export interface TunnelMtu {
  /** Largest inner IP packet that is not fragmented. */
  readonly innerMtu: number;
  /** Overhead of a packet of that size. */
  readonly overheadBytes: number;
  readonly layers: readonly TunnelLayer[];
}

export interface TunnelLayer {
  readonly name: string;
  readonly bytes: number;
}

type LayersOf = (params: TunnelParams, outerIp: TunnelLayer) => TunnelLayer[];

const udp = { name: 'UDP', bytes: 8 };
const innerEthernet = (params: TunnelParams): TunnelLayer => ({
  name: 'inner Ethernet',
  bytes: params.innerVlan ? 18 : 14,
});

/**
 * Headers from the outside in. Defaults over IPv4: gre 24, ipip 20, vxlan 50, geneve 50, l2tpv3 54, gtpu 36, wireguard
 * 60, mpls 4.
 */
const layersOfType: Readonly<Record<Exclude<TunnelType, 'ipsec'>, LayersOf>> = {
  gre: (params, outerIp) => {
    const options = [params.key, params.checksum, params.sequence].filter(isSet).length;
    return [outerIp, { name: 'GRE', bytes: 4 + 4 * options }, ...(params.ethernet ? [innerEthernet(params)] : [])];
  },
  ipip: (params, outerIp) => (params.encapLimit ? [outerIp, { name: 'encapsulation limit', bytes: 8 }] : [outerIp]),
  vxlan: (params, outerIp) => [outerIp, udp, { name: 'VXLAN', bytes: 8 }, innerEthernet(params)],
  geneve: (params, outerIp) => [
    outerIp,
    udp,
    { name: 'Geneve', bytes: 8 + upTo4(params.optionBytes ?? 0) },
    innerEthernet(params),
  ],
  l2tpv3: (params, outerIp) => [
    outerIp,
    ...(params.encapsulation === 'ip' ? [] : [udp, { name: 'L2TP version', bytes: 4 }]),
    { name: 'L2TPv3 session', bytes: 4 + (params.cookieBytes ?? 0) },
    ...(params.l2Specific === false ? [] : [{ name: 'L2-specific sublayer', bytes: 4 }]),
    innerEthernet(params),
  ],
  gtpu: (params, outerIp) => {
    const optionBytes = upTo4(params.optionBytes ?? 0);
    return [outerIp, udp, { name: 'GTP-U', bytes: 8 + (params.sequence || optionBytes > 0 ? 4 : 0) + optionBytes }];
  },
  // The padding to 16 bytes never exceeds the MTU, so it costs nothing here.
  wireguard: (_params, outerIp) => [
    outerIp,
    udp,
    { name: 'WireGuard', bytes: 16 },
    { name: 'Poly1305 tag', bytes: 16 },
  ],
  mpls: (params) => [
    { name: 'MPLS labels', bytes: 4 * (params.labels ?? 1) },
    ...(params.controlWord ? [{ name: 'control word', bytes: 4 }] : []),
    ...(params.ethernet ? [innerEthernet(params)] : []),
  ],
};

export function innerMtuOf({ type, outerVersion = 4, outerMtu = 1500, params = {} }: TunnelMtuInput): TunnelMtu {
  const outerIp = { name: `IPv${outerVersion}`, bytes: outerVersion === 4 ? 20 : 40 };
  if (type === 'ipsec') return espMtu(params, outerIp, outerMtu);
  const layers = layersOfType[type](params, outerIp);
  const overheadBytes = layers.reduce((sum, layer) => sum + layer.bytes, 0);
  return { innerMtu: Math.max(0, outerMtu - overheadBytes), overheadBytes, layers };
}

// In transport mode the IP header stays where it is, in front of ESP, and counts as part of the inner packet.
function espMtu(params: TunnelParams, outerIp: TunnelLayer, outerMtu: number): TunnelMtu {
  const { ivBytes, alignBytes, icvBytes } = parseEsp(params.cipher ?? 'aes256gcm16');
  const isTransport = params.mode === 'transport';
  const fixed = outerIp.bytes + (params.natt ? udp.bytes : 0) + 8 + ivBytes + icvBytes;
  const sealed = Math.floor((outerMtu - fixed) / alignBytes) * alignBytes;
  const innerMtu = Math.max(0, sealed - 2 + (isTransport ? outerIp.bytes : 0));
  const layers = [
    ...(isTransport ? [] : [outerIp]),
    ...(params.natt ? [udp] : []),
    { name: 'ESP', bytes: 8 },
    { name: 'IV', bytes: ivBytes },
    { name: 'padding and trailer', bytes: outerMtu - fixed - sealed + 2 },
    { name: 'ICV', bytes: icvBytes },
  ];
  return { innerMtu, overheadBytes: outerMtu - innerMtu, layers };
}

function parseEsp(cipher: string): EspTransform {
  const transform = findEspTransform(cipher);
  if (transform === undefined) throw new RangeError(`"${cipher}" is not a known ESP proposal`);
  return transform;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

function upTo4(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}

/** Overhead of one ESP transform (RFC 4303), in bytes. */
interface EspTransform {
  readonly ivBytes: number;
  /** Payload, padding and the two trailer bytes together are a multiple of this. */
  readonly alignBytes: number;
  /** Integrity check value. */
  readonly icvBytes: number;
}

const suite =
  /^(aes|camellia|3des|des|null|chacha20poly1305)(128|192|256)?(cbc|gcm|ccm|ctr|gmac)?(128|96|64|16|12|8)?(?:hmac)?(md5|sha1|sha2?256|sha2?384|sha2?512|sha|aesxcbc|aescmac)?/;

const icvOfHash: Readonly<Record<string, number>> = {
  md5: 12,
  sha: 12,
  sha1: 12,
  aesxcbc: 12,
  aescmac: 12,
  sha256: 16,
  sha2256: 16,
  sha384: 24,
  sha2384: 24,
  sha512: 32,
  sha2512: 32,
};

/**
 * A cipher without its own integrity and without a hash is taken with SHA-256, as ESP without integrity is unsafe.
 * Reads strongSwan proposals and common spellings: aes256gcm16, aes128-sha256, AES-256-CBC-HMAC-SHA1, null-sha256.
 */
export function findEspTransform(cipher: string): EspTransform | undefined {
  const [, name, , mode = 'cbc', icv, hash = 'sha256'] =
    suite.exec(cipher.toLowerCase().replace(/[^a-z0-9]/g, '')) ?? [];
  if (name === undefined) return undefined;
  const hashIcv = icvOfHash[hash] ?? 16;
  if (name === 'chacha20poly1305') return { ivBytes: 8, alignBytes: 4, icvBytes: 16 };
  if (name === 'null')
    return { ivBytes: mode === 'gmac' ? 8 : 0, alignBytes: 4, icvBytes: mode === 'gmac' ? 16 : hashIcv };
  if (name === '3des' || name === 'des') return { ivBytes: 8, alignBytes: 8, icvBytes: hashIcv };
  if (mode === 'cbc') return { ivBytes: 16, alignBytes: 16, icvBytes: hashIcv };
  if (mode === 'ctr') return { ivBytes: 8, alignBytes: 4, icvBytes: hashIcv };
  return { ivBytes: 8, alignBytes: 4, icvBytes: aeadIcv(icv) };
}

// The suffix counts bytes (gcm16) or bits (gcm128).
function aeadIcv(text: string | undefined): number {
  const size = Number(text ?? 16);
  return size > 16 ? size / 8 : size;
}
