import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { IpsecSettings } from '@rushhour/protocol';
import { IkeEndpoint, type IkeRoute, type IkeSa, suiteName } from '@rushhour/wire';
import { createPeer, parseBytes, selectorsOf } from '../../packages/agent/src/net/ipsec/ipsec-peer.ts';
import { nodeIpsecCrypto } from '../../packages/agent/src/net/ipsec/node-crypto.ts';

// Our side of IKE on sockets of the kernel, for tests against other implementations. The only argument is JSON; a line
// of JSON is printed for each attempt.

export interface PartnerOptions {
  readonly local: string;
  readonly remote: string;
  /** One after the other as initiator; as responder the one whose index is written to the input, until that ends. */
  readonly settings: readonly IpsecSettings[];
  readonly isResponder: boolean;
}

export interface PartnerResult {
  readonly outcome: string;
  readonly ike?: string;
  readonly esp?: string;
}

const { local, remote, settings, isResponder } = JSON.parse(process.argv[2] ?? '') as PartnerOptions;
const markerBytes = 4;
const print = (result: PartnerResult) => process.stdout.write(`${JSON.stringify(result)}\n`);

const sockets = new Map(
  await Promise.all(
    [500, 4500].map(async (port) => {
      const socket = createSocket('udp4');
      socket.bind(port, local);
      await once(socket, 'listening');
      return [port, socket] as const;
    }),
  ),
);

/** Settings of a responder: the number of the last line of the input. */
let used = 0;
let settle: (result: PartnerResult) => void = print;
const resultOf = (sa: IkeSa): PartnerResult => {
  const [child] = sa.children;
  return {
    outcome: 'up',
    ...(sa.suite && { ike: suiteName(sa.suite) }),
    ...(child && { esp: suiteName(child.suite) }),
  };
};

const endpoint = new IkeEndpoint({
  crypto: nodeIpsecCrypto,
  nowMs: performance.now(),
  send(route, message) {
    const bytes = route.isEncapsulated ? Buffer.concat([Buffer.alloc(markerBytes), message]) : message;
    sockets.get(route.localPort)?.send(bytes, route.remotePort, remote);
  },
  findPeer: (route) => (isResponder ? peerOf(settings[used] as IpsecSettings, route) : undefined),
  events: {
    onChildUp: (sa, _, replaced) => {
      if (replaced === undefined) settle(resultOf(sa));
      else print({ outcome: 'child rekeyed' });
    },
    onReplaced: () => print({ outcome: 'IKE rekeyed' }),
    onChildFailed: (_, __, cause) => settle({ outcome: cause }),
    onClosed: (_, cause) => settle({ outcome: `closed ${cause}` }),
  },
});

function peerOf(one: IpsecSettings, { localAddress, remoteAddress }: IkeRoute) {
  const ends = { index: 0, local: localAddress, remote: remoteAddress, isInitiator: !isResponder, version: 4 } as const;
  return { ...createPeer(one, !isResponder), children: [selectorsOf(one, ends)] };
}

const routeAt = (port: number, remotePort: number): IkeRoute => ({
  localAddress: parseBytes(local),
  remoteAddress: parseBytes(remote),
  localPort: port,
  remotePort,
  isEncapsulated: port === 4500,
  path: 0,
});

for (const [port, socket] of sockets) {
  socket.on('message', (bytes, { port: remotePort }) => {
    const isIke = port === 500 || (bytes.length > markerBytes && bytes.readUInt32BE() === 0);
    endpoint.nowMs = performance.now();
    if (isIke) endpoint.receive(routeAt(port, remotePort), bytes.subarray(port === 500 ? 0 : markerBytes));
  });
}
const timer = setInterval(() => endpoint.advance(performance.now()), 10);

const attempt = async (one: IpsecSettings): Promise<void> => {
  const route = routeAt(500, 500);
  const result = await new Promise<PartnerResult & { sa: IkeSa | undefined }>((resolve) => {
    let sa: IkeSa | undefined;
    settle = (outcome) => resolve({ ...outcome, sa });
    sa = endpoint.open(peerOf(one, route), route);
  });
  const { sa, ...rest } = result;
  if (one.rekeySec > 0) await new Promise((resolve) => setTimeout(resolve, one.rekeySec * 2500));
  settle = () => {};
  print(rest);
  for (const open of [...endpoint.sas()]) endpoint.close(open);
  void sa;
  await new Promise((resolve) => setTimeout(resolve, 100));
};

if (!isResponder) for (const one of settings) await attempt(one);
else {
  print({ outcome: 'ready' });
  process.stdin.on('data', (bytes: Buffer) => {
    used = Number(bytes.toString().trim().split('\n').at(-1));
  });
  await once(process.stdin, 'end');
}
clearInterval(timer);
for (const socket of sockets.values()) socket.close();
