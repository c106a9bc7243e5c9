import { bytesOfAddress, compareAddresses } from '../address-bytes.ts';
import { GroupQuerier, type QuerierEvents, type QuerierOptions } from '../groups/group-querier.ts';
import type { QuerierFormat } from '../groups/querier-format.ts';
import { allNodes6, parseMld, writeMldQuery } from './message.ts';

const format: QuerierFormat<string> = {
  allHosts: allNodes6,
  compare: (a, b) => compareAddresses(bytesOfAddress(a), bytesOfAddress(b)),
  asksAfterLeave: () => true,
  write: writeMldQuery,
  parse: parseMld,
};

/** A querier of MLD (RFC 2710, RFC 3810). Addresses are text. */
export class MldQuerier extends GroupQuerier<string> {
  constructor(options: QuerierOptions<string>, events: QuerierEvents<string>) {
    super(options, events, format);
  }
}
