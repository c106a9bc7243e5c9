import { join } from 'node:path';
import { expect } from 'vitest';
import type { Cable, Side } from '../engines/namespaces.ts';
import { requireProgram } from '../engines/programs.ts';
import { runProgram, temporaryFolder } from './access-results.ts';

const schema = '/usr/share/openvswitch/vswitch.ovsschema';

/** Open vSwitch with its own database and a datapath in user space. */
export interface OpenVswitch {
  /** Changes the configuration. */
  configure(...args: string[]): string;
  /** Asks the switch. */
  ask(...args: string[]): string;
}

/** Starts Open vSwitch in a namespace; it ends with the test. */
export const startOpenVswitch = async (side: Side): Promise<OpenVswitch> => {
  for (const program of ['ovsdb-tool', 'ovsdb-server', 'ovs-vswitchd', 'ovs-vsctl', 'ovs-appctl'])
    requireProgram(program);
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  const run = (program: string, ...args: string[]) =>
    side.run('env', `OVS_RUNDIR=${folder}`, `OVS_LOGDIR=${folder}`, program, ...args);
  run('ovsdb-tool', 'create', at('conf.db'), schema);
  const socket = at('db.sock');
  const environment = [`OVS_RUNDIR=${folder}`, `OVS_LOGDIR=${folder}`];
  const control = `--unixctl=${at('db.ctl')}`;
  runProgram(side, 'env', [...environment, 'ovsdb-server', at('conf.db'), `--remote=punix:${socket}`, control]);
  const configure = (...args: string[]) => run('ovs-vsctl', '-t', '30', `--db=unix:${socket}`, ...args);
  await expect.poll(() => side.run('sh', '-c', `test -S ${socket} && echo there || true`)).toContain('there');
  configure('--no-wait', 'init');
  const unixctl = at('switch.ctl');
  runProgram(side, 'env', [...environment, 'ovs-vswitchd', `unix:${socket}`, `--unixctl=${unixctl}`]);
  configure('add-br', 'br0', '--', 'set', 'bridge', 'br0', 'datapath_type=netdev');
  return { configure, ask: (...args) => run('ovs-appctl', '-t', unixctl, ...args) };
};

/** Adds cables beside the first; returns the devices of both sides, those of the first cable included. */
export const addCables = ({ left, right }: Cable, count: number): { left: string[]; right: string[] } => {
  const devices = { left: [left.device], right: [right.device] };
  for (let index = 1; index <= count; index++) {
    const [near, far] = [`l${index}`, `r${index}`];
    left.run('ip', 'link', 'add', near, 'type', 'veth', 'peer', far, 'netns', right.namespace);
    for (const [side, device] of [[left, near] as const, [right, far] as const]) {
      side.run('ip', 'link', 'set', device, 'addrgenmode', 'none');
      side.run('ip', 'link', 'set', device, 'up');
    }
    devices.left.push(near);
    devices.right.push(far);
  }
  return devices;
};
