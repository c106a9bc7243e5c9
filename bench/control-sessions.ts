import { setTimeout as sleep } from 'node:timers/promises';
import { profileOf } from '../tests/control/profiles.ts';
import type { Side } from '../tests/engines/namespaces.ts';
import { startBird, startFrr, startOwn, until } from './control-peers.ts';
import type { Row } from './report.ts';

interface Ends {
  readonly left: Side;
  readonly right: Side;
}

const watchedMs = 20_000;
/** BIRD does nothing else while it counts thousands of tables. */
const pauseMs = 2000;
const tablesMs = 240_000;

const configOf = ({ device }: Side, profiles: object, routers = 1) => ({
  ...{ role: 'client', entry: 0, interfaces: Array.from({ length: routers }, () => [device]), profiles },
});

const addressAt = (network: number, index: number): string =>
  [24, 16, 8, 0].map((bits) => ((network + index) >>> bits) & 255).join('.');

const firstRouter = 0x0a600010;

/**
 * Sessions of BGP between one of our agents and BIRD; `prefixes` are those of all of them. Each session has a table of
 * its own there: BIRD offers every route of a table to every session with it, even if nothing is exported.
 */
export const bgpRows = async ({ left, right }: Ends, sessions: number, prefixes: number): Promise<Row[]> => {
  for (const [side, address] of [
    [left, '10.96.255.1/16'],
    [right, '10.96.255.2/16'],
  ] as const)
    side.run('ip', 'address', 'replace', address, 'dev', side.device);
  const neighbours = Array.from(
    { length: sessions },
    (_, i) =>
      `ipv4 table t${i};
       protocol bgp { local 10.96.255.2 as 65001; neighbor ${addressAt(firstRouter, i)} as 65000; passive;
         ipv4 { table t${i}; import all; export none; }; }`,
  );
  const bird = await startBird(right, `router id 10.96.255.2;\n${neighbours.join('\n')}`);
  const bgp = profileOf('bgp', {
    session: { localAddress: addressAt(firstRouter, 0), peerAddress: '10.96.255.2', connectRetrySec: 1 },
    routes: { ipv4Count: Math.floor(prefixes / sessions), ipv4Start: '32.0.0.0/24' },
  });
  const startedAt = performance.now();
  const job = await startOwn(left, configOf(left, { bgp: [bgp] }, sessions));
  const wanted = Math.floor(prefixes / sessions) * sessions;
  const upAt = await until('all prefixes', async () => (await bird.routes()) >= wanted, tablesMs, pauseMs);
  await sleep(watchedMs);
  const { flaps, sessionsUp } = await job.stop();
  await bird.stop();
  console.log(
    `${sessions} sessions of BGP, ${prefixes} prefixes: all there after ${((upAt - startedAt) / 1000).toFixed(1)} s`,
  );
  return [
    { name: 'sessions of BGP that are kept up', value: sessionsUp, goal: sessions },
    { name: 'sessions of BGP that were lost', value: flaps, goal: 0, better: 'lower' },
  ];
};

/** Sessions of BFD at 50 ms between two of our agents. */
export const bfdRows = async ({ left, right }: Ends, sessions: number): Promise<Row[]> => {
  for (const [side, address] of [
    [left, '10.96.255.1/16'],
    [right, '10.96.255.2/16'],
  ] as const)
    side.run('ip', 'address', 'replace', address, 'dev', side.device);
  const pace = { txMs: 50, rxMs: 50, multiplier: 3 };
  const far = '10.96.255.9';
  const answers = Array.from({ length: sessions }, (_, i) =>
    profileOf('bfd', {
      session: { ...pace, localAddress: far, peerAddress: addressAt(firstRouter, i), passive: true },
    }),
  );
  const theirs = await startOwn(right, configOf(right, { bfd: answers }));
  const asks = profileOf('bfd', {
    session: { ...pace, localAddress: addressAt(firstRouter, 0), peerAddress: far },
  });
  const ours = await startOwn(left, configOf(left, { bfd: [asks] }, sessions));
  await sleep(watchedMs + 10_000);
  const { flaps, sessionsUp } = await ours.stop();
  await theirs.stop();
  return [
    { name: 'sessions of BFD at 50 ms that are up', value: sessionsUp, goal: sessions },
    { name: 'sessions of BFD that were lost', value: flaps, goal: 0, better: 'lower' },
  ];
};

/** Seconds until FRR has the database of a topology of generated routers. */
export const floodRows = async ({ left, right }: Ends, routers: number): Promise<Row[]> => {
  const topology = { kind: 'grid', nodes: routers, prefixesPerNode: 1 } as const;
  const rows: Row[] = [];
  const kinds = {
    OSPF: {
      daemon: 'ospfd',
      config: `interface ${right.device}
        ip ospf area 0
        ip ospf hello-interval 1
        ip ospf dead-interval 600
        ip ospf network point-to-point
       router ospf
        ospf router-id 10.99.0.2`,
      profiles: {
        ospf: [
          profileOf('ospf', {
            instance: { routerId: '192.0.2.1' },
            interface: { helloSec: 1, deadSec: 600 },
            topology,
          }),
        ],
      },
      neighbours: 'show ip ospf neighbor',
      isHeard: (text: string) => text.includes('10.99.0'),
      size: 'show ip ospf database',
      count: (text: string) => text.match(/^\d+\.\d+\.\d+\.\d+ /gm)?.length ?? 0,
    },
    'IS-IS': {
      daemon: 'isisd',
      config: `interface ${right.device}
        ip router isis test
        isis network point-to-point
        isis hello-multiplier 100
       router isis test
        is-type level-2-only
        net 49.0001.0000.0000.0002.00`,
      profiles: { isis: [profileOf('isis', { interface: { helloSec: 1, holdMultiplier: 100 }, topology })] },
      neighbours: 'show isis neighbor',
      isHeard: (text: string) => text.includes(' Up '),
      size: 'show isis database',
      count: (text: string) => text.match(/\.00-00/g)?.length ?? 0,
    },
  };
  for (const [name, kind] of Object.entries(kinds)) {
    const frr = await startFrr(right, [kind.daemon], kind.config);
    const job = await startOwn(left, configOf(left, kind.profiles));
    const from = await until(`${name} neighbour`, async () => kind.isHeard(await frr.show(kind.neighbours)));
    const to = await until(`${name} database`, async () => kind.count(await frr.show(kind.size)) >= routers);
    rows.push({
      name: `seconds to flood ${routers} routers of ${name} to FRR`,
      value: (to - from) / 1000,
      goal: 5,
      better: 'lower',
    });
    await job.stop();
    await frr.stop();
  }
  return rows;
};
