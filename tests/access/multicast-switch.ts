import type { Side } from '../engines/namespaces.ts';

/** A switch of the kernel that asks for members and sends groups only to them. */
export const makeSwitch = ({ device, address, run }: Side): void => {
  run(
    'ip',
    'link',
    'add',
    'br0',
    'type',
    'bridge',
    'mcast_snooping',
    '1',
    'mcast_querier',
    '1',
    'mcast_igmp_version',
    '3',
  );
  run('ip', 'addr', 'flush', 'dev', device);
  run('ip', 'link', 'set', device, 'master', 'br0');
  run('ip', 'link', 'set', 'br0', 'up');
  run('ip', 'addr', 'add', `${address}/24`, 'dev', 'br0');
  run('ip', 'route', 'add', '239.0.0.0/8', 'dev', 'br0');
  run('bridge', 'link', 'set', 'dev', device, 'fastleave', 'on', 'mcast_flood', 'off');
};
