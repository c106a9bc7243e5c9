import type { CampaignStep } from '@rushhour/contract';
import { listOf, type Members, membersOf, textOf } from '../signatures/import/members.ts';
import { Refusal } from '../signatures/import/template.ts';

type Mapped = Pick<CampaignStep, 'action'> & { readonly params?: Readonly<Record<string, unknown>> };

/**
 * What a technique looks like on the network. Commands of abilities are never read: only their technique is taken, and
 * techniques that stay on the host have no place here.
 */
const actionOf: Readonly<Record<string, Mapped>> = {
  T1018: { action: 'host-sweep' },
  T1020: { action: 'http-exfil' },
  'T1021.002': { action: 'smb-probe', params: { shares: ['ADMIN$', 'C$', 'IPC$'] } },
  T1021: { action: 'service-probe', params: { ports: '22,3389,5985' } },
  T1030: { action: 'chunked-exfil' },
  T1041: { action: 'http-exfil' },
  T1046: { action: 'port-scan', params: { ports: '21-23,25,80,139,443,445,3389,8080', rate: 20 } },
  T1048: { action: 'dns-exfil' },
  'T1048.003': { action: 'ftp-exfil' },
  T1071: { action: 'http-beacon' },
  'T1071.001': { action: 'http-beacon' },
  'T1071.003': { action: 'smtp-exfil' },
  'T1071.004': { action: 'dns-query' },
  T1090: { action: 'proxy-connect' },
  T1095: { action: 'tcp-beacon' },
  T1105: { action: 'file-download' },
  T1110: { action: 'login-spray' },
  T1132: { action: 'encoded-channel' },
  T1135: { action: 'smb-probe', params: { shares: ['backup', 'public'] } },
  T1567: { action: 'http-exfil' },
  T1568: { action: 'dga-lookup', params: { count: 20 } },
  T1570: { action: 'smb-probe', params: { shares: ['ADMIN$'] } },
  T1571: { action: 'nonstandard-port' },
  T1572: { action: 'dns-tunnel' },
  T1573: { action: 'https-beacon' },
  T1595: { action: 'port-scan', params: { ports: '1-64', rate: 100 } },
};

const mapped = (technique: string): Mapped | undefined =>
  actionOf[technique] ?? actionOf[technique.split('.', 1)[0] ?? ''];

interface CalderaFacts {
  readonly adversaries: readonly Members[];
  readonly abilities: ReadonlyMap<string, Members>;
}

/** Adversaries and abilities among documents; undefined when there is no adversary. */
export const calderaIn = (documents: readonly unknown[]): CalderaFacts | undefined => {
  const all = documents.flatMap((document) => listOf(document)).map(membersOf);
  const adversaries = all.filter((one) => one['atomic_ordering'] !== undefined || one['phases'] !== undefined);
  if (adversaries.length === 0) return undefined;
  const abilities = new Map(all.flatMap((one) => (one['tactic'] === undefined ? [] : [[textOf(one['id']), one]])));
  return { adversaries, abilities };
};

/** Ability ids in the order in which an adversary uses them. */
const orderOf = (adversary: Members): string[] => {
  const ordering = adversary['atomic_ordering'];
  const phases = Object.values(membersOf(adversary['phases'])).flatMap((phase) => listOf(phase));
  return (ordering === undefined ? phases : listOf(ordering)).map(textOf);
};

const tactics: Readonly<Record<string, CampaignStep['tactic']>> = {
  ...{ reconnaissance: 'reconnaissance', 'initial-access': 'initial-access', execution: 'execution' },
  ...{ 'credential-access': 'credential-access', discovery: 'discovery', 'lateral-movement': 'lateral-movement' },
  ...{ collection: 'collection', 'command-and-control': 'command-and-control', exfiltration: 'exfiltration' },
};

/** An adversary as the steps that its abilities would show on the network, and the names of those that show nothing. */
export const stepsOfAdversary = (adversary: Members, { abilities }: CalderaFacts) => {
  const leftOut: string[] = [];
  const steps = orderOf(adversary).flatMap((id) => {
    const ability = abilities.get(id);
    if (ability === undefined) {
      leftOut.push(`ability ${id.slice(0, 64)}: it is not in the file`);
      return [];
    }
    const technique = textOf(membersOf(ability['technique'])['attack_id'] ?? ability['technique_id']);
    const name = textOf(ability['name']).slice(0, 128) || id.slice(0, 128);
    const found = mapped(technique);
    if (found === undefined) {
      leftOut.push(`${name}: ${technique.slice(0, 16) || 'no technique'} shows nothing on the network`);
      return [];
    }
    const tactic = tactics[textOf(ability['tactic'])];
    return [{ ...found, name, technique, ...(tactic && { tactic }), delayMs: 500 }];
  });
  if (steps.length === 0) throw new Refusal('none of its abilities shows anything on the network');
  return { steps, leftOut };
};
