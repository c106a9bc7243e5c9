import type { Memory } from '../../bytes/memory.ts';
import { vlanIds } from '../../ethernet/ethernet.ts';
import type { Ipv4Header } from '../../ip/ipv4.ts';
import type { FrameWriter } from '../frames.ts';
import type { Ipoe } from '../ipoe.ts';
import type { L2tpLac } from '../l2tp/lac.ts';
import type { Lines } from '../lines.ts';
import type { Pppoe } from '../pppoe/client.ts';
import { type IgmpHost, IgmpHosts, type IgmpOptions } from './hosts.ts';
import { igmpProtocol } from './message.ts';

export interface ClientIgmpHost extends Pick<IgmpHost, 'random' | 'onJoined' | 'onLeft'> {
  readonly frames: FrameWriter;
  readonly lines: Lines;
  readonly protocol: Ipoe | Pppoe | L2tpLac;
}

/** VLAN tags as a number below 2^24. */
const lineOfTags = (tags: number): number => ((vlanIds(tags) >>> 16) << 12) | (tags & 0xfff);

const isGroup = (address: number): boolean => address >>> 28 === 0xe;

/** The multicast receivers of a port, whose packets go through its sessions. */
export class ClientIgmp {
  readonly hosts: IgmpHosts;
  readonly #lines: Lines;
  readonly #isShared: boolean;

  constructor({ frames, lines, protocol, random, onJoined, onLeft }: ClientIgmpHost, options: IgmpOptions) {
    this.#lines = lines;
    // Packets of PPP are for one session; without PPP those to groups are for all of a VLAN.
    this.#isShared = 'sendMulticast' in protocol;
    this.hosts = new IgmpHosts(
      {
        ...{ hosts: lines.count, random, onJoined, onLeft },
        memory: () => frames.memory,
        lineOf: (session) => (this.#isShared ? lineOfTags(lines.tagsOf(session)) : session),
        // A session without an address has 0.
        addressOf: (session) => protocol.addressOf(session) || undefined,
        begin: (session, length) =>
          'sendMulticast' in protocol ? frames.begin(session, length) : protocol.begin(session, length),
        send: (session, at, end, group) => {
          if ('sendMulticast' in protocol) protocol.sendMulticast(session, at, end, group);
          else protocol.sendPacket(session, at, end);
        },
      },
      options,
    );
  }

  /** An IPv4 packet to a group; `session`: -1 where it is for all of a VLAN. */
  receive(session: number, tags: number, memory: Memory, ip: Ipv4Header): void {
    if (!isGroup(ip.destination) || ip.isFragment) return;
    if (ip.protocol !== igmpProtocol) this.hosts.receiveData(this.#isShared ? lineOfTags(tags) : session, ip);
    else this.hosts.receive(this.#isShared ? this.#sessionsIn(tags) : [session], memory, ip.payload, ip.end);
  }

  *#sessionsIn(tags: number): Generator<number> {
    const ids = vlanIds(tags);
    for (let session = 0; session < this.#lines.count; session++)
      if (vlanIds(this.#lines.tagsOf(session)) === ids) yield session;
  }
}
