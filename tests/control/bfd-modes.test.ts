import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { complaints } from '../access/access-results.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { startBird } from './bird.ts';
import { startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test');
const session = { localAddress: '10.99.0.10', peerAddress: '10.99.0.2', txMs: 100, rxMs: 100, multiplier: 20 };

it('echoes go to FRR and back, and those of FRR to us and back', async () => {
  const { right } = cable;
  right.run('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv4.conf.all.rp_filter=0');
  right.run('sysctl', '-qw', `net.ipv4.conf.${right.device}.rp_filter=0`);
  const sniffer = await startSniffer(right);
  const frr = await startFrr(
    right,
    ['bfdd'],
    `bfd
      peer 10.99.0.10 local-address 10.99.0.2 interface ${right.device}
       detect-multiplier 20
       receive-interval 100
       transmit-interval 100
       echo transmit-interval 50
       echo receive-interval 50
       echo-mode
      exit
     exit`,
  );
  const profile = profileOf('bfd', { session: { ...session, echoMs: 50 } });
  const job = await startRouters(cable.left, { bfd: [profile] });
  const peers = async () => (await frr.json('show bfd peers json')) as { status: string; diagnostic: string }[];
  await expect.poll(async () => (await peers())[0]?.status, { timeout: 60_000 }).toBe('up');
  const counters = async () =>
    ((await frr.json('show bfd peers counters json')) as Record<string, number>[])[0] as Record<string, number>;
  await expect.poll(async () => (await counters())['echo-packet-input'], { interval: 300 }).toBeGreaterThan(20);
  const own = async () =>
    (await sniffer.fields('udp.dstport == 3785 && ip.src == 10.99.0.10 && ip.dst == 10.99.0.10', ['ip.ttl'])).length;
  await expect.poll(own, { interval: 1000 }).toBeGreaterThan(20);
  // Without its echoes the session would have been down after one second.
  expect((await peers())[0]?.status).toBe('up');
  const totals = await job.stop();
  await sniffer.stop();
  expect(rowsOf(totals, 'neighbours')).toMatchObject([{ state: 'up', cells: { flaps: 0 } }]);
  expect(await complaints(sniffer, 'bfd && ip.src == 10.99.0.10')).toEqual([]);
});

it('who is late to listen does not take FRR for silent', async () => {
  const frr = await startFrr(
    cable.right,
    ['bfdd'],
    `bfd
      peer 10.99.0.10 local-address 10.99.0.2 interface ${cable.right.device}
       detect-multiplier 3
       receive-interval 100
       transmit-interval 100
      exit
     exit`,
  );
  const job = await startRouters(cable.left, { bfd: [profileOf('bfd', { session: { ...session, multiplier: 50 } })] });
  const status = async () => ((await frr.json('show bfd peers json')) as { status: string }[])[0]?.status;
  await expect.poll(status, { timeout: 60_000 }).toBe('up');
  await sleep(1000);
  // Three times as long as FRR may be silent, and far less than we may.
  job.signal('SIGSTOP');
  await sleep(1000);
  job.signal('SIGCONT');
  await sleep(500);
  const totals = await job.stop();
  expect(rowsOf(totals, 'neighbours')).toMatchObject([{ state: 'up', cells: { flaps: 0 } }]);
});

it('BIRD is silent in demand mode and answers polls', async () => {
  const sniffer = await startSniffer(cable.right);
  const bird = await startBird(
    cable.right,
    `router id 10.99.0.2;
     protocol bfd {
       interface "${cable.right.device}" { min rx interval 100 ms; min tx interval 100 ms; };
       neighbor 10.99.0.10 dev "${cable.right.device}";
     }`,
  );
  const profile = profileOf('bfd', { session: { ...session, demand: true } });
  const job = await startRouters(cable.left, { bfd: [profile] });
  await expect.poll(() => bird.show('show bfd sessions'), { timeout: 60_000 }).toMatch(/10\.99\.0\.10\s+\S+\s+Up/);
  // What BIRD says at last are answers to polls.
  const answers = async () =>
    (await sniffer.fields('bfd && ip.src == 10.99.0.2', ['bfd.flags.f'])).flat().slice(-3).join(' ');
  await expect.poll(answers, { interval: 1000 }).toBe('1 1 1');
  const totals = await job.stop();
  await sniffer.stop();
  expect(rowsOf(totals, 'neighbours')).toMatchObject([{ state: 'up', cells: { flaps: 0 } }]);
  expect(await complaints(sniffer, 'bfd')).toEqual([]);
});

it('members of a link group are watched by frames to the group of RFC 7130', async () => {
  const sniffer = await startSniffer(cable.right);
  const profile = (localAddress: string, peerAddress: string) =>
    profileOf('bfd', { session: { kind: 'micro', localAddress, peerAddress, txMs: 100, rxMs: 100, multiplier: 20 } });
  const far = await startRouters(cable.right, { bfd: [profile('10.99.0.20', '10.99.0.10')] });
  const near = await startRouters(cable.left, { bfd: [profile('10.99.0.10', '10.99.0.20')] });
  const up = async () =>
    (await sniffer.fields('udp.dstport == 6784 && eth.dst == 01:00:5e:90:00:01', ['udp.payload'])).filter(
      ([payload = '']) => /^20[c-f]/.test(payload),
    ).length;
  await expect.poll(up, { interval: 1000 }).toBeGreaterThan(5);
  const rows = [await near.stop(), await far.stop()].map((totals) => rowsOf(totals, 'neighbours')[0]);
  await sniffer.stop();
  expect(rows[0]).toMatchObject({ state: 'up', cells: { flaps: 0 } });
  expect(rows[1]).toMatchObject({ cells: { protocol: 'bfd' } });
});
