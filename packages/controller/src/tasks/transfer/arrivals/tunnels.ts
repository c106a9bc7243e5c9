import { tunnelSecretsOf } from '@rushhour/contract';
import { sealParams, tunnels } from '../../../store/assets/tunnels.ts';
import { setLinks } from '../../../store/engine/links.ts';
import { at } from '../at-place.ts';
import type { Prepare } from './arrival.ts';

export const prepareTunnel: Prepare<'tunnels'> = async ({ tunnel }, around, sourceId) => {
  const { rules, secrets, tunnelSecrets } = around;
  const { type, description = '', clientIp = '', serverIp = '', endpoints = '', count = 0, mtu = 1500 } = tunnel;
  const brought = Object.entries(tunnelSecrets[sourceId] ?? {}).filter(([name]) =>
    tunnelSecretsOf(type).includes(name),
  );
  const params = { ...tunnel.params, ...Object.fromEntries(brought) };
  const members = { type, description, clientIp, serverIp, endpoints, count, mtu, tags: tunnel.tags ?? '' };
  await at('/tunnel', () => rules.tunnel({ ...members, params }));
  return async (tx, name, parts) => {
    const certificateID = parts.tunnel.certificateID || null;
    const id = await tunnels.insert(tx, { ...members, name, certificateID, params: {}, secrets: '' });
    await tunnels.update(tx, id, sealParams(type, id, params, secrets));
    const used = certificateID === null ? [] : [{ kind: 'certificate' as const, id: certificateID }];
    await setLinks(tx, { kind: 'tunnel', id, name }, used);
    return id;
  };
};
