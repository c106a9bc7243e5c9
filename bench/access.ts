import {
  AccessClient,
  type AccessClientOptions,
  AccessGateway,
  type AccessGatewayOptions,
  createMemory,
  type FrameSink,
  Memory,
  parseAddress,
  parseMac,
  sessionState,
  untagged,
} from '@rushhour/wire';
import { comparePerfdhcp } from './access-perfdhcp.ts';
import { report } from './report.ts';

// Sessions of the access plane, both ends on one core and a wire in memory: what the protocols themselves cost.

const ip = (text: string) => parseAddress(text)[3] as number;
const bytes = (text: string) => new TextEncoder().encode(text);
const noBytes = new Uint8Array(0);

interface End {
  receive(memory: Memory, start: number, end: number): void;
  advance(nowMs: number): void;
}

/** Frames of both ends, delivered in the order they were sent. */
class MemoryWire {
  frames = 0;
  readonly #queues: [Uint8Array[], Uint8Array[]] = [[], []];

  sink(from: 0 | 1): FrameSink {
    const memory = createMemory(4096);
    return {
      memory,
      mtu: 1500,
      begin: (length) => (length > 4000 ? -1 : 16),
      commit: (offset, length) => void this.#queues[from].push(memory.bytes.slice(offset, offset + length)),
    };
  }

  deliver(ends: readonly [End, End]): boolean {
    let isBusy = false;
    for (const from of [0, 1] as const) {
      const frames = this.#queues[from].splice(0);
      isBusy ||= frames.length > 0;
      this.frames += frames.length;
      for (const frame of frames) ends[from === 0 ? 1 : 0].receive(new Memory(frame), 0, frame.length);
    }
    return isBusy;
  }
}

const auth = {
  timeoutMs: 5000,
  retries: 10,
  name: 'bench',
  offer: 'chap' as const,
  credentials: (session: number) => ({ userName: `user${session}`, password: `test-${session}` }),
  passwordOf: (userName: string) => `test-${userName.slice(4)}`,
};
const lcp = {
  mru: 1492,
  timeoutMs: 5000,
  retries: 10,
  magicNumber: true,
  echoMs: 30_000,
  echoRetries: 3,
  vendorExtensions: false,
};

const pppoe: AccessClientOptions['access'] = {
  pppoe: {
    serviceName: noBytes,
    acName: noBytes,
    timeoutMs: 5000,
    retries: 10,
    hostUniq: true,
    maxPayload: 0,
    priority: 6,
    dscp: 0,
    ppp: {
      lcp,
      auth,
      ipcp: { enabled: true, address: 0, requestDns: true },
      ip6cp: { enabled: false, autoconfigure: false },
    },
  },
};
const concentrator = (count: number): Partial<AccessGatewayOptions> => ({
  pppoe: {
    acName: bytes('bench'),
    serviceName: noBytes,
    cookie: true,
    maxSessions: count,
    pools: [{ name: '', start: ip('100.64.0.2'), size: count }],
    answerDelayMs: 0,
    ppp: {
      lcp,
      auth,
      ipcp: { enabled: true, address: ip('100.64.0.1'), requestDns: false, dns: [ip('9.9.9.9'), ip('8.8.8.8')] },
      ip6cp: { enabled: false, autoconfigure: false },
    },
  },
});

const ipoe: AccessClientOptions['access'] = {
  ipoe: {
    ipv4: {
      dhcp: {
        timeoutMs: 5000,
        retries: 10,
        isBroadcast: false,
        rapidCommit: false,
        hostName: (session) => bytes(`host-${session}`),
        vendorClass: noBytes,
        clientId: 'mac',
        parameters: Uint8Array.of(1, 3, 6, 15, 51, 54),
        renewPct: 50,
      },
    },
    releases: true,
    neighbours: { timeoutMs: 1000, retries: 3, intervalMs: 300_000, trusted: [] },
    dscp: 0,
  },
};
const dhcpServer = (count: number): Partial<AccessGatewayOptions> => ({
  dhcp: {
    poolStart: ip('100.64.0.2'),
    poolSize: count,
    netmask: ip('255.192.0.0'),
    router: ip('100.64.0.1'),
    leaseSec: 3600,
    dnsServers: [ip('9.9.9.9')],
    domain: bytes('bench.test'),
    answerDelayMs: 0,
  },
});

const memoryOf = () => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

const measure = (
  name: string,
  count: number,
  access: AccessClientOptions['access'],
  far: Partial<AccessGatewayOptions>,
) => {
  const before = memoryOf();
  const wire = new MemoryWire();
  const client = new AccessClient({
    sink: wire.sink(0),
    random: Math.random,
    count,
    firstMac: parseMac('02:00:00:00:00:01'),
    macStep: 1,
    vlan: untagged,
    load: { startPerSec: 1e9, stopPerSec: 1e9, maxOutstanding: 800, startDelayMs: 0 },
    life: { holdMs: 0, reconnect: true, reconnectDelayMs: 1000, maxAttempts: 0 },
    proofPerSec: 0,
    access,
  });
  const gateway = new AccessGateway({
    sink: wire.sink(1),
    random: Math.random,
    mac: parseMac('02:ff:00:00:00:01'),
    ...far,
  });
  const ends = [client, gateway] as const;
  const { subscribers } = client;
  subscribers.begin();
  let nowMs = 0;
  const step = () => {
    nowMs++;
    for (const end of ends) end.advance(nowMs);
    while (wire.deliver(ends));
  };
  const start = performance.now();
  while (subscribers.table.counts[sessionState.up] !== count) step();
  const setupMs = performance.now() - start;
  const perSession = (memoryOf() - before) / count;
  const steadyStart = performance.now();
  const steadyUntil = nowMs + 30_000;
  while (nowMs < steadyUntil) step();
  const load = (performance.now() - steadyStart) / 30_000;
  const rate = Math.round(count / (setupMs / 1000));
  return [
    { name: `${name}: setups a second, both ends on one core`, value: rate, goal: 5000 },
    { name: `${name}: bytes a session, both ends`, value: perSession, goal: 2048, better: 'lower' as const },
    { name: `${name}: cores to keep ${count} sessions, both ends`, value: load, goal: 0.2, better: 'lower' as const },
  ];
};

const [dhcpCount = 100_000, pppoeCount = 64_000] = process.argv.slice(2).map(Number);
const isFine = report([
  ...(await comparePerfdhcp()),
  ...measure('DHCP', dhcpCount, ipoe, dhcpServer(dhcpCount)),
  ...measure('PPPoE with CHAP', pppoeCount, pppoe, concentrator(pppoeCount)),
]);
process.exit(isFine ? 0 : 1);
