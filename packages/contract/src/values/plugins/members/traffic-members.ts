import { Type } from 'typebox';
import { whole } from '../../protocols/field.ts';
import { clientPortRange, isServer, rotationMode, sources, targets } from './endpoints.ts';
import { ipLayer, socketIpLayer } from './ip-layer.ts';
import { idsOf, optionalIdOf } from './reference.ts';
import { address, duration, ignoredAll, optionalInteger, optionalText } from './values.ts';

/** Tunnels that carry the traffic. */
const tunnelling = {
  tunnelID: optionalIdOf('tunnel', 'The tunnel that traffic goes through'),
  tunnelIDs: Type.Optional(idsOf('tunnel', 'Tunnels that share the traffic')),
  tunnelClientIp: address('End of the tunnel on the side of `sources`, instead of the one it has'),
  tunnelServerIp: address('End of the tunnel on the side of `targets`, instead of the one it has'),
  tunnelEndpoints: optionalText(
    'Pairs of ends, "clients > servers", groups joined by ";", instead of those the tunnel has',
    { maxLength: 65_536 },
  ),
};

const placement = {
  cpuCores: whole('Processor cores of each agent', 1, [1, 256]),
  l2PolicyVersion: optionalInteger('Version of the MAC policy of its networks that the task was made for'),
};

/** Members shared by all plugins on sockets. */
export const socketMembers = {
  sources,
  targets,
  isServer,
  duration,
  ipLayer: socketIpLayer,
  clientPortRange,
  rotationMode,
  ...placement,
  ...tunnelling,
};

/** Members shared by all plugins that build frames. */
export const frameMembers = { ...socketMembers, ...ignoredAll(tunnelling), ipLayer };
