import { GroupQuerier, type QuerierEvents, type QuerierOptions } from '../groups/group-querier.ts';
import type { QuerierFormat } from '../groups/querier-format.ts';
import { parseGroupMessage, writeGroupQuery } from './message.ts';

const format: QuerierFormat<number> = {
  allHosts: 0xe0000001,
  compare: (a, b) => (a === 0 || b === 0 ? 0 : a - b),
  // Hosts of version 1 leave in silence, and only the querier asks.
  asksAfterLeave: (version) => version > 1,
  write: writeGroupQuery,
  parse: parseGroupMessage,
};

/** A querier of IGMP (RFC 2236, RFC 3376). Addresses are numbers. */
export class IgmpQuerier extends GroupQuerier<number> {
  constructor(options: QuerierOptions<number>, events: QuerierEvents<number>) {
    super(options, events, format);
  }
}
