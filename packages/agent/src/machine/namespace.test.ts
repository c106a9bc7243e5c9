import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const near = `rh-near-${process.pid}`;
const far = `rh-far-${process.pid}`;
const ip = (...args: string[]) => execFileSync('ip', args);
const urlOf = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);

/** What a program prints as JSON in the near one of two namespaces joined by a cable. */
const inNear = async (program: string): Promise<unknown> => {
  const args = ['netns', 'exec', near, process.execPath, '--input-type=module', '-e', program];
  return JSON.parse((await promisify(execFile)('ip', args)).stdout);
};

beforeAll(() => {
  ip('netns', 'add', near);
  ip('netns', 'add', far);
  ip('link', 'add', 'cable0', 'netns', near, 'type', 'veth', 'peer', 'name', 'cable1', 'netns', far);
  for (const [namespace, cable, host] of [
    [near, 'cable0', '1'],
    [far, 'cable1', '2'],
  ] as const) {
    ip('-n', namespace, 'address', 'add', `10.77.0.${host}/24`, 'dev', cable);
    ip('-n', namespace, 'address', 'add', `fd77::${host}/64`, 'dev', cable, 'nodad');
    ip('-n', namespace, 'link', 'set', cable, 'up');
  }
});
afterAll(() => {
  ip('netns', 'delete', near);
  ip('netns', 'delete', far);
});

describe('a machine with one cable', () => {
  it('finds gateways that answer and reports why others cannot be used', async () => {
    const addresses = ['10.77.0.2', 'fd77::2', '10.77.0.1', '10.77.0.9', '192.168.9.9', 'router'];
    const problems = await inNear(`
      const { gatewayProblem } = await import(${urlOf('./gateway-problem.ts')});
      const found = await Promise.all(${JSON.stringify(addresses)}.map(gatewayProblem));
      console.log(JSON.stringify(found.map((problem) => problem ?? 'fine')));`);
    expect(problems).toEqual([
      ...['fine', 'fine', 'fine'],
      'gateway 10.77.0.9 does not answer',
      'gateway 192.168.9.9 is not on a network of this machine',
      'router is not an address',
    ]);
  });

  it('lists only its own interfaces and detects link changes', async () => {
    const seen = await inNear(`
      const { execFileSync } = await import('node:child_process');
      const { setTimeout: sleep } = await import('node:timers/promises');
      const { LinkMonitor } = await import(${urlOf('./interfaces.ts')});
      const { describeInterfaces } = await import(${urlOf('./interfaces.ts')});
      const watch = new LinkMonitor();
      const before = await describeInterfaces('10.77.0.1');
      const changed = async (state) => {
        execFileSync('ip', ['-n', ${JSON.stringify(far)}, 'link', 'set', 'cable1', state]);
        for (let i = 0; i < 50; i++) {
          await sleep(50);
          const changes = watch.take();
          if (changes.length > 0) return changes;
        }
      };
      const pulled = await changed('down');
      const after = await describeInterfaces('10.77.0.1');
      console.log(JSON.stringify({ before, pulled, after, plugged: await changed('up') }));`);
    expect(seen).toMatchObject({
      before: [{ name: 'lo' }, { name: 'cable0', role: 'mgmt', link: 'up', usable: true }],
      pulled: [{ name: 'cable0', link: 'down' }],
      after: [{}, { usable: false, reason: 'the link is down', ips: expect.arrayContaining(['10.77.0.1/24']) }],
      plugged: [{ name: 'cable0', link: 'up' }],
    });
  });
});
