import type { ResultRow } from '@rushhour/protocol';
import { type ChildSa, espKeyLines, type IkeKeys, type IkeSa, ikeKeyLine, isMappedAddress } from '@rushhour/wire';
import type { Host } from '../../engine.ts';
import type { IpsecLink } from './ipsec-link.ts';
import type { IpsecMonitor } from './ipsec-monitor.ts';
import type { InstalledChild } from './ipsec-sessions.ts';

/** Lines of a job; captures of more SAs are decrypted in part. */
const maxLines = 20_000;

interface KeyDeps {
  readonly host: Pick<Host, 'writesKeys'>;
  readonly putRow?: ((table: 'keys', row: ResultRow) => void) | undefined;
}

/** Reports keys as rows; undefined where the run does not ask for them. */
export const createKeyReport = ({ host, putRow }: KeyDeps) => {
  if (!host.writesKeys || putRow === undefined) return undefined;
  let index = 0;
  const put = (state: 'ike' | 'esp', line: string) => {
    if (index < maxLines) putRow('keys', { index: index++, state, cells: { line } });
  };
  return {
    ike(sa: IkeSa, keys: IkeKeys) {
      const line = ikeKeyLine(sa, keys);
      if (line !== undefined) put('ike', line);
    },
    esp(child: ChildSa, version: 4 | 6) {
      for (const line of espKeyLines(child, version)) put('esp', line);
    },
  };
};

const versionOf = ({ key }: IpsecLink): 4 | 6 => (isMappedAddress(key, 0) ? 4 : 6);

/** Reports the keys of tunnels, with those that are up already. */
export const reportKeys = (
  { monitor, children }: { readonly monitor: IpsecMonitor; readonly children: Iterable<InstalledChild> },
  deps: KeyDeps,
): void => {
  const report = createKeyReport(deps);
  if (report === undefined) return;
  for (const { child, link } of children) report.esp(child, versionOf(link));
  const { onChildUp } = monitor;
  monitor.onKeys = (sa, keys) => report.ike(sa, keys);
  monitor.onChildUp = (link, child) => {
    onChildUp(link, child);
    report.esp(child, versionOf(link));
  };
};
