import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { inside } from '../engines/job-child.ts';
import type { Side } from '../engines/namespaces.ts';
import { execute, requireProgram, stopProcess } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes, rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test', ({ right }) => {
  right.run('ip', 'link', 'set', 'lo', 'up');
});

interface Entry {
  readonly prefix: string;
  readonly exit_nexthop: string;
  readonly aspath: string;
  readonly metric: number;
  readonly communities?: readonly string[];
}

/** OpenBGPD in a namespace; returns what asks it by bgpctl. */
const startOpenBgpd = async (side: Side): Promise<(...args: string[]) => Promise<string>> => {
  requireProgram('bgpctl');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-openbgpd-'));
  const [file, socket] = [join(folder, 'bgpd.conf'), join(folder, 'control')];
  writeFileSync(
    file,
    `AS 65001
router-id 10.99.0.2
listen on 10.99.0.2
socket "${socket}"
fib-update no
network 203.0.113.0/24 set { community 65001:7 metric 9 }
neighbor 10.99.0.10 {
  remote-as 65000
  passive
}
allow from any
allow to any
`,
  );
  chmodSync(file, 0o600);
  // Its processes change their root to the folder that its service would have made.
  mkdirSync('/run/openbgpd', { recursive: true });
  const [program = '', ...before] = inside(side);
  const child = spawn(program, [...before, 'bgpd', '-d', '-f', file], { stdio: 'ignore' });
  onTestFinished(async () => {
    await stopProcess(child);
    rmSync(folder, { recursive: true, force: true });
  });
  const control = async (...args: string[]) =>
    (await execute(program, [...before, 'bgpctl', '-s', socket, ...args], { maxBuffer: 1 << 28 })).stdout;
  await expect.poll(() => control('show').catch(() => '')).toContain('65000');
  return control;
};

it('OpenBGPD holds exactly what we announce, attribute by attribute, and we what it announces', async () => {
  const bgpctl = await startOpenBgpd(cable.right);
  const job = await startRouters(cable.left, {
    bgp: [
      profileOf('bgp', {
        session: { connectRetrySec: 1, localAddress: '10.99.0.10', peerAddress: '10.99.0.2' },
        capabilities: { gracefulRestartSec: 30 },
        routes: {
          ...{ ipv4Count: 300, ipv4Start: '10.128.0.0/24', med: 7, asPath: [64_512] },
          communities: ['65000:100', '65000:200'],
        },
      }),
    ],
  });
  const table = async () => {
    const { rib = [] } = JSON.parse(await bgpctl('-j', 'show', 'rib', 'detail', 'neighbor', '10.99.0.10')) as {
      rib?: Entry[];
    };
    return rib;
  };
  await expect.poll(async () => (await table()).length, { interval: 300 }).toBe(300);
  const learned = await table();
  expect(learned.map(({ prefix }) => prefix).sort()).toEqual(
    Array.from({ length: 300 }, (_, i) => `10.${128 + (i >> 8)}.${i & 255}.0/24`).sort(),
  );
  for (const entry of learned)
    expect(entry).toMatchObject({
      ...{ exit_nexthop: '10.99.0.10', aspath: '65000 64512', metric: 7 },
      communities: ['65000:100', '65000:200'],
    });
  const own = () =>
    listedRoutes(job).map(({ cells }) => `${cells['route']} ${cells['nextHop']} ${cells['attributes']}`);
  const known = /^203\.0\.113\.0\/24 10\.99\.0\.2 .*path 65001, MED 9, communities 65001:7/;
  await expect.poll(own, { interval: 500 }).toEqual([expect.stringMatching(known)]);
  await bgpctl('network', 'delete', '203.0.113.0/24');
  await expect.poll(own, { interval: 500 }).toEqual([]);
  // It asks for all routes again, and has the same ones.
  await bgpctl('neighbor', '10.99.0.10', 'refresh');
  await expect.poll(async () => (await table()).length).toBe(300);
  // It ends the session, and takes all routes of the next one.
  await bgpctl('neighbor', '10.99.0.10', 'clear');
  const neighbour = () => rowsOf(job, 'neighbours')[0];
  await expect.poll(() => neighbour()?.cells['flaps'], { interval: 500 }).toBe(1);
  await expect.poll(() => neighbour()?.state, { interval: 500, timeout: 60_000 }).toBe('established');
  await expect.poll(async () => (await table()).length).toBe(300);
  // A restart without a word: it keeps the routes until we are back.
  job.command({ action: 'restart' });
  await expect.poll(() => neighbour()?.cells['flaps'], { interval: 500 }).toBe(2);
  expect((await table()).length).toBe(300);
  await expect.poll(() => neighbour()?.state, { interval: 500, timeout: 60_000 }).toBe('established');
  await job.stop();
  await expect.poll(async () => (await table()).length).toBe(0);
});
