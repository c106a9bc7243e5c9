import { findNetworkDraft, macIdsOf } from '../../../store/assets/networks.ts';
import { statement } from '../../../store/engine/statement.ts';
import type { PartsOf, RecordExporter } from './record-exporter.ts';

const bySubnet = statement((db, p: { subnet: string }) =>
  db.selectFrom('networks').select('id').where('subnet', '=', p.subnet).orderBy('id'),
);

/** In a plan a policy is always an object; an empty object means none. */
export const policyOf = ({ macPolicy }: Pick<PartsOf<'networks'>, 'macPolicy'>) =>
  Object.keys(macPolicy).length === 0 ? null : macPolicy;

export const networkExporter: RecordExporter<'networks'> = {
  read: async (executor, id) => {
    const found = await findNetworkDraft(executor, id);
    if (found === undefined) return undefined;
    const { name, type, ipVersion, subnet, gateway, gatewayMac, gatewayMacId, gatewayMacMode } = found;
    const { excludes, pattern, ports, spoofing, macPolicy, macOverrides } = found;
    return {
      network: {
        name,
        type,
        ipVersion,
        subnet,
        gateway,
        gatewayMac,
        gatewayMacId,
        gatewayMacMode,
        excludes,
        pattern,
        ports,
        spoofing,
      },
      macPolicy: { ...macPolicy },
      macOverrides,
    };
  },
  nameOf: ({ network }) => network.name,
  references: (parts) => {
    const { network, macOverrides } = parts;
    const named = macIdsOf({ gatewayMacId: network.gatewayMacId, macPolicy: policyOf(parts), macOverrides });
    return [...named].map(([path, id]) => {
      const pointer = path === '/gatewayMacId' ? `/network${path}` : path;
      return { path: pointer, kind: 'macs' as const, id };
    });
  },
  identityOf: ({ network: { name: _, ...network }, macPolicy, macOverrides }) => ({ network, macPolicy, macOverrides }),
  findMatches: async (executor, { network: { subnet } }) =>
    (await bySubnet.all(executor, { subnet })).map(({ id }) => id),
};
