import { findPorts } from '@rushhour/pools';
import type { ApplicationClientConfig, Target } from '@rushhour/protocol';
import { endpointsOf } from '../../core/load/traffic-entry.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';

/** Where sessions recorded to a port go, and whose. */
interface PortUse {
  readonly recorded: number;
  /** The user that comes there; undefined for all. */
  readonly slot?: number;
}

export interface RecordedPorts {
  /** Where targets name none. */
  readonly defaults: string;
  listen(endpoint: { host: string; port: number }): object;
  targets(targets: readonly Target[]): ApplicationClientConfig['targets'];
}

interface PortOptions {
  /** Ports of servers in the captures, ascending. */
  readonly recorded: readonly number[];
  readonly mode: 'recorded' | 'mapped' | 'perSlot';
  /** Of all applications. */
  readonly users: number;
}

/** Which port stands for which recorded one. */
export const portsOf = (scope: PlanScope, options: PortOptions): RecordedPorts => {
  const uses = usesOf(scope, options);
  return {
    defaults: options.recorded.length === 0 ? '1' : options.recorded.join(','),
    listen: (endpoint) => ({ ...endpoint, ...uses.get(endpoint.port) }),
    targets: (targets) => targetsFor(targets, uses),
  };
};

const usesOf = (scope: PlanScope, { recorded, mode, users }: PortOptions): ReadonlyMap<number, PortUse> => {
  const uses = new Map<number, PortUse>(recorded.map((port) => [port, { recorded: port }]));
  if (mode === 'recorded') {
    reportFixed(scope, recorded);
    return uses;
  }
  if (mode === 'mapped' && !endpointsOf(scope.entry, 'targets').some(({ ports }) => ports !== undefined)) return uses;
  uses.clear();
  const slots = mode === 'perSlot' ? users : 1;
  endpointsOf(scope.entry, 'targets').forEach(({ ports: text }, index) => {
    const path = pointerIn(scope, 'targets', index, 'ports');
    const ports = findPorts(text ?? recorded.join(','));
    if (ports === undefined) return;
    if (ports.size < recorded.length * slots) {
      const message = `${recorded.length * slots} ports are needed: ${slots} for each of ${recorded.join(', ')}`;
      scope.issues.error(path, 'PORTS_TOO_FEW', message);
      return;
    }
    for (let at = 0; at < recorded.length * slots; at++) {
      const use = {
        recorded: recorded[Math.floor(at / slots)] as number,
        ...(mode === 'perSlot' && { slot: at % slots }),
      };
      const known = uses.get(ports.at(at)) ?? use;
      uses.set(ports.at(at), known);
      if (known.recorded === use.recorded && known.slot === use.slot) continue;
      scope.issues.error(path, 'PORTS_UNCLEAR', `port ${ports.at(at)} stands for ${known.recorded} elsewhere`);
    }
  });
  return uses;
};

const reportFixed = (scope: PlanScope, recorded: readonly number[]): void =>
  endpointsOf(scope.entry, 'targets').forEach(({ ports }, index) => {
    if (ports === undefined || ports === recorded.join(',')) return;
    const message = `sessions go to the recorded ports ${recorded.join(', ')}; say portMode mapped to choose others`;
    scope.issues.error(pointerIn(scope, 'targets', index, 'ports'), 'PORTS_FIXED', message);
  });

/** Hosts, each with its ports in the order of their slots. */
const targetsFor = (
  targets: readonly Target[],
  uses: ReadonlyMap<number, PortUse>,
): ApplicationClientConfig['targets'] => {
  const byHost = new Map<string, { host: string; weight: number; ports: Map<number, number[]> }>();
  for (const { host, port, weight } of targets) {
    const target = byHost.get(host) ?? { host, weight: 0, ports: new Map() };
    byHost.set(host, target);
    target.weight += weight;
    const use = uses.get(port);
    if (use !== undefined) target.ports.set(use.recorded, [...(target.ports.get(use.recorded) ?? []), port]);
  }
  return [...byHost.values()].map(({ host, weight, ports }) => ({
    ...{ host, weight },
    ports: [...ports].map(([recorded, all]) => ({
      recorded,
      ports: all.toSorted((a, b) => (uses.get(a)?.slot ?? 0) - (uses.get(b)?.slot ?? 0)),
    })),
  }));
};
