import { setTimeout as sleep } from 'node:timers/promises';
import { rowsOf } from '../tests/control/result-rows.ts';
import { type Side, startJobIn } from '../tests/engines/namespaces.ts';
import type { Row } from './report.ts';

interface Ends {
  readonly left: Side;
  readonly right: Side;
}

const port = 15_010;
const seconds = 4;
const beforeMs = 1500;
const outageMs = 300;
const packetsPerSecond = 1000;

/** Gives the address of the far end to a device behind a filter, which can drop the flows and counts them. */
const filterAt = ({ device, address, run }: Side) => {
  run('ip', 'address', 'flush', 'dev', device);
  run('ip', 'link', 'add', 'far', 'link', device, 'type', 'macvlan', 'mode', 'bridge');
  run('ip', 'address', 'add', `${address}/24`, 'dev', 'far');
  run('ip', 'link', 'set', 'far', 'up');
  const nft = (...args: string[]) => run('nft', ...args);
  nft('add', 'table', 'netdev', 'watch');
  nft('add', 'counter', 'netdev', 'watch', 'dropped');
  nft('add', 'chain', 'netdev', 'watch', 'in', `{ type filter hook ingress device ${device} priority 0; }`);
  return {
    drop: () =>
      nft('add', 'rule', 'netdev', 'watch', 'in', 'udp', 'dport', String(port), 'counter', 'name', 'dropped', 'drop'),
    restore: () => nft('flush', 'chain', 'netdev', 'watch', 'in'),
    dropped: () => Number(/packets (\d+)/.exec(nft('list', 'counter', 'netdev', 'watch', 'dropped'))?.[1]),
  };
};

/** Flows of 1,000 packets a second each that a filter interrupts: what is measured, and what the filter has dropped. */
export const convergenceRows = async ({ left, right }: Ends, flows: number): Promise<Row[]> => {
  const filter = filterAt(right);
  const rate = flows * packetsPerSecond;
  const server = await startJobIn(right, {
    engine: 'convergence',
    config: { role: 'server', listen: [{ host: right.address, port }], isCounted: true },
    duration: { mode: 'continuous' },
  });
  const client = await startJobIn(left, {
    engine: 'convergence',
    config: { role: 'client', targets: [{ host: right.address, port }], streams: flows, load: { rate } },
    duration: { seconds },
  });
  await sleep(beforeMs);
  filter.drop();
  await sleep(outageMs);
  filter.restore();
  const sent = (await client.totals).counter('convergence.sent');
  const totals = await server.stop();
  const received = totals.counter('convergence.received');
  const dropped = filter.dropped();
  const cells = rowsOf(totals, 'flows').map((row) => row.cells as Record<string, number>);
  const lost = cells.reduce((sum, one) => sum + (one['lost'] ?? 0), 0);
  const errors = cells.map(({ lastUs = Number.NaN, lossDurationUs = 0 }) => Math.abs(lastUs - lossDurationUs) / 1000);
  console.log(
    `${flows} flows: ${sent} packets sent, ${received} received, ${dropped} dropped by the filter, ` +
      `${totals.counter('convergence.bufferDrops')} by the receiver`,
  );
  return [
    { name: 'packets a second of all flows', value: sent / seconds, goal: rate * 0.999 },
    { name: 'packets lost that were not dropped', value: Math.abs(lost - dropped), goal: 0, better: 'lower' },
    { name: 'flows interrupted once', value: cells.filter((one) => one['interruptions'] === 1).length, goal: flows },
    {
      name: 'ms between interruptions by the clocks of receiver and sender',
      value: Math.max(...errors),
      goal: 1,
      better: 'lower',
    },
  ];
};
