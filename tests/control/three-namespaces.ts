import { execFileSync } from 'node:child_process';
import { onTestFinished } from 'vitest';
import type { Side } from '../engines/namespaces.ts';
import { requireProgram } from '../engines/programs.ts';

const ip = (...args: string[]): string => execFileSync('ip', args, { encoding: 'utf8' });

let count = 0;

/** A router between two ends: left 10.98.1.2, right 10.98.2.2, the router has .1 on both sides. */
export interface Line {
  readonly left: Side;
  readonly middle: Side;
  readonly right: Side;
}

const sideOf = (namespace: string, device: string, address: string): Side => ({
  namespace,
  device,
  address,
  run: (program, ...args) =>
    execFileSync('ip', ['netns', 'exec', namespace, program, ...args], { encoding: 'utf8', timeout: 120_000 }),
});

/** Three network namespaces in a line, removed with the test. The one in the middle forwards. */
export const createLine = (): Line => {
  for (const program of ['ip', 'nft']) requireProgram(program);
  const id = `rhline${process.pid}x${count++}`;
  const left = sideOf(`${id}l`, 'l0', '10.98.1.2');
  const middle = sideOf(`${id}m`, 'm1', '10.98.1.1');
  const right = sideOf(`${id}r`, 'r0', '10.98.2.2');
  const all = [left, middle, right];
  onTestFinished(() => {
    for (const { namespace } of all) ip('netns', 'del', namespace);
  });
  for (const { namespace } of all) {
    ip('netns', 'add', namespace);
    ip('-n', namespace, 'link', 'set', 'lo', 'up');
  }
  const connect = (side: Side, device: string, network: number) => {
    const far = ['peer', device, 'netns', middle.namespace];
    ip('link', 'add', side.device, 'netns', side.namespace, 'type', 'veth', ...far);
    ip('-n', middle.namespace, 'addr', 'add', `10.98.${network}.1/24`, 'dev', device);
    ip('-n', side.namespace, 'addr', 'add', `${side.address}/24`, 'dev', side.device);
    ip('-n', middle.namespace, 'link', 'set', device, 'up');
    ip('-n', side.namespace, 'link', 'set', side.device, 'up');
    ip('-n', side.namespace, 'route', 'add', 'default', 'via', `10.98.${network}.1`);
  };
  connect(left, 'm1', 1);
  connect(right, 'm2', 2);
  middle.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
  return { left, middle, right };
};

/** Counters of UDP packets to a port in the middle: those that arrive, those that are forwarded, those dropped. */
export const countForwarded = ({ middle }: Line, port: number) => {
  const nft = (...args: string[]) => middle.run('nft', ...args);
  nft('add', 'table', 'ip', 'watch');
  for (const name of ['arrived', 'forwarded', 'dropped']) nft('add', 'counter', 'ip', 'watch', name);
  nft('add', 'chain', 'ip', 'watch', 'pre', '{ type filter hook prerouting priority -300; }');
  nft('add', 'chain', 'ip', 'watch', 'faults', '{ type filter hook forward priority -10; }');
  nft('add', 'chain', 'ip', 'watch', 'post', '{ type filter hook postrouting priority 300; }');
  const matching = ['udp', 'dport', String(port), 'counter', 'name'];
  nft('add', 'rule', 'ip', 'watch', 'pre', ...matching, 'arrived');
  nft('add', 'rule', 'ip', 'watch', 'post', ...matching, 'forwarded');
  const read = (name: string): number =>
    Number(/packets (\d+)/.exec(nft('list', 'counter', 'ip', 'watch', name))?.[1] ?? Number.NaN);
  return {
    read,
    drop: () => nft('add', 'rule', 'ip', 'watch', 'faults', ...matching, 'dropped', 'drop'),
    restore: () => nft('flush', 'chain', 'ip', 'watch', 'faults'),
  };
};
