import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { profileOf } from '../tests/control/profiles.ts';
import type { Side } from '../tests/engines/namespaces.ts';
import { Program, type Receiver, startBird, startFrr, startOwn, until } from './control-peers.ts';
import type { Row } from './report.ts';

// A table of prefixes as fast as a receiver takes it, announced by us and by GoBGP.

interface Ends {
  readonly left: Side;
  readonly right: Side;
}

const announcer = '10.99.0.10';
const receivers: Record<string, (side: Side) => Promise<Receiver>> = {
  FRR: (side) =>
    startFrr(
      side,
      ['bgpd'],
      // It would announce the whole table back.
      `route-map none deny 1
       router bgp 65001
        bgp router-id 10.99.0.2
        no bgp ebgp-requires-policy
        neighbor ${announcer} remote-as 65000
        neighbor ${announcer} passive
        address-family ipv4 unicast
         neighbor ${announcer} route-map none out`,
    ),
  BIRD: (side) =>
    startBird(
      side,
      `router id 10.99.0.2;
       protocol bgp { local 10.99.0.2 as 65001; neighbor ${announcer} as 65000; passive; ipv4 { import all; export none; }; }`,
    ),
};

/** Prefix `index` of 1,000,000 behind 32.0.0.0/24. */
const firstPrefix = 0x20000000;

/** Seconds from the session to the last prefix. */
const timeOf = async (receiver: Receiver, count: number): Promise<number> => {
  const from = await until('the session', () => receiver.isUp());
  const to = await until('all prefixes', async () => (await receiver.routes()) >= count);
  return (to - from) / 1000;
};

const measureOwn = async ({ left, right }: Ends, receiverName: string, count: number) => {
  const receiver = await (receivers[receiverName] as (side: Side) => Promise<Receiver>)(right);
  const session = { localAddress: announcer, peerAddress: '10.99.0.2', connectRetrySec: 1 };
  const bgp = profileOf('bgp', { session, routes: { ipv4Count: count, ipv4Start: '32.0.0.0/24' } });
  // The session may be up before the process says that the job has begun.
  const timed = timeOf(receiver, count);
  const job = await startOwn(left, { role: 'client', entry: 0, interfaces: [[left.device]], profiles: { bgp: [bgp] } });
  const seconds = await timed;
  const mib = job.memoryMib('VmHWM');
  await job.stop();
  await receiver.stop();
  return { seconds, mib };
};

/** The program that injects a file ends before its last routes are there: they are repeated. */
const repeated = 20_000;

/** A table of routes as route collectors write it (RFC 6396, TABLE_DUMP_V2). */
const mrtTable = (count: number): Buffer => {
  const header = (subtype: number, body: Buffer): Buffer => {
    const head = Buffer.alloc(12);
    head.writeUInt16BE(13, 4);
    head.writeUInt16BE(subtype, 6);
    head.writeUInt32BE(body.length, 8);
    return Buffer.concat([head, body]);
  };
  const peers = Buffer.from('0a63000a00000001020a63000a0a63000a0000fde8', 'hex');
  // Origin IGP, a path of one AS, the next hop.
  const attributes = Buffer.from('4001010040020602010000fc004003040a63000a', 'hex');
  const parts = [header(1, peers)];
  for (let route = 0; route < count + repeated; route++) {
    const i = Math.min(route, count - 1);
    const body = Buffer.alloc(8 + 2 + 8 + attributes.length);
    body.writeUInt32BE(i, 0);
    body.writeUInt8(24, 4);
    body.writeUIntBE((firstPrefix >>> 8) + i, 5, 3);
    body.writeUInt16BE(1, 8);
    body.writeUInt16BE(attributes.length, 16);
    attributes.copy(body, 18);
    parts.push(header(2, body));
  }
  return Buffer.concat(parts);
};

const measureGobgp = async ({ left, right }: Ends, receiverName: string, count: number): Promise<number> => {
  left.run('ip', 'address', 'replace', `${announcer}/24`, 'dev', left.device);
  const program = new Program(left);
  const { folder } = program;
  writeFileSync(
    join(folder, 'gobgpd.toml'),
    `[global.config]\nas = 65000\nrouter-id = "${announcer}"\nlocal-address-list = ["${announcer}"]\n
[[neighbors]]\n[neighbors.config]\nneighbor-address = "10.99.0.2"\npeer-as = 65001\n[neighbors.transport.config]\nlocal-address = "${announcer}"\n[neighbors.timers.config]\nconnect-retry = 1\n`,
  );
  writeFileSync(join(folder, 'table.mrt'), mrtTable(count));
  program.start('gobgpd', '-f', join(folder, 'gobgpd.toml'));
  await until('gobgpd', async () => (await program.run('gobgp', 'global')).includes('65000'), 60_000);
  await program.run('gobgp', 'mrt', 'inject', 'global', join(folder, 'table.mrt'));
  const summary = () => program.run('gobgp', 'global', 'rib', 'summary');
  await until('the table of gobgpd', async () => Number(/Destination: (\d+)/.exec(await summary())?.[1]) >= count);
  const receiver = await (receivers[receiverName] as (side: Side) => Promise<Receiver>)(right);
  const seconds = await timeOf(receiver, count);
  await receiver.stop();
  await program.stop();
  left.run('ip', 'address', 'delete', `${announcer}/24`, 'dev', left.device);
  return seconds;
};

/** Memory of a router that has received the whole table of another one. */
const measureFullTable = async ({ left, right }: Ends, count: number): Promise<number> => {
  const profileFor = (localAddress: string, peerAddress: string, localAs: number, peerAs: number, given: number) =>
    profileOf('bgp', {
      session: { localAddress, peerAddress, localAs, peerAs, connectRetrySec: 1 },
      routes: { ipv4Count: given, ipv4Start: '32.0.0.0/24' },
    });
  const jobFor = (side: Side, bgp: object) =>
    startOwn(side, { role: 'client', entry: 0, interfaces: [[side.device]], profiles: { bgp: [bgp] } });
  const taker = await jobFor(right, profileFor('10.99.0.20', '10.99.0.10', 65_001, 65_000, 0));
  const empty = taker.memoryMib('VmRSS');
  const giver = await jobFor(left, profileFor('10.99.0.10', '10.99.0.20', 65_000, 65_001, count));
  let [last, steady] = [0, 0];
  for (let i = 0; i < 60 && steady < 5; i++) {
    await sleep(1000);
    const now = taker.memoryMib('VmRSS');
    steady = i > 5 && Math.abs(now - last) < 2 ? steady + 1 : 0;
    last = now;
  }
  await giver.stop();
  await taker.stop();
  return last - empty;
};

/** Rows about a table of that many prefixes. */
export const tableRows = async (ends: Ends, count: number): Promise<Row[]> => {
  const rows: Row[] = [];
  for (const name of Object.keys(receivers)) {
    const own = await measureOwn(ends, name, count);
    const theirs = await measureGobgp(ends, name, count);
    console.log(`${count} prefixes to ${name}: ${own.seconds.toFixed(2)} s, GoBGP ${theirs.toFixed(2)} s`);
    rows.push({ name: `speed of announcing to ${name}, of GoBGP's`, value: theirs / own.seconds, goal: 3 });
    rows.push({ name: `MiB of the announcer to ${name} at most`, value: own.mib, goal: 200, better: 'lower' });
  }
  const mib = await measureFullTable(ends, count);
  rows.push({ name: `MiB of a received table of ${count} prefixes`, value: mib, goal: 200, better: 'lower' });
  return rows;
};
