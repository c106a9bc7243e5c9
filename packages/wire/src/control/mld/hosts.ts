import { GroupHosts, type GroupHostsOptions, type HostPort } from '../../access/groups/group-hosts.ts';
import { mldHostFormat } from './message.ts';

/** Receivers of IPv6 multicast (MLD of versions 1 and 2). */
export class MldHosts extends GroupHosts<string> {
  constructor(host: HostPort<string>, options: GroupHostsOptions<string>) {
    super(host, options, mldHostFormat);
  }
}
