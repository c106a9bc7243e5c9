import { findPorts, issuesOfEndpoints } from '@rushhour/pools';
import type { Issue } from '../../errors.ts';
import type { CheckedEntry, Endpoint, Rule } from './checked-entry.ts';

const required = (path: string, message: string): Issue => ({ path, code: 'REQUIRED', message });

const serverIssues = ({ path, values: { targets = [] } }: CheckedEntry): Issue[] => {
  if (targets.length === 0) return [required(`${path}/targets`, 'must name the agents that answer')];
  return targets.flatMap(({ agent }, i) =>
    agent === undefined ? [required(`${path}/targets/${i}/agent`, 'must name the agent that answers')] : [],
  );
};

/** Members that give the target in another form. */
const namesPeers = ({ dnsParams, ipsecPeerBase, ipsecLoadPeerBaseIp, ipsecLoadRole }: CheckedEntry['values']) =>
  (dnsParams as { server?: string } | undefined)?.server !== undefined ||
  ipsecPeerBase !== undefined ||
  ipsecLoadPeerBaseIp !== undefined ||
  ipsecLoadRole === 'responder';

const clientIssues = ({ path, values }: CheckedEntry): Issue[] => {
  const { sources = [], targets = [] } = values;
  const missing = [
    ...(sources.length === 0 ? [required(`${path}/sources`, 'must name the agents that send')] : []),
    ...(targets.length === 0 && !namesPeers(values)
      ? [required(`${path}/targets`, 'must say where traffic goes')]
      : []),
  ];
  const empty = targets.flatMap(({ agent, ip, network }, i) =>
    (agent ?? ip ?? network) ? [] : [required(`${path}/targets/${i}/agent`, 'needs an agent, an ip or a network')],
  );
  return [...missing, ...empty];
};

/** Both sides are named. */
export const sides: Rule = (entry) => {
  if (!('targets' in entry.plugin.schema.properties)) return [];
  return entry.values.isServer ? serverIssues(entry) : clientIssues(entry);
};

const portIssue = (path: string, text: string | undefined): Issue[] =>
  text === undefined || findPorts(text) !== undefined
    ? []
    : [{ path, code: 'PORTS_INVALID', message: `"${text}" is not a list of ports 1 to 65535 such as "80,8000-8100"` }];

const endpointPorts = (path: string, endpoints: readonly Endpoint[] = []) =>
  endpoints.flatMap(({ ports }, i) => portIssue(`${path}/${i}/ports`, ports));

export const ports: Rule = ({ path, values }) => [
  ...endpointPorts(`${path}/sources`, values.sources),
  ...endpointPorts(`${path}/targets`, values.targets),
  ...portIssue(`${path}/clientPortRange`, values['clientPortRange'] as string | undefined),
  ...portIssue(
    `${path}/statelessServerParams/ports`,
    (values['statelessServerParams'] as { ports?: string } | undefined)?.ports,
  ),
];

/** Tunnel endpoints given by an entry. */
export const tunnelEnds: Rule = ({ path, values }) => {
  const endpoints = values['tunnelEndpoints'] as string | undefined;
  if (endpoints === undefined) return [];
  return issuesOfEndpoints({ endpoints })
    .filter(({ severity }) => severity === 'error')
    .map(({ code, message }) => ({ path: `${path}/tunnelEndpoints`, code, message }));
};
