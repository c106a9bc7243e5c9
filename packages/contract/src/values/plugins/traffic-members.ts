import { Type } from 'typebox';
import { whole } from '../protocols/field.ts';
import { duration } from './duration.ts';
import { clientPortRange, isServer, rotationMode, sources, targets } from './endpoints.ts';
import { ipLayer, socketIpLayer } from './ip-layer.ts';
import { address, ignored, maybeText, maybeWhole } from './member.ts';
import { idsOf, maybeIdOf } from './reference.ts';

/** Tunnels that traffic goes through. */
export const tunnelling = {
  tunnelID: ignored(maybeIdOf('tunnel', 'The tunnel that traffic goes through')),
  tunnelIDs: ignored(Type.Optional(idsOf('tunnel', 'Tunnels that share the traffic'))),
  tunnelClientIp: ignored(address('End of the tunnel on the side of `sources`, instead of the one it has')),
  tunnelServerIp: ignored(address('End of the tunnel on the side of `targets`, instead of the one it has')),
  tunnelEndpoints: ignored(
    maybeText('Pairs of ends, "clients > servers", groups joined by ";", instead of those the tunnel has', {
      maxLength: 65_536,
    }),
  ),
};

const placement = {
  cpuCores: whole('Processor cores of each agent', 1, [1, 256]),
  l2PolicyVersion: maybeWhole('Version of the MAC policy of its networks that the task was made for'),
};

/** What is the same for every plugin whose engine uses the sockets of the system. */
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

/** What is the same for every plugin whose engine writes frames. */
export const frameMembers = { ...socketMembers, ipLayer };
