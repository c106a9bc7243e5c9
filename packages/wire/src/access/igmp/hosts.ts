import type { HostFormat } from '../groups/group-format.ts';
import { GroupHosts, type GroupHostsOptions, type HostPort } from '../groups/group-hosts.ts';
import {
  alertHeaderBytes,
  allRouters4,
  IgmpQuery,
  igmpRouters,
  igmpType,
  recordBytesOf,
  writeAlertHeader,
  writeIgmp,
  writeReport3,
} from './message.ts';

export type IgmpOptions = GroupHostsOptions<number>;
export type IgmpHost = HostPort<number>;

const query = new IgmpQuery();

const format: HostFormat<number> = {
  recordVersion: 3,
  headerBytes: alertHeaderBytes,
  shortBytes: 8,
  reportBytes: 8,
  reportGroup: igmpRouters,
  recordBytes: recordBytesOf,
  after: (first, steps) => (first + steps) | 0,
  distance: (first, address) => (address >>> 0) - (first >>> 0),
  isQuery: ({ view }, start, end) => end > start && view.getUint8(start) === igmpType.query,
  parseQuery(memory, start, end) {
    if (!query.parse(memory, start, end)) return undefined;
    return { group: query.group === 0 ? undefined : query.group, maxResponseMs: query.maxResponseMs };
  },
  writeShort(version, isJoin, group) {
    if (!isJoin && version === 1) return undefined;
    const type = !isJoin ? igmpType.leave : version === 1 ? igmpType.reportV1 : igmpType.reportV2;
    return {
      destination: isJoin ? group : allRouters4,
      write: (memory, at) => writeIgmp(memory, at, type, group),
    };
  },
  writeReport: writeReport3,
  writeHeader: writeAlertHeader,
};

/** Receivers of IPv4 multicast (IGMP of versions 1 to 3). */
export class IgmpHosts extends GroupHosts<number> {
  constructor(host: IgmpHost, options: IgmpOptions) {
    super(host, options, format);
  }
}
