import { findPorts } from '@rushhour/pools';
import type { Issue } from '../../errors.ts';
import type { CheckedEntry } from './checked-entry.ts';

interface Listener {
  readonly path: string;
  readonly index: number;
  readonly order: number;
  readonly agentId: number;
  readonly transport: string;
  readonly address: string | undefined;
  /** Port ranges, or the name of the plugin's default ports. */
  readonly ports: string | readonly (readonly [number, number])[];
}

/** Above this number on one agent, only the plan of a run compares them all. */
const maxCompared = 500;

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

/** Default ports differ by plugin, and by TLS and transport. */
const defaultPorts = ({ plugin, values }: CheckedEntry) => {
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
            ports: (ports && rangesOf(ports)) ?? defaultPorts(entry),
          },
        ],
  );
};

const rangesOf = (text: string) =>
  findPorts(text)
    ?.text.split(',')
    .map((range) => {
      const [first = '', last = first] = range.split('-');
      return [Number(first), Number(last)] as const;
    });

const sharePort = (one: Listener['ports'], other: Listener['ports']): boolean => {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  return one.some(([first, last]) => other.some(([from, to]) => first <= to && from <= last));
};

/** Stages of a suite run one after another: a listener of one stage is gone in the next. */
const meetInTime = (one: Listener, other: Listener) => one.index !== other.index || one.order === other.order;

const overlap = (one: Listener, other: Listener): boolean =>
  meetInTime(one, other) &&
  (one.address === undefined || other.address === undefined || one.address === other.address) &&
  sharePort(one.ports, other.ports);

const conflictsAmong = (listeners: readonly Listener[]): Issue[] =>
  listeners.slice(0, maxCompared).flatMap((listener, i): Issue[] => {
    const taken = listeners.slice(0, i).find((other) => overlap(other, listener));
    if (taken === undefined) return [];
    const message = `agent ${listener.agentId} already listens there for ${taken.path}: give another address or other ports`;
    return [{ path: listener.path, code: 'ADDRESS_OVERLAP', message }];
  });

/** No two servers listen on the same agent, address and port. */
export const listenerIssues = (entries: readonly CheckedEntry[]): Issue[] =>
  [
    ...Map.groupBy(entries.flatMap(listenersOf), ({ agentId, transport }) => `${agentId} ${transport}`).values(),
  ].flatMap(conflictsAmong);
