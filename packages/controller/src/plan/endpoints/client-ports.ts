import { findPorts } from '@rushhour/pools';
import { type PlanScope, pointerIn } from '../core/plan-scope.ts';
import type { Place } from './address-allocator.ts';

/** Ports to send from; without a range the machine chooses. */
interface ClientPorts {
  readonly range: string | undefined;
  readonly count: number;
}

/** The ports Linux chooses from when nobody says which. */
const defaultPortCount = 60_999 - 32_768 + 1;

/** As the entry says, else as the network of the source does; undefined when that is no range, which is told. */
export const clientPorts = (scope: PlanScope, { network }: Place): ClientPorts | undefined => {
  const given = scope.entry.values.clientPortRange;
  const ofNetwork = network && scope.allocator.network(network.id)?.ports;
  const text = given ?? ofNetwork ?? '';
  if (text === '') return { range: undefined, count: defaultPortCount };
  const found = findPorts(text);
  const [first, last] = found ? [found.at(0), found.at(found.size - 1)] : [0, 0];
  if (found !== undefined && last - first + 1 === found.size) return { range: `${first}-${last}`, count: found.size };
  if (given === undefined) {
    const message = `ports "${text}" are not one range: the machine chooses its ports`;
    scope.issues.caveat(pointerIn(scope, 'sources'), 'PORTS_NOT_ONE_RANGE', message);
    return { range: undefined, count: defaultPortCount };
  }
  return scope.issues.error(pointerIn(scope, 'clientPortRange'), 'PORTS_INVALID', `"${text}" is no range of ports`);
};
