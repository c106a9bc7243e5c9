import { execFileSync } from 'node:child_process';
import { onTestFinished } from 'vitest';
import type { Side } from '../engines/namespaces.ts';

/** A namespace behind the router on the right, in the network 10.98.0.0/24. */
export const addServerNetwork = (router: Side): Side => {
  const namespace = `${router.namespace}n`;
  const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  ip('netns', 'add', namespace);
  onTestFinished(() => void ip('netns', 'del', namespace));
  router.run('ip', 'link', 'add', 'n0', 'type', 'veth', 'peer', 'n1', 'netns', namespace);
  router.run('ip', 'addr', 'add', '10.98.0.1/24', 'dev', 'n0');
  router.run('ip', 'link', 'set', 'n0', 'up');
  router.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
  const run: Side['run'] = (program, ...args) =>
    execFileSync('ip', ['netns', 'exec', namespace, program, ...args], { encoding: 'utf8', timeout: 120_000 });
  run('ip', 'addr', 'add', '10.98.0.2/24', 'dev', 'n1');
  for (const device of ['lo', 'n1']) run('ip', 'link', 'set', device, 'up');
  return { namespace, device: 'n1', address: '10.98.0.2', run };
};
