import { expect, it } from 'vitest';
import { createEnds, ip4 } from '../../testing/access-ends.ts';
import { AccessLab } from '../../testing/access-lab.ts';
import { lacOptions, lnsOptions } from '../../testing/l2tp-ends.ts';
import { sessionState } from '../session-table.ts';

/** An IPv4 address as stacks have it. */
const wordsOf = (address = 0) => Int32Array.of(0, 0, 0xffff, address);

const { up } = sessionState;

const createPair = (lab = new AccessLab()) => {
  const port = { prefixLength: 24, gateway: 0 };
  const near = { ...port, address: ip4('192.0.2.1') };
  const far = { ...port, address: ip4('192.0.2.2') };
  return createEnds(
    { count: 10, proofPerSec: 2, access: { l2tp: { ...lacOptions, port: near } } },
    { dhcp: undefined, l2tp: { ...lnsOptions, port: far } },
    lab,
  );
};

it('subscribers of a port come up behind a concentrator, prove their sessions, and survive the loss of the link', () => {
  const { lab, client, gateway } = createPair();
  const { table } = client.subscribers;
  client.subscribers.begin();
  expect(lab.run(5000, () => table.counts[up] === 10)).toBe(true);
  lab.run(2000);
  expect(client.l2tp?.counters.echoReceived).toBeGreaterThan(20);
  expect([client.protocol?.mtu, gateway.mtu]).toEqual([1458, 1458]);
  expect(gateway.reaches(wordsOf(client.protocol?.addressOf(4)), 0)).toBe(true);
  client.setLink(false);
  expect([table.counts[up], table.causeOf(0), client.l2tp?.tunnels.count]).toEqual([0, 'link down', 0]);
  client.setLink(true);
  expect(lab.run(60_000, () => table.counts[up] === 10, 5)).toBe(true);
  client.subscribers.end();
  expect(lab.run(20_000, () => client.subscribers.isOver)).toBe(true);
});

it('packets go from a subscriber to a host behind the gateway and back', () => {
  const { lab, client, gateway } = createPair();
  const { table } = client.subscribers;
  client.subscribers.begin();
  expect(lab.run(5000, () => table.counts[up] === 10)).toBe(true);
  const seen: string[] = [];
  gateway.onPacket = (_memory, start, end) => seen.push(`gateway ${end - start}`);
  client.onPacket = (session, _memory, start, end) => seen.push(`session ${session} ${end - start}`);
  const at = client.beginPacket(3, 40);
  client.frames.writeIpv4(at, at + 40, {
    ...{ source: client.protocol?.addressOf(3) ?? 0, destination: ip4('203.0.113.9') },
    ...{ protocol: 17, tos: 0 },
  });
  client.sendPacket(3, at, at + 40);
  const back = gateway.beginPacket(wordsOf(client.protocol?.addressOf(3)), 0, 50);
  gateway.frames.writeIpv4(back, back + 50, {
    ...{ source: ip4('203.0.113.9'), destination: client.protocol?.addressOf(3) ?? 0 },
    ...{ protocol: 17, tos: 0 },
  });
  gateway.sendPacket(back, back + 50);
  lab.run(5);
  expect(seen.filter((line) => line.endsWith('40') || line.endsWith('50'))).toEqual(
    expect.arrayContaining(['gateway 40', 'session 3 50']),
  );
});
