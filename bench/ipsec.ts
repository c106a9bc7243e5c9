import {
  anySelector,
  type ChildSa,
  defaultIkeTimers,
  espOffer,
  IkeEndpoint,
  type IkePeer,
  type IkeRoute,
  ikeOffers,
  Memory,
} from '@rushhour/wire';
import { nodeIpsecCrypto } from '../packages/agent/src/net/ipsec/node-crypto.ts';
import { measureNetwork } from './ipsec-network.ts';
import { report } from './report.ts';

// IKE and ESP of both ends on one core with a wire in memory: what protocols and cryptography themselves cost.

const peer: IkePeer = {
  ikeOffers: ikeOffers({ encryption: 'aes256gcm16', prf: 'sha256', group: 'curve25519' }),
  espOffers: [espOffer('aes256gcm16')],
  authentication: { kind: 'sharedKey', key: new TextEncoder().encode('a long secret') },
  children: [{ local: [anySelector(4)], remote: [anySelector(4)] }],
  isTransport: false,
  forcesEncapsulation: false,
  timers: { ...defaultIkeTimers, dpdIntervalMs: 30_000 },
  replayWindow: 1024,
};

const routeOf = (session: number): IkeRoute => ({
  localAddress: Uint8Array.of(10, session >>> 16, (session >>> 8) & 255, session & 255),
  localPort: 500,
  remoteAddress: Uint8Array.of(172, 16, 0, 1),
  remotePort: 500,
  isEncapsulated: false,
  path: session,
});

const swapped = ({ localAddress, remoteAddress, ...rest }: IkeRoute): IkeRoute => ({
  ...rest,
  localAddress: remoteAddress,
  remoteAddress: localAddress,
});

interface Sent {
  readonly to: IkeEndpoint;
  readonly route: IkeRoute;
  readonly message: Uint8Array;
}

/** Two endpoints; messages are delivered in the order they were sent. */
class Pair {
  up = 0;
  readonly client: IkeEndpoint;
  readonly server: IkeEndpoint;
  readonly children: { client: ChildSa | undefined; server: ChildSa | undefined } = {
    client: undefined,
    server: undefined,
  };
  readonly #wire: Sent[] = [];

  constructor() {
    const options = { crypto: nodeIpsecCrypto, nowMs: 0, findPeer: () => peer };
    this.client = new IkeEndpoint({
      ...options,
      send: (route, message) => void this.#wire.push({ to: this.server, route: swapped(route), message }),
      events: {
        onEstablished: () => void this.up++,
        onChildUp: (_, child) => {
          this.children.client = child;
        },
      },
    });
    this.server = new IkeEndpoint({
      ...options,
      send: (route, message) => void this.#wire.push({ to: this.client, route: swapped(route), message }),
      events: {
        onChildUp: (_, child) => {
          this.children.server = child;
        },
      },
    });
  }

  open(session: number): void {
    this.client.open(peer, routeOf(session));
    this.settle();
  }

  settle(): void {
    for (let i = 0; i < this.#wire.length; i++) {
      const { to, route, message } = this.#wire[i] as Sent;
      to.receive(route, message);
    }
    this.#wire.length = 0;
  }

  advance(nowMs: number): void {
    this.client.advance(nowMs);
    this.server.advance(nowMs);
    this.settle();
  }
}

/** Seconds of processor time of this process, so that other work of the machine does not count. */
const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** What is reachable, and what the process holds with memory that is free again. */
const memoryBytes = (): { live: number; resident: number } => {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { live: heapUsed + external, resident: rss };
};

const measureSessions = (count: number) => {
  const warm = new Pair();
  for (let session = 0; session < 500; session++) warm.open(session);
  const before = memoryBytes();
  const pair = new Pair();
  const start = cpuSeconds();
  for (let session = 0; session < count; session++) pair.open(session);
  const seconds = cpuSeconds() - start;
  if (pair.up !== count) throw new Error(`${pair.up} of ${count} sessions are up`);
  const after = memoryBytes();
  const live = (after.live - before.live) / (2 * count);
  const resident = (after.resident - before.resident) / (2 * count);
  const keptMs = 60_000;
  const keptStart = cpuSeconds();
  for (let nowMs = 10; nowMs <= keptMs; nowMs += 10) pair.advance(nowMs);
  const cores = ((cpuSeconds() - keptStart) * 1000) / keptMs;
  return { rows: sessionRows({ count, seconds, live, resident, cores }), pair };
};

interface Measured {
  readonly count: number;
  readonly seconds: number;
  readonly live: number;
  readonly resident: number;
  readonly cores: number;
}

const sessionRows = ({ count, seconds, live, resident, cores }: Measured) => {
  return [
    { name: 'IKE handshakes a second, both ends on one core', value: count / seconds, goal: 1000 },
    { name: 'bytes of a session at one end', value: live, goal: 4096, better: 'lower' as const },
    { name: 'bytes of a session at one end, resident', value: resident, goal: 4096, better: 'lower' as const },
    { name: `cores to keep ${count} sessions, both ends`, value: cores, goal: 0.5, better: 'lower' as const },
  ];
};

const packetBytes = 1400;

/** Packets a second that are sealed by one end and opened by the other. */
const measureEsp = ({ children: { client, server } }: Pair) => {
  if (client === undefined || server === undefined) throw new Error('no child SA is up');
  const memory = new Memory(new Uint8Array(2048));
  const carry = (count: number) => {
    const start = cpuSeconds();
    for (let i = 0; i < count; i++) {
      const end = client.outbound.seal(memory, 100, 100 + packetBytes, 4);
      if (!server.inbound.open(memory, 100 - client.outbound.headBytes, end)) throw new Error('a packet is not opened');
    }
    return cpuSeconds() - start;
  };
  carry(20_000);
  const count = 200_000;
  const rate = count / carry(count);
  return [{ name: 'ESP packets of 1,400 bytes a second, sealed and opened on one core', value: rate, goal: 100_000 }];
};

const [count = 20_000] = process.argv.slice(2).map(Number);
const { rows, pair } = measureSessions(count);
const areFine = [report(rows), report(measureEsp(pair))];
for await (const measured of measureNetwork()) areFine.push(report(measured));
process.exit(areFine.every(Boolean) ? 0 : 1);
