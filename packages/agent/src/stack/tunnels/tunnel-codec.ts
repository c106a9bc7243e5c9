import type { StackTunnel } from '@rushhour/protocol';
import {
  bytesOfHex,
  createGeneve,
  createGre,
  createGtpu,
  createIpip,
  createL2tpv3,
  createMpls,
  createVxlan,
  type GeneveOption,
  type LinkCodec,
} from '@rushhour/wire';

type Params = Readonly<Record<string, unknown>>;

const numberIn = (params: Params, name: string, otherwise: number): number => {
  const value = params[name];
  return typeof value === 'number' ? value : otherwise;
};

/** A number of the first tunnel, and what each further one adds to it. */
const numbered = (params: Params, name: string, index: number, first = 1): number =>
  numberIn(params, name, first) + index * numberIn(params, `${name}Step`, 1);

const portIn = (params: Params) => (typeof params['port'] === 'number' ? { port: params['port'] } : {});
const cookieIn = (params: Params, name: string): Uint8Array => bytesOfHex(String(params[name] ?? ''));

/** Experimental options (class 0xffff, RFC 8926) of so many bytes, their headers included. */
const geneveOptions = (bytes: number): GeneveOption[] => {
  const maxData = 124;
  const options: GeneveOption[] = [];
  for (let left = bytes; left >= 4; left -= 4 + maxData)
    options.push({ optionClass: 0xffff, type: 0, data: new Uint8Array(Math.min(left - 4, maxData)) });
  return options;
};

interface Where {
  readonly index: number;
  readonly isServer: boolean;
  /** Of the packets inside. */
  readonly version: 4 | 6;
}

type CodecType = Exclude<StackTunnel['type'], 'wireguard' | 'ipsec'>;

const creators: Readonly<Record<CodecType, (params: Params, where: Where) => LinkCodec>> = {
  gre: (params, { index }) =>
    createGre({
      key: params['key'] === undefined ? undefined : numbered(params, 'key', index),
      hasChecksum: params['checksum'] === true,
      hasSequence: params['sequence'] === true,
      payload: params['ethernet'] === true ? 'ethernet' : 'ip',
    }),
  ipip: (_params, { version }) => createIpip(version),
  vxlan: (params, { index }) => createVxlan({ network: numbered(params, 'vni', index), ...portIn(params) }),
  geneve: (params, { index }) =>
    createGeneve({
      network: numbered(params, 'vni', index),
      options: geneveOptions(numberIn(params, 'optionBytes', 0)),
      ...portIn(params),
    }),
  l2tpv3: (params, { index, isServer }) => {
    const [own, peer] = isServer
      ? (['peerSessionId', 'sessionId'] as const)
      : (['sessionId', 'peerSessionId'] as const);
    const [ownCookie, peerCookie] = isServer
      ? (['peerCookie', 'cookie'] as const)
      : (['cookie', 'peerCookie'] as const);
    return createL2tpv3({
      localSession: numbered(params, own, index),
      remoteSession: numbered(params, peer, index),
      localCookie: cookieIn(params, ownCookie),
      remoteCookie: cookieIn(params, peerCookie),
      encapsulation: params['encapsulation'] === 'ip' ? 'ip' : 'udp',
      hasSublayer: params['l2Specific'] !== false,
      ...portIn(params),
    });
  },
  gtpu: (params, { index, isServer }) => {
    const teid = numbered(params, 'teid', index);
    const hasContainer = numberIn(params, 'optionBytes', 0) > 0;
    return createGtpu({
      localTeid: teid,
      remoteTeid: teid,
      hasSequence: params['sequence'] === true,
      ...(hasContainer && { pduSession: { isUplink: !isServer, qosFlow: 1 } }),
      ...portIn(params),
    });
  },
  mpls: (params, { index }) => {
    const bottom = numbered(params, 'label', index, 16);
    const [trafficClass, ttl] = [numberIn(params, 'tc', 0), numberIn(params, 'ttl', 64)];
    const count = numberIn(params, 'labels', 1);
    const labels = Array.from({ length: count }, (_, depth) => ({
      label: bottom + count - 1 - depth,
      trafficClass,
      ttl,
    }));
    return createMpls({ labels, hasControlWord: params['controlWord'] === true });
  },
};

/** The header of the tunnel with this index. */
export const tunnelCodec = ({ type, params }: StackTunnel, where: Where): LinkCodec => {
  const codec = creators[type as CodecType](params, where);
  const { carrier } = codec;
  if (carrier.kind !== 'udp' || params['udpChecksum'] !== true) return codec;
  return { ...codec, carrier: { ...carrier, hasChecksum: true } };
};
