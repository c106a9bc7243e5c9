import { createIcmpRequest, type HostGroup, icmpRequests } from '@rushhour/wire';
import type { InsideHosts } from './inside-hosts.ts';

const addressWords = 4;
const payloadBytes = 56;
/** Echoes of one round; a round takes a second. */
const maxProbes = 1000;

/** Echoes inside tunnels: host i of this side asks host i of the other side, again and again. */
export class TunnelProbes {
  /** Echoes that were not answered before the next one of the same host. */
  lost = 0;
  answered = 0;
  readonly #group: HostGroup;
  readonly #hosts: InsideHosts;
  readonly #remote: InsideHosts;
  readonly #awaiting: Uint8Array;
  readonly #key = new Int32Array(2 * addressWords);
  #sequence = 0;
  #next = 0;

  constructor(group: HostGroup, hosts: InsideHosts, remote: InsideHosts) {
    this.#group = group;
    this.#hosts = hosts;
    this.#remote = remote;
    this.#awaiting = new Uint8Array(hosts.count);
    const { v4, v6 } = icmpRequests.echo;
    const reply = (hosts.version === 4 ? v4 : v6)?.reply;
    group.icmp.handler = ({ path }, { type }) => {
      if (type !== reply || path < 0) return;
      this.answered += this.#awaiting[path] as number;
      this.#awaiting[path] = 0;
    };
  }

  /** Sends the echoes of one round. Hosts whose tunnel is not up send none. */
  send(): void {
    const { count } = this.#hosts;
    for (let i = 0; i < Math.min(maxProbes, count); i++) {
      this.#sendFrom(this.#next);
      this.#next = (this.#next + 1) % count;
    }
  }

  #sendFrom(host: number): void {
    const key = this.#key;
    this.#hosts.writeAddress(host, key, 0);
    this.#remote.writeAddress(host % this.#remote.count, key, addressWords);
    const target = key.subarray(addressWords);
    const request = createIcmpRequest('echo', { source: key, target, mac: new Uint8Array(6), size: payloadBytes });
    const word = (host << 16) | (this.#sequence++ & 0xffff);
    if (!this.#group.icmp.send(key, host, { ...request, word })) return;
    this.lost += this.#awaiting[host] as number;
    this.#awaiting[host] = 1;
  }
}
