import { createHostMacs, findSubnet, type MacRecord, type NetworkDraft, parseAddress } from '@rushhour/pools';
import type { StackNetwork } from '@rushhour/protocol';

const macBytes = 6;

interface Gateway {
  readonly address: string;
  /** Undefined: asked by ARP or neighbour discovery. */
  readonly mac: string | undefined;
}

interface Network {
  readonly has: (address: string) => boolean;
  readonly macAt: ((address: bigint) => number | null) | undefined;
  readonly gateway: Gateway | undefined;
}

const networkOf = ({ subnet, macs, gateway, gatewayMac }: StackNetwork): Network => {
  const found = findSubnet(subnet);
  const records = (macs?.records ?? []) as (MacRecord & { id: number })[];
  return {
    has(address) {
      const { version, value } = parseAddress(address);
      return found !== undefined && version === found.version && value >= found.first && value <= found.last;
    },
    macAt: macs && createHostMacs(macs.network as NetworkDraft, new Map(records.map((one) => [one.id, one]))),
    gateway: gateway === undefined ? undefined : { address: gateway, mac: gatewayMac },
  };
};

/** MACs and gateways of the hosts of streams, which no interface has. */
export class HostMacs {
  readonly #networks: readonly Network[];
  readonly #own: Buffer;

  /** `own`: the MAC of the interface, which all others have. */
  constructor(networks: readonly StackNetwork[] | undefined, own: Buffer) {
    this.#networks = (networks ?? []).map(networkOf);
    this.#own = own;
  }

  /** Hosts may have MACs that the interface does not have. */
  get hasOthers(): boolean {
    return this.#networks.some(({ macAt }) => macAt !== undefined);
  }

  of(address: string): Buffer {
    const network = this.#networks.find(({ has }) => has(address));
    const mac = network?.macAt?.(parseAddress(address).value) ?? null;
    if (mac === null) return this.#own;
    const bytes = Buffer.alloc(macBytes);
    bytes.writeUIntBE(mac, 0, macBytes);
    return bytes;
  }

  /** The router of the hosts to an address outside their networks; undefined: as the routing table says. */
  gatewayTo(address: string): Gateway | undefined {
    if (this.#networks.some(({ has }) => has(address))) return undefined;
    const isV6 = address.includes(':');
    return this.#networks.find(({ gateway }) => gateway !== undefined && gateway.address.includes(':') === isV6)
      ?.gateway;
  }
}
