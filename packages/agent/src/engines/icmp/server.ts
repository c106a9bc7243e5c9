import { readFileSync } from 'node:fs';
import type { IcmpServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import type { HostNetwork } from '../../net/host-network.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import { requireDevice } from '../../net/packet/device.ts';
import { NeighbourResolver } from '../../net/packet/neighbour-resolver.ts';
import { probePackets } from '../../net/packet/packet-socket.ts';
import { outwardDevices } from '../../net/packet/route.ts';

const lookMs = 200;

/** Echo replies of the kernel since the network namespace was created, of all processes in it. */
const answeredEchoes = (): number => {
  const numberIn = (file: string, pattern: RegExp): number => {
    try {
      return Number(pattern.exec(readFileSync(file, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  };
  const [names = '', values = ''] = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Icmp:'));
  const four = Number(values.split(' ')[names.split(' ').indexOf('OutEchoReps')] ?? 0);
  return four + numberIn('/proc/net/snmp6', /^Icmp6OutEchoReplies\s+(\d+)$/m);
};

/** Emulated hosts answer echo requests themselves. */
const prepareEmulatedServer = (
  hostNetwork: HostNetwork,
  { samples, signal }: EngineContext<IcmpServerConfig>,
): PreparedEngine => {
  const counter = samples.counter('icmp.answered');
  const icmp = hostNetwork.createIcmp({});
  let before = 0;
  const look = () => {
    counter.add(icmp.answered - before);
    before = icmp.answered;
  };
  let watch: NodeJS.Timeout | undefined;
  return {
    async start() {
      before = icmp.answered;
      watch = setInterval(look, lookMs);
      await aborted(signal);
      look();
    },
    async close() {
      clearInterval(watch);
      icmp.close();
    },
  };
};

/** The kernel answers echo requests. This engine counts them and answers ARP and ND for emulated addresses. */
export const prepareIcmpServer = async (context: EngineContext<IcmpServerConfig>): Promise<PreparedEngine> => {
  const { config, host, samples, signal, hostNetwork } = context;
  if (hostNetwork !== undefined) return prepareEmulatedServer(hostNetwork, context);
  const answered = samples.counter('icmp.answered');
  const emulated = new Set(
    config.listen.map((listen) => listen.host).filter((address) => !host.addresses.includes(address)),
  );
  const opened: NeighbourResolver[] = [];
  const poller = emulated.size > 0 && probePackets() === undefined ? epollPoller() : undefined;
  if (poller !== undefined) {
    kernelEventLoop.acquire();
    for (const name of outwardDevices())
      opened.push(new NeighbourResolver({ device: requireDevice(name), poller }, (address) => emulated.has(address)));
  }
  let before = answeredEchoes();
  const look = () => {
    const now = answeredEchoes();
    answered.add(now - before);
    before = now;
  };
  let watch: NodeJS.Timeout | undefined;
  return {
    async start() {
      before = answeredEchoes();
      watch = setInterval(look, lookMs);
      await aborted(signal);
      look();
    },
    async close() {
      clearInterval(watch);
      for (const one of opened) one.close();
      if (poller !== undefined) kernelEventLoop.release();
    },
  };
};
