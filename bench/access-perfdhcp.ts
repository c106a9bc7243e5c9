import { accessJob, profile, sessionsProfile } from '../tests/access/profiles.ts';
import { type Cable, createCable, startJobIn } from '../tests/engines/namespaces.ts';
import { execute } from '../tests/engines/programs.ts';
import type { Row } from './report.ts';

const seconds = 5;
const clients = 200_000;

/** Our DHCP server in the right namespace, for as long as the work lasts. */
const beside = async <T>({ right }: Cable, work: () => Promise<T>): Promise<T> => {
  const dhcp = profile('dhcp', { server: { poolSize: 4_000_000 } });
  const server = await startJobIn(right, {
    ...accessJob('server', right.device, { ipoe: profile('ipoe'), dhcp }),
    duration: { mode: 'continuous' },
  });
  try {
    return await work();
  } finally {
    await server.stop();
  }
};

/** Four-way exchanges a second of perfdhcp, which sends as fast as it can. */
const rateOfPerfdhcp = async ({ left }: Cable): Promise<number> => {
  const options = ['-4', '-l', left.device, '-R', `${clients}`, '-r', '100000', '-p', `${seconds}`, '-W', '1000000'];
  const args = ['netns', 'exec', left.namespace, 'perfdhcp', ...options];
  const { stdout } = await execute('ip', args).catch((error: { stdout: string }) => error);
  return Number(/Rate: ([\d.]+) 4-way/.exec(stdout)?.[1] ?? 0);
};

/** The same of our clients: the best second. */
const rateOfOurs = async ({ left }: Cable): Promise<number> => {
  const load = { count: clients, startPerSec: 100_000, stopPerSec: 100_000, maxOutstanding: 2000 };
  const dhcp = profile('dhcp', { client: { timeoutSec: 5, release: false } });
  const ipoe = profile('ipoe', { neighbours: { intervalSec: 0 } });
  const client = await startJobIn(left, {
    ...accessJob('client', left.device, { sessions: sessionsProfile(clients, { load }), ipoe, dhcp }),
    duration: { mode: 'time', seconds },
  });
  const { counter, histogram } = await client.totals;
  const answered = counter('access.rx.dhcp') / 2;
  console.log(
    `ours: ${histogram('access.setup').count} sessions with their gateway, ${answered} leases in ${seconds} s`,
  );
  return answered / seconds;
};

/** Leases a second of our clients and of perfdhcp from the same server of ours, in two namespaces. */
export const comparePerfdhcp = async (): Promise<Row[]> => {
  const cable = createCable();
  try {
    const theirs = await beside(cable, () => rateOfPerfdhcp(cable));
    const ours = await beside(cable, () => rateOfOurs(cable));
    console.log(`leases a second: perfdhcp ${Math.round(theirs)}, ours ${Math.round(ours)}`);
    return [{ name: 'DHCP: leases a second of our clients, against perfdhcp', value: ours / theirs, goal: 5 }];
  } finally {
    cable.remove();
  }
};
