import {
  anySelector,
  type ChildSa,
  defaultIkeTimers,
  espOffer,
  IkeEndpoint,
  type IkeEndpointOptions,
  type IkePeer,
  type IkeRoute,
  type IkeSa,
  type IpsecCrypto,
  ikeOffers,
  Memory,
} from '@rushhour/wire';
import { nodeIpsecCrypto } from '../node-crypto.ts';

const clientAddress = Uint8Array.of(10, 0, 0, 1);
const serverAddress = Uint8Array.of(10, 0, 0, 2);

export const sharedKey = (text: string) =>
  ({ kind: 'sharedKey', key: new TextEncoder().encode(text) }) as const satisfies IkePeer['authentication'];

export const peerOf = (more: Partial<IkePeer> = {}): IkePeer => ({
  ikeOffers: ikeOffers({ encryption: 'aes128', prf: 'sha256', group: 'curve25519' }),
  espOffers: [espOffer('aes128gcm16')],
  authentication: sharedKey('a long secret'),
  children: [{ local: [anySelector(4)], remote: [anySelector(4)] }],
  isTransport: false,
  forcesEncapsulation: false,
  timers: { ...defaultIkeTimers, dpdIntervalMs: 0 },
  replayWindow: 64,
  ...more,
});

export interface Side {
  readonly endpoint: IkeEndpoint;
  readonly log: string[];
  readonly sas: Set<IkeSa>;
  /** Newest child SA by its index. */
  readonly children: Map<number, ChildSa>;
}

const createSide = (
  options: Pick<IkeEndpointOptions, 'send' | 'sendKeepalive' | 'findPeer' | 'cookieThreshold' | 'crypto'>,
): Side => {
  const log: string[] = [];
  const sas = new Set<IkeSa>();
  const children = new Map<number, ChildSa>();
  const endpoint = new IkeEndpoint({
    ...options,
    nowMs: 0,
    events: {
      onEstablished: (sa) => {
        log.push('established');
        sas.add(sa);
      },
      onClosed: (sa, cause) => {
        log.push(`closed ${cause}`);
        sas.delete(sa);
      },
      onReplaced: (sa, by) => {
        log.push('replaced');
        sas.delete(sa);
        sas.add(by);
      },
      onChildUp: (_, child, replaced) => {
        log.push(replaced === undefined ? `child ${child.index} up` : `child ${child.index} rekeyed`);
        children.set(child.index, child);
      },
      onChildDown: (_, child) => {
        if (children.get(child.index) === child) children.delete(child.index);
        log.push(`child ${child.index} down`);
      },
      onChildFailed: (_, index, cause) => log.push(`child ${index} failed ${cause}`),
      onCookie: () => log.push('cookie'),
      onMoved: (sa) => log.push(`moved to ${sa.route.remoteAddress.join('.')} ${sa.route.localAddress.join('.')}`),
    },
  });
  return { endpoint, log, sas, children };
};

export interface PairOptions {
  readonly client?: Partial<IkePeer>;
  readonly server?: Partial<IkePeer>;
  readonly cookieThreshold?: number;
  /** Of both sides. */
  readonly crypto?: IpsecCrypto;
  /** Address that the server sees instead of the client's. */
  readonly translatedTo?: Uint8Array;
  /** What arrives of a message: none, one or more. */
  readonly onWire?: (message: Uint8Array, toServer: boolean) => readonly Uint8Array[];
}

/** Two endpoints with a wire and a clock between them. */
export class IkePair {
  readonly client: Side;
  readonly server: Side;
  readonly #wire: (() => void)[] = [];
  readonly #options: PairOptions;
  #nowMs = 0;

  constructor(options: PairOptions = {}) {
    this.#options = options;
    const { onWire = (message: Uint8Array) => [message], crypto = nodeIpsecCrypto } = options;
    const deliver = (to: () => Side, route: IkeRoute, message: Uint8Array, toServer: boolean) => {
      const arriving = onWire(message.slice(), toServer);
      for (const one of arriving) {
        this.#wire.push(() => {
          const bytes = Buffer.from(one);
          to().endpoint.receive(this.#seen(route, toServer), bytes);
          // The memory of a message is used again.
          bytes.fill(0);
        });
      }
    };
    this.client = createSide({ crypto, send: (route, message) => deliver(() => this.server, route, message, true) });
    this.server = createSide({
      crypto,
      send: (route, message) => deliver(() => this.client, route, message, false),
      findPeer: () => peerOf(options.server),
      ...(options.cookieThreshold !== undefined && { cookieThreshold: options.cookieThreshold }),
    });
  }

  get route(): IkeRoute {
    return {
      localAddress: clientAddress,
      localPort: 500,
      remoteAddress: serverAddress,
      remotePort: 500,
      isEncapsulated: false,
      path: 0,
    };
  }

  open(): IkeSa {
    const sa = this.client.endpoint.open(peerOf(this.#options.client), this.route);
    this.settle();
    return sa;
  }

  /** Delivers messages until none is under way. */
  settle(): void {
    for (let steps = 0; this.#wire.length > 0; steps++) {
      if (steps > 10_000) throw new Error('messages do not come to an end');
      this.#wire.shift()?.();
    }
  }

  /** Lets time pass in steps. */
  pass(ms: number, stepMs = 100): void {
    for (const end = this.#nowMs + ms; this.#nowMs < end; ) {
      this.#nowMs += stepMs;
      this.client.endpoint.advance(this.#nowMs);
      this.server.endpoint.advance(this.#nowMs);
      this.settle();
    }
  }

  /** True if a packet of either side is opened by the other. */
  carries(index = 0): boolean {
    const [a, b] = [this.client.children.get(index), this.server.children.get(index)];
    return a !== undefined && b !== undefined && passes(a, b) && passes(b, a);
  }

  #seen(route: IkeRoute, toServer: boolean): IkeRoute {
    const { translatedTo } = this.#options;
    const swapped = {
      localAddress: route.remoteAddress,
      localPort: route.remotePort,
      remoteAddress: route.localAddress,
      remotePort: route.localPort,
    };
    if (translatedTo === undefined) return { ...route, ...swapped };
    if (toServer) return { ...route, ...swapped, remoteAddress: translatedTo, remotePort: route.localPort + 10_000 };
    return { ...route, ...swapped, localAddress: clientAddress, localPort: route.remotePort - 10_000 };
  }
}

/** Sends one packet through a pair of SAs. */
export const passes = ({ outbound }: ChildSa, { inbound }: ChildSa): boolean => {
  const payload = Uint8Array.from({ length: 100 }, (_, i) => i);
  const memory = new Memory(new Uint8Array(300));
  memory.bytes.set(payload, 100);
  const end = outbound.seal(memory, 100, 200, 4);
  if (!inbound.open(memory, 100 - outbound.headBytes, end)) return false;
  return inbound.nextHeader === 4 && Buffer.compare(memory.bytes.subarray(inbound.start, inbound.end), payload) === 0;
};
