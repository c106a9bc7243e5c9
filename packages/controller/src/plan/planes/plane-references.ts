import { type ProtocolName, protocolProfiles } from '@rushhour/contract';
import type { TSchema } from 'typebox';
import { createSchemaCheck } from '../../schema-check.ts';
import { unsupportedMembers } from '../core/checked-values.ts';
import type { PlanAgent, PlanInput } from '../core/plan-input.ts';
import type { PlanIssues } from '../core/plan-issues.ts';

/** Groups of gateways of the control plane: those above the ones of the access plane. */
const firstGatewayGroup = 2 ** 31;
/** The group of a gateway that is an entry of `controlPlane`. */
export const gatewayGroupOf = (index: number): number => firstGatewayGroup + index;

interface Given {
  readonly agent: PlanAgent;
  /** Ids of interfaces. */
  readonly ids: readonly number[];
  readonly path: string;
  readonly issues: PlanIssues;
}

/** Names of the interfaces; the only test interface of the agent where none is given. */
export const interfacesOf = ({ agent, ids, path, issues }: Given): string[] | undefined => {
  if (ids.length === 0) return defaultInterface({ agent, ids, path, issues });
  const names = ids.map((id, i) => {
    const found = agent.interfaces.find((one) => one.id === id);
    if (found !== undefined) return found.name;
    const message = `agent ${agent.name} has no interface ${id}`;
    return issues.error({ path: `${path}/${i}`, agentId: agent.id }, 'INTERFACE_UNKNOWN', message);
  });
  return names.every((name) => name !== undefined) ? names : undefined;
};

const defaultInterface = ({ agent, path, issues }: Given): string[] | undefined => {
  const usable = agent.interfaces.filter(({ role, usable }) => role === 'test' && usable);
  if (usable.length === 1 && usable[0] !== undefined) return [usable[0].name];
  const message = `agent ${agent.name} has ${usable.length} usable test interfaces: name those to use`;
  return issues.error({ path, agentId: agent.id }, 'INTERFACE_NEEDED', message);
};

const checks = new Map(
  Object.entries(protocolProfiles).map(([name, schema]) => [name, createSchemaCheck(schema as TSchema)]),
);

/** A profile that says nothing: the defaults of its protocol. */
export const defaultProfile = (protocol: ProtocolName): object => {
  const config = {};
  checks.get(protocol)?.(config);
  return config;
};

/** The profiles that an entry names, by protocol, defaults applied. */
export const profilesOf = (
  { profiles }: PlanInput,
  { entry, path, issues }: { readonly entry: object; readonly path: string; readonly issues: PlanIssues },
  protocols: Readonly<Record<string, unknown>>,
): Record<string, unknown[]> | undefined => {
  const found: Record<string, unknown[]> = {};
  let areComplete = true;
  for (const protocol of Object.keys(protocols) as ProtocolName[]) {
    const ids = (entry as Partial<Record<string, number[]>>)[protocol] ?? [];
    const configs = ids.map((id, i) =>
      profileOf(profiles.get(id), { id, protocol, path: `${path}/${protocol}/${i}`, issues }),
    );
    if (configs.length > 0) found[protocol] = configs.filter((config) => config !== undefined);
    areComplete &&= found[protocol]?.length === configs.length || configs.length === 0;
  }
  return areComplete ? found : undefined;
};

interface Named {
  readonly id: number;
  readonly protocol: ProtocolName;
  readonly path: string;
  readonly issues: PlanIssues;
}

const profileOf = (
  stored: { readonly protocol: string; readonly config: object } | undefined,
  { id, protocol, path, issues }: Named,
): unknown => {
  if (stored === undefined) return issues.error(path, 'DICTIONARY_UNKNOWN', `there is no dictionary ${id}`);
  if (stored.protocol !== protocol) {
    return issues.error(path, 'DICTIONARY_TYPE', `dictionary ${id} is no profile of ${protocol}`);
  }
  const config = structuredClone(stored.config);
  const problems = checks.get(protocol)?.(config) ?? [];
  for (const problem of problems) issues.error(path, problem.code, `${problem.path} ${problem.message}`);
  for (const pointer of unsupportedMembers(protocolProfiles[protocol] as TSchema, stored.config, '')) {
    issues.error(path, 'NOT_SUPPORTED', `profile ${id}: ${pointer} cannot be done yet: leave it out`);
  }
  return problems.length > 0 ? undefined : config;
};
