import { createHash, createHmac } from 'node:crypto';
import {
  isMappedAddress,
  type OspfAuthentication,
  type OspfOptions,
  ospfVersion2,
  ospfVersion3,
  parseAddress,
  Version2Area,
  Version3Area,
  type Version3Authentication,
} from '@rushhour/wire';
import { ipv4Word } from '../routers/ipv4-word.ts';
import type { OspfProfile } from '../routers/profiles.ts';
import type { InstanceOptions } from '../routers/router.ts';
import { routerIdOf } from './bgp-options.ts';

const md5Bytes = 16;
const sha256Bytes = 32;
/** RFC 5709: the constant that fills the place of the digest. */
const apad = Buffer.from('878fe1f3'.repeat(sha256Bytes / 4), 'hex');

const authenticationOf = ({ kind, keyId, key }: OspfProfile['authentication']): OspfAuthentication => {
  const bytes = Buffer.from(key);
  if (kind === 'none') return { kind };
  if (kind === 'simple') return { kind, key: bytes.subarray(0, 8) };
  if (kind === 'md5') {
    const padded = Buffer.alloc(md5Bytes);
    bytes.copy(padded, 0, 0, md5Bytes);
    const digest = (packet: Uint8Array) => createHash('md5').update(packet).update(padded).digest();
    return { kind: 'digest', keyId, length: md5Bytes, digest };
  }
  const secret = bytes.length > sha256Bytes ? createHash('sha256').update(bytes).digest() : bytes;
  const digest = (packet: Uint8Array) => createHmac('sha256', secret).update(packet).update(apad).digest();
  return { kind: 'digest', keyId, length: sha256Bytes, digest };
};

/** RFC 7166: the key is followed by the number of the protocol. */
const cryptographicProtocol = Buffer.of(0, 1);

const version3AuthenticationOf = ({ kind, keyId, key }: OspfProfile['authentication']): Version3Authentication => {
  if (kind === 'none') return { kind };
  const own = Buffer.concat([Buffer.from(key), cryptographicProtocol]);
  const secret = own.length > sha256Bytes ? createHash('sha256').update(own).digest() : own;
  const digest = (packet: Uint8Array) => createHmac('sha256', secret).update(packet).digest();
  return { kind: 'digest', keyId, length: sha256Bytes, epoch: Math.floor(Date.now() / 1000), digest };
};

const linkLocalBits = 64;

/** What generated networks of both versions have in common; routers behind different ones differ in ids and prefixes. */
const generatedOf = ({ profile, router, ordinal }: InstanceOptions<OspfProfile>) => {
  const { instance, topology, externals } = profile;
  const nodes = topology.kind === 'none' ? 0 : topology.nodes;
  const step = ordinal * (instance.routerId === undefined ? 0 : nodes + 1);
  const [firstPrefix, firstExternal] =
    instance.version === 3 ? [topology.ipv6Start, externals.ipv6Start] : [topology.ipv4Start, externals.start];
  return {
    routerId: routerIdOf(instance.routerId, router.address, step),
    areaKind: instance.areaKind,
    topology: { ...topology, random: Math.random, firstPrefix, offset: ordinal * nodes * topology.prefixesPerNode },
    externals: {
      count: externals.count,
      firstPrefix: firstExternal,
      offset: ordinal * externals.count,
      isType2: externals.metricKind === '2',
      metric: externals.metric,
    },
  };
};

type Generated = ReturnType<typeof generatedOf>;

const linkOf = ({ instance, interface: link }: OspfProfile, { routerId, areaKind }: Generated) => ({
  routerId,
  areaKind,
  network: link.network,
  cost: link.cost,
  isOverloaded: instance.overload,
});

const version2Of = ({ profile, router }: InstanceOptions<OspfProfile>, generated: Generated) => {
  const address = ipv4Word(router.address);
  const area = new Version2Area({ ...generated, address });
  const { mask } = router;
  const authentication = authenticationOf(profile.authentication);
  return { area, format: ospfVersion2({ ...linkOf(profile, generated), address, mask, authentication, area }) };
};

/** The network of the link is announced where the router has an address in one. */
const version3Of = ({ profile, router }: InstanceOptions<OspfProfile>, generated: Generated) => {
  const linkLocal = parseAddress(router.linkLocal as string);
  const own = parseAddress(router.address);
  const isGlobal = !isMappedAddress(own, 0) && router.address !== router.linkLocal;
  const area = new Version3Area({ ...generated, address: isGlobal ? own : undefined });
  const { instanceId } = profile.instance;
  const { priority } = profile.interface;
  const words = own.slice();
  words.fill(0, 2);
  const prefix = isGlobal ? { words, bits: linkLocalBits } : undefined;
  const ownAddress = isGlobal ? { words: own, bits: 128, isOwn: true } : undefined;
  const authentication = version3AuthenticationOf(profile.authentication);
  const own3 = { linkLocal, prefix, ownAddress, authentication };
  const format = ospfVersion3({ ...linkOf(profile, generated), ...own3, instanceId, priority, area });
  return { area, format };
};

export const ospfOptionsOf = (options: InstanceOptions<OspfProfile>, mtu: number): OspfOptions => {
  const { instance, interface: link, topology } = options.profile;
  const generated = generatedOf(options);
  return {
    ...(instance.version === 3 ? version3Of(options, generated) : version2Of(options, generated)),
    routerId: generated.routerId,
    areaId: ipv4Word(instance.area),
    network: link.network,
    neighbours: link.neighbours.map(parseAddress),
    helloSec: link.helloSec,
    deadSec: link.deadSec,
    retransmitSec: link.retransmitSec,
    priority: link.priority,
    mtu,
    ignoresMtu: link.ignoreMtu,
    changeSec: topology.changeSec,
    random: Math.random,
  };
};
