import { IssueList } from '../values/issue.ts';
import { findMac, formatMac, isMulticastMac, type Mac } from './mac.ts';
import { type MacBlock, type MacRecord, readMacRecord } from './mac-record.ts';

export interface MacReferences {
  /** Records by id; without them references to records are neither checked nor resolved. */
  readonly macs: ReadonlyMap<number, MacRecord> | undefined;
  readonly issues: IssueList;
}

export function readMacBlock(id: number, path: string, { macs, issues }: MacReferences): MacBlock | undefined {
  if (macs === undefined) return undefined;
  const record = macs.get(id);
  if (record === undefined) return issues.error(path, 'MAC_NOT_FOUND', `there is no MAC record ${id}`);
  const own = new IssueList();
  const block = readMacRecord(record, own);
  for (const issue of own.issues) issues.error(path, issue.code, `MAC record ${id}: ${issue.message}`);
  return block;
}

export function readUnicastMac(text: string, path: string, issues: IssueList): Mac | undefined {
  const mac = findMac(text);
  if (mac === undefined) return issues.error(path, 'MAC_INVALID', `"${text}" is not a MAC address`);
  if (isMulticastMac(mac)) return issues.error(path, 'MAC_MULTICAST', `${formatMac(mac)} is a multicast address`);
  if (mac === 0) return issues.error(path, 'MAC_ZERO', 'the all-zero MAC is no address');
  return mac;
}
