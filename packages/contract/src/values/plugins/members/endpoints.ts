import { Type } from 'typebox';
import { maxEndpoints } from '../../entry-values.ts';
import { choice } from '../../protocols/field.ts';
import { optionalIdOf, recordOf } from './reference.ts';
import { address, ignored, item, listOf, optionalText, portsPattern } from './values.ts';

const weight = Type.Number({
  exclusiveMinimum: 0,
  maximum: 1_000_000,
  default: 1,
  description: 'Share of the load among several',
});

const place = {
  interfaceId: optionalIdOf('interface', 'Interface of the agent; the first usable one for tests when left out'),
  network: Type.Optional(recordOf('network', 'Addresses of this network are used')),
  ip: address('Address; wins over `network`'),
  weight,
};

export const sources = listOf(
  'Where traffic comes from. The rates of the entry are divided over the agents by weight',
  item({
    agent: recordOf('agent', 'The agent that sends'),
    ...place,
    accessGroup: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_147_483_647,
        description:
          '`groupId` of an entry of `accessPlane` on the same agent, instead of a network: traffic has the addresses of its sessions and goes through them',
      }),
    ),
    ports: ignored(
      optionalText('Local ports are told by `clientPortRange`', { maxLength: 1024, pattern: portsPattern }),
    ),
  }),
  maxEndpoints,
);

export const targets = listOf(
  'Where traffic goes. With `agent` the other side is made there, unless a server entry of the same plugin listens there already; without, `ip` or `network` is a device outside, which must be among the allowed targets',
  item({
    agent: Type.Optional(recordOf('agent', 'The agent that answers')),
    ...place,
    accessGroup: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_147_483_647,
        description:
          '`groupId` of an entry of `accessPlane` with `isServer` on the same agent: `ip` is an address behind that gateway, which its sessions reach; 0 is also the gateway that an entry of `controlPlane` with `access` describes',
      }),
    ),
    ports: optionalText('Ports such as "80,8000-8100"; each plugin has a default', {
      maxLength: 1024,
      pattern: portsPattern,
    }),
  }),
  maxEndpoints,
);

export const isServer = Type.Boolean({
  default: false,
  description: 'The entry is only the answering side, on the agents of `targets`',
});

export const clientPortRange = optionalText('Ports to send from, such as "1024-65535"', {
  pattern: '^[0-9]{1,5}-[0-9]{1,5}$',
});

export const rotationMode = choice(
  'How one of several targets or addresses is chosen: in turn by weight, by chance by weight, one after another, or one for good',
  ['roundRobin', 'random', 'sequential', 'sticky'],
);
