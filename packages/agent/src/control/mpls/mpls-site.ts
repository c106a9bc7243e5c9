import {
  copyOf,
  formatAddress,
  Ipv4Header,
  ipProtocol,
  lspPingPort,
  type Memory,
  parseTp,
  UdpHeader,
  writeMapped,
} from '@rushhour/wire';
import { bfdPorts } from '../oam/bfd-instance.ts';
import type { BfdSite } from '../oam/bfd-site.ts';
import type { MplsOamProfile, MplsTpProfile } from '../routers/profiles.ts';
import type { InstanceOptions, PlaneContext } from '../routers/router.ts';
import type { LdpInstance } from './ldp-instance.ts';
import { MplsOamInstance } from './mpls-oam-instance.ts';
import { MplsTpInstance } from './mpls-tp-instance.ts';

const macBytes = 6;
const ethernetBytes = 14;
const labelBytes = 4;
const bottom = 0x100;
const etherTypes = { v4: 0x0800, mpls: 0x8847 } as const;
const loopbackNetwork = 127;
/** Discriminators of sessions over paths, beyond those of other sessions of BFD. */
const firstDiscriminator = 0x80000001;

interface Member {
  readonly instance: MplsOamInstance;
  readonly address: string;
  readonly mac: Uint8Array;
}

/** LSP ping and the transport profile of the routers on one interface: finds their messages among its frames. */
export class MplsSite {
  readonly #context: PlaneContext;
  readonly #bfd: BfdSite;
  #discriminators = firstDiscriminator;
  readonly #members: Member[] = [];
  readonly #paths: MplsTpInstance[] = [];
  readonly #ip = new Ipv4Header();
  readonly #udp = new UdpHeader();

  constructor(context: PlaneContext, bfd: BfdSite) {
    this.#context = context;
    this.#bfd = bfd;
  }

  add(options: InstanceOptions<MplsOamProfile>, ldp: LdpInstance | undefined): MplsOamInstance {
    const { address } = options.router;
    if (ldp === undefined) throw new RangeError(`MPLS OAM of ${address} needs a profile of LDP`);
    const { group, writeMac } = this.#context.layers;
    const mac = new Uint8Array(macBytes);
    writeMac(options.host, mac, 0);
    if (this.#members.length === 0) group.udp.bind(lspPingPort, { onDatagram: this.#receiveReply });
    const nextDiscriminator = () => this.#discriminators++;
    const instance = new MplsOamInstance(options, this.#context, { ldp, nextDiscriminator });
    this.#bfd.addPath(instance.discriminator, (bytes) => instance.receiveBfdBack(bytes));
    this.#members.push({ instance, address, mac });
    return instance;
  }

  addPaths(options: InstanceOptions<MplsTpProfile>): MplsTpInstance {
    const instance = new MplsTpInstance(options, this.#context);
    this.#paths.push(instance);
    return instance;
  }

  get isEmpty(): boolean {
    return this.#members.length + this.#paths.length === 0;
  }

  /** A frame [start, end), with labels or to an address inside of 127/8. */
  receive(memory: Memory, start: number, end: number): void {
    const { view, bytes } = memory;
    const type = view.getUint16(start + 2 * macBytes);
    let at = start + ethernetBytes;
    let label: number | undefined;
    if (type === etherTypes.mpls && at + labelBytes <= end) {
      const word = view.getUint32(at);
      if ((word & bottom) === 0) {
        this.#receivePath(bytes.subarray(at, end));
        return;
      }
      label = word >>> 12;
      at += labelBytes;
    } else if (type !== etherTypes.v4) return;
    // A router with several profiles answers once.
    const member = this.#members.find(
      ({ mac, instance }) => instance.answers && mac.every((byte, i) => byte === bytes[start + i]),
    );
    if (member === undefined || !this.#isForPath(memory, at, end)) return;
    const source = new Int32Array(4);
    writeMapped(source, 0, this.#ip.source);
    const { payload, end: last, sourcePort: port } = this.#udp;
    const request = copyOf(bytes, payload, last);
    const mac = copyOf(bytes, start + macBytes, start + 2 * macBytes);
    if (this.#udp.destinationPort === lspPingPort)
      member.instance.receiveRequest({ bytes: request, label, mac, source, port });
    else member.instance.receiveBfd(request, source);
  }

  #receivePath(bytes: Uint8Array): void {
    const message = this.#paths.length > 0 ? parseTp(bytes) : undefined;
    if (message !== undefined) for (const paths of this.#paths) paths.receive(message);
  }

  /** A request or a packet of BFD, to an address that no router forwards to. */
  #isForPath(memory: Memory, at: number, end: number): boolean {
    const [ip, udp] = [this.#ip, this.#udp];
    if (!ip.parse(memory, at, end, true) || ip.isFragment || ip.protocol !== ipProtocol.udp) return false;
    if (ip.destination >>> 24 !== loopbackNetwork) return false;
    if (!udp.parse(memory, ip.payload, ip.end, 0, false)) return false;
    return udp.destinationPort === lspPingPort || udp.destinationPort === bfdPorts['single-hop'];
  }

  readonly #receiveReply = (
    key: Int32Array,
    _packet: unknown,
    { bytes }: Memory,
    start: number,
    end: number,
  ): boolean => {
    const local = formatAddress(key, 0);
    const members = this.#members.filter(({ address }) => address === local);
    for (const { instance } of members) instance.receiveReply(copyOf(bytes, start, end), key.slice(4, 8));
    return members.length > 0;
  };
}
