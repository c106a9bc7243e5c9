import { findPorts } from '@rushhour/pools';
import type { Issue } from '../../../errors.ts';
import type { CheckedEntry } from './checked-entry.ts';

interface Listener {
  readonly path: string;
  readonly index: number;
  readonly order: number;
  readonly agentId: number;
  readonly transport: string;
  readonly address: string | undefined;
  /** The ports, or the name of those that the plugin takes by itself. */
  readonly ports: string;
}

const transportOf = ({ plugin, values }: CheckedEntry): string => {
  const named = (member: string, name: string) => (values[member] as Record<string, string> | undefined)?.[name];
  switch (plugin.name) {
    case 'udp':
      return 'udp';
    case 'dns':
      return named('dnsParams', 'transport') === 'udp' ? 'udp' : 'tcp';
    case 'stateless-server':
      return named('statelessServerParams', 'protocol') ?? 'udp';
    default:
      return 'tcp';
  }
};

/** Each plugin listens somewhere else by itself, and with TLS or another transport elsewhere again. */
const usualPorts = ({ plugin, values }: CheckedEntry) => {
  const { transport } = (values['dnsParams'] ?? {}) as { transport?: string };
  return `usual of ${plugin.name} ${transport ?? (values['tlsParams'] ? 'tls' : '')}`;
};

const listenersOf = (entry: CheckedEntry): Listener[] => {
  const { values, path, index, order } = entry;
  if (!values.isServer) return [];
  const own = (values['statelessServerParams'] as { ports?: string } | undefined)?.ports;
  const transport = transportOf(entry);
  return (values.targets ?? []).flatMap(({ agent, ip, ports = own }, i) =>
    agent === undefined
      ? []
      : [
          {
            ...{ path: `${path}/targets/${i}`, index, order, transport, address: ip },
            agentId: agent.id,
            ports: ports ?? usualPorts(entry),
          },
        ],
  );
};

const sharePort = (one: string, other: string): boolean => {
  const [ports, others] = [findPorts(one), findPorts(other)];
  if (ports === undefined || others === undefined) return one === other;
  const [few, many] = ports.size <= others.size ? [ports, others] : [others, ports];
  for (let i = 0; i < few.size; i++) if (many.has(few.at(i))) return true;
  return false;
};

/** Stages of one suite follow one another: what listens in one is gone in the next. */
const meetInTime = (one: Listener, other: Listener) => one.index !== other.index || one.order === other.order;

const overlap = (one: Listener, other: Listener): boolean =>
  one.agentId === other.agentId &&
  one.transport === other.transport &&
  meetInTime(one, other) &&
  (one.address === undefined || other.address === undefined || one.address === other.address) &&
  sharePort(one.ports, other.ports);

/** No two servers listen on the same agent, address and port. */
export const listenerIssues = (entries: readonly CheckedEntry[]): Issue[] => {
  const listeners = entries.flatMap(listenersOf);
  return listeners.flatMap((listener, i): Issue[] => {
    const taken = listeners.slice(0, i).find((other) => overlap(other, listener));
    if (taken === undefined) return [];
    const message = `agent ${listener.agentId} already listens there for ${taken.path}: give another address or other ports`;
    return [{ path: listener.path, code: 'ADDRESS_OVERLAP', message }];
  });
};
