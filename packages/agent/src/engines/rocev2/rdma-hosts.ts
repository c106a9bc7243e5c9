import { execFileSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { crc32 } from 'node:zlib';
import type { HostStack, Rocev2ClientConfig, Rocev2ServerConfig, StackNetwork } from '@rushhour/protocol';
import { defaultHeaderFields, parseAddress, rdmaPort, UdpCarrier } from '@rushhour/wire';
import type { Counter, EngineContext } from '../../engine.ts';
import { addressesOf, parseRange } from '../../net/addresses/address-range.ts';
import type { HostNetwork } from '../../net/host-network.ts';
import { closeSocket } from '../../net/kernel/socket.ts';
import { findOwner, outwardDevices } from '../../net/packet/route.ts';
import { openHostNetwork } from '../../stack/host-network.ts';
import { openQuietPort } from '../stream/quiet-port.ts';

type Config = Rocev2ClientConfig | Rocev2ServerConfig;
type Context = EngineContext<Config>;

/** MAC control: PFC and pause. */
const macControl = 0x8808;
/** IP, UDP, base and extended headers with the check sequence, at their largest. */
const overheadBytes = { 4: 20 + 8 + 12 + 20 + 4, 6: 40 + 8 + 12 + 20 + 4 } as const;

const wordsOf = (address: string): bigint =>
  parseAddress(address).reduce((sum, word) => (sum << 32n) | BigInt(word >>> 0), 0n);

const cidrsOf = (device: string): { readonly address: string; readonly cidr: string }[] =>
  (networkInterfaces()[device] ?? []).flatMap(({ address, cidr }) => (cidr === null ? [] : { address, cidr }));

const containing = (device: string, address: string): string | undefined =>
  cidrsOf(device).find(({ cidr }) => {
    const [base = '', bits = ''] = cidr.split('/');
    if (base.includes(':') !== address.includes(':')) return false;
    const shift = BigInt((base.includes(':') ? 128 : 32) - Number(bits));
    return wordsOf(base) >> shift === wordsOf(address) >> shift;
  })?.cidr;

/** The router behind an interface, where there is one. */
const gatewayOf = (device: string, version: 4 | 6): string | undefined => {
  const answer = execFileSync('ip', [`-${version}`, '-j', 'route', 'show', 'default', 'dev', device], {
    encoding: 'utf8',
  });
  return (JSON.parse(answer || '[]') as { gateway?: string }[])[0]?.gateway;
};

/** The interface of a server: the one with the address or with its network. */
export const deviceOf = (address: string): string => {
  const device = findOwner(address) ?? outwardDevices().find((name) => containing(name, address) !== undefined);
  const found = device ?? outwardDevices()[0];
  if (found === undefined) throw new RangeError(`there is no interface for ${address}`);
  return found;
};

const networksOf = (device: string, addresses: readonly string[]): StackNetwork[] => {
  const version = addresses[0]?.includes(':') ? 6 : 4;
  const gateway = gatewayOf(device, version);
  const hosts = [...addresses].sort((a, b) => (wordsOf(a) < wordsOf(b) ? -1 : 1));
  const subnet = containing(device, hosts[0] as string) ?? (version === 6 ? '::/64' : '0.0.0.0/0');
  return [{ subnet, hosts, ...(gateway !== undefined && { gateway }) }];
};

/** Addresses of a range and single ones. */
export const allAddresses = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => (text.includes('-') ? addressesOf(parseRange(text), 65_536) : [text]));

/** Hosts with queue pairs on one interface; those of the machine itself are among them. */
export class RdmaHosts {
  readonly network: HostNetwork;
  readonly carrier: UdpCarrier;
  readonly #quiet: number[] = [];

  constructor(context: Context, device: string, addresses: readonly string[]) {
    const { config, host, note, samples } = context;
    const { vlan, ...header } = config.header;
    const stack: HostStack = {
      interface: device,
      networks: networksOf(device, addresses),
      vlan: vlan.map(({ id, pcp, tpid }) => ({ id, pcp, tpid })),
      header: {},
      tcp: {},
      // Frames to addresses of the machine must reach its kernel, too.
      path: 'af_packet',
    };
    this.network = openHostNetwork(stack, { host, note, samples });
    const { group, sink } = this.network.layers;
    const fields = { ...defaultHeaderFields, ...header, df: true };
    const congestionFields = { ...fields, dscp: config.congestion?.dscp ?? 48, ecn: 0 };
    this.carrier = new UdpCarrier(group, { crc32, fields, congestionFields });
    const needed = config.mtu + overheadBytes[addresses[0]?.includes(':') ? 6 : 4];
    if (needed > sink.mtu) {
      void this.network.close();
      throw new RangeError(
        `packets of path MTU ${config.mtu} need ${needed} bytes; the MTU of ${device} is ${sink.mtu}`,
      );
    }
    this.#countPauses(samples.counter('rocev2.pauseFrames'));
    this.#quieten(addresses.filter((address) => host.addresses.includes(address)));
  }

  async close(): Promise<void> {
    for (const fd of this.#quiet) closeSocket(fd);
    await this.network.close();
  }

  #countPauses(counter: Counter): void {
    this.network.layers.group.otherFrames = (_memory, _start, _end, { type }) => {
      if (type === macControl) counter.add(1);
    };
  }

  /** The kernel neither refuses packets to the machine's own addresses, nor are echo requests answered twice. */
  #quieten(own: readonly string[]): void {
    if (own.length === 0) return;
    this.network.createIcmp({ onEcho: () => {} });
    for (const host of own) this.#quiet.push(openQuietPort({ host, port: rdmaPort }));
  }
}
