import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { inside } from '../engines/job-child.ts';
import type { Side } from '../engines/namespaces.ts';
import { requireProgram, stopProcess } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes, rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test', ({ right }) => {
  right.run('ip', 'link', 'set', 'lo', 'up');
});

interface Update {
  readonly attribute?: Readonly<Record<string, unknown>>;
  readonly announce?: Readonly<Record<string, Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>>>;
  readonly withdraw?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
}

interface Line {
  readonly type: string;
  readonly neighbor?: { readonly message?: { readonly update?: Update } };
}

/** ExaBGP in a namespace, which calls our router; returns the updates that it has read. */
const startExabgp = (side: Side, families: readonly string[], routes: string): (() => Update[]) => {
  requireProgram('exabgp');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-exabgp-'));
  const at = (name: string) => join(folder, name);
  writeFileSync(at('lines'), '');
  // The shell keeps its output open, which says that it is there.
  writeFileSync(at('save.sh'), `cat > ${at('lines')}\n`);
  writeFileSync(
    at('exabgp.conf'),
    `process save { run /bin/sh ${at('save.sh')}; encoder json; }
neighbor 10.99.0.10 {
  router-id 10.99.0.2; local-address 10.99.0.2; local-as 65001; peer-as 65000;
  family { ${families.map((family) => `${family};`).join(' ')} }
  api { processes [ save ]; receive { parsed; update; } }
  ${routes}
}
`,
  );
  const [program = '', ...before] = inside(side);
  const settings = ['exabgp.daemon.user=root', 'exabgp.api.cli=false', 'exabgp.log.destination=stderr'];
  const child = spawn(program, [...before, 'env', ...settings, 'exabgp', at('exabgp.conf')], { stdio: 'ignore' });
  onTestFinished(async () => {
    await stopProcess(child);
    rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const whole = readFileSync(at('lines'), 'utf8').split('\n').slice(0, -1);
    return whole.flatMap((text) => (JSON.parse(text) as Line).neighbor?.message?.update ?? []);
  };
};

const session = {
  ...{ localAddress: '10.99.0.10', peerAddress: '10.99.0.2', passive: true, connectRetrySec: 1 },
};

it('ExaBGP reads exactly what we announce and withdraw, and we hold what it announces', async () => {
  const updates = startExabgp(
    cable.right,
    ['ipv4 unicast', 'ipv6 unicast'],
    `static {
       route 203.0.113.0/24 next-hop 10.99.0.2 med 9 community [65001:7];
       route 2001:db8:99::/48 next-hop fd99::2;
     }`,
  );
  const job = await startRouters(cable.left, {
    bgp: [
      profileOf('bgp', {
        session,
        capabilities: { families: ['ipv4-unicast', 'ipv6-unicast'] },
        routes: {
          ...{ ipv4Count: 300, ipv4Start: '10.128.0.0/24', ipv6Count: 20, ipv6Start: '2001:db8:8000::/48' },
          ...{ med: 7, asPath: [64_512], communities: ['65000:100', '65000:200'] },
        },
      }),
    ],
  });
  const announced = (family: string) =>
    updates().flatMap(({ announce }) =>
      Object.entries(announce?.[family] ?? {}).flatMap(([hop, all]) => all.map(({ nlri }) => `${nlri} ${hop}`)),
    );
  const ipv4 = Array.from({ length: 300 }, (_, i) => `10.${128 + (i >> 8)}.${i & 255}.0/24 10.99.0.10`);
  const ipv6 = Array.from({ length: 20 }, (_, i) => `2001:db8:${(0x8000 + i).toString(16)}::/48`);
  await expect.poll(() => announced('ipv4 unicast').length, { interval: 300 }).toBe(300);
  expect(announced('ipv4 unicast').sort()).toEqual(ipv4.sort());
  await expect
    .poll(() =>
      announced('ipv6 unicast')
        .map((text) => text.split(' ')[0])
        .sort(),
    )
    .toEqual(ipv6.sort());
  for (const { attribute, announce } of updates())
    if (announce?.['ipv4 unicast'] !== undefined)
      expect(attribute).toMatchObject({
        ...{ origin: 'igp', 'as-path': [65_000, 64_512], med: 7 },
        community: [
          [65_000, 100],
          [65_000, 200],
        ],
      });
  const own = () =>
    listedRoutes(job).map(({ cells }) => `${cells['route']} ${cells['nextHop']} ${cells['attributes']}`);
  await expect
    .poll(own, { interval: 500 })
    .toEqual([
      expect.stringMatching(/^203\.0\.113\.0\/24 10\.99\.0\.2 .*path 65001, MED 9, communities 65001:7/),
      expect.stringMatching(/^2001:db8:99::\/48 fd99::2 .*path 65001/),
    ]);
  job.command({ action: 'withdraw' });
  const withdrawn = () => updates().flatMap(({ withdraw }) => withdraw?.['ipv4 unicast'] ?? []);
  await expect.poll(() => withdrawn().length, { interval: 300 }).toBe(300);
  expect(rowsOf(job, 'neighbours')[0]).toMatchObject({ state: 'established' });
  await job.stop();
});

it('ExaBGP and our router agree on blocks of labels of VPLS, and both have the wire', async () => {
  const updates = startExabgp(
    cable.right,
    ['l2vpn vpls'],
    `l2vpn {
       vpls site5 {
         endpoint 5; base 3000; offset 1; size 8; next-hop 10.99.0.2; rd 65001:9;
         origin igp; extended-community [ target:65000:100 l2info:19:0:1500:111 ];
       }
     }`,
  );
  const vpls = profileOf('vpls', {
    instance: { signalling: 'bgp', vpnIdStart: 7, controlWord: false, labelStart: 1000 },
    sites: { siteIdStart: 3, routeTargets: ['65000:100'] },
  });
  const job = await startRouters(cable.left, {
    bgp: [profileOf('bgp', { session, capabilities: { families: ['l2vpn-vpls'] } })],
    vpls: [vpls],
  });
  const wires = () =>
    listedRoutes(job).flatMap(({ cells }) =>
      cells['family'] === 'wire' ? [`${cells['route']}: ${cells['attributes']}`] : [],
    );
  await expect.poll(wires, { interval: 500 }).toEqual(['vpn 7 sites 3-5: up, labels 1004 in, 3002 out']);
  const blocks = () => updates().flatMap(({ announce }) => Object.values(announce?.['l2vpn vpls'] ?? {}).flat());
  await expect
    .poll(blocks)
    .toEqual([expect.objectContaining({ rd: '10.99.0.10:1', endpoint: 3, base: 1000, offset: 1, size: 8 })]);
  const communities = updates().flatMap(({ attribute }) => attribute?.['extended-community'] ?? []);
  expect(JSON.stringify(communities)).toMatch(/target:65000:100.*l2info:19:0:1500:0/);
  await job.stop();
});
