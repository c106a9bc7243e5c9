import { randomBytes } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNats } from '../../../../scripts/nats.ts';
import { startPostgres } from '../../../../scripts/postgres.ts';
import { openLink } from './open-link.ts';
import type { PeerLink } from './peer-link.ts';

type Heard = { from: string; message: unknown }[];

const log = pino({ level: 'silent' });
const secret = randomBytes(32);
let postgres: Awaited<ReturnType<typeof startPostgres>>;
let nats: Awaited<ReturnType<typeof startNats>>;
const links: PeerLink[] = [];

/** A link, what it heard, and how often messages may have been missed. */
const open = async (natsUrl: string | undefined, installation = 'lab') => {
  const link = await openLink({ databaseUrl: postgres.url, natsUrl, installation, secret, log });
  if (link === undefined) throw new Error('there is no link');
  links.push(link);
  const heard: Heard = [];
  const missed: number[] = [];
  link.receive((from, message) => heard.push({ from, message }));
  link.onResumed(() => missed.push(Date.now()));
  return { link, heard, missed };
};
type Opened = Awaited<ReturnType<typeof open>>;

const until = (holds: () => boolean) => expect.poll(holds).toBe(true);
const hears = (to: Opened, { link }: Opened, message: unknown) =>
  expect.poll(() => to.heard).toContainEqual({ from: link.id, message });
const talk = async (from: Opened, to: Opened, text: string) => {
  from.link.send(to.link.id, { text });
  await hears(to, from, { text });
  from.link.send(undefined, { toAll: text });
  await hears(to, from, { toAll: text });
};

beforeAll(async () => {
  postgres = await startPostgres();
  nats = await startNats();
});
afterAll(async () => {
  for (const link of links) await link.close();
  await nats.stop();
  await postgres.stop();
});

describe('messages between controllers', () => {
  it('go through NATS in order, of any length, once, and only to those they are for', async () => {
    const [one, two, three] = await Promise.all([open(nats.url), open(nats.url), open(nats.url)]);
    expect(one.link.medium).toBe('NATS');
    const long = { text: 'é'.repeat(900_000) };
    one.link.send(two.link.id, long);
    for (let i = 0; i < 500; i += 1) one.link.send(i % 2 === 0 ? two.link.id : undefined, i);
    await until(() => two.heard.length >= 501 && three.heard.length >= 250);
    expect(two.heard.map(({ message }) => message)).toEqual([long, ...Array.from({ length: 500 }, (_, i) => i)]);
    expect(three.heard.map(({ message }) => message)).toEqual(Array.from({ length: 250 }, (_, i) => 2 * i + 1));
    expect(one.heard).toEqual([]);
  });

  it('are sealed: others on the same server read nothing, and what they send is not taken', async () => {
    const [one, two, other] = await Promise.all([open(nats.url), open(nats.url), open(nats.url, 'another')]);
    const { hostname, port } = new URL(nats.url);
    const stranger = await connect({ servers: `${hostname}:${port}`, user: 'lab', pass: 's3cret' });
    const seen: { subject: string; data: Buffer }[] = [];
    const callback = (_error: unknown, { subject, data }: { subject: string; data: Uint8Array }) =>
      void seen.push({ subject, data: Buffer.from(data) });
    stranger.subscribe('rushhour.>', { callback });
    await stranger.flush();
    one.link.send(two.link.id, 'the number of the safe');
    await until(() => two.heard.length > 0 && seen.length > 0);
    expect(seen.some(({ data }) => data.includes('safe'))).toBe(false);
    const { subject = '', data = Buffer.alloc(0) } = seen[0] ?? {};
    stranger.publish(subject, data);
    const changed = Buffer.from(data);
    changed.writeUInt8((changed.at(-1) ?? 0) ^ 1, changed.length - 1);
    stranger.publish(subject, changed);
    stranger.publish(subject, 'nonsense');
    await stranger.flush();
    await talk(one, two, 'after the stranger');
    expect(two.heard.filter(({ message }) => message === 'the number of the safe')).toHaveLength(1);
    expect(other.heard).toEqual([]);
    await stranger.close();
  });

  it('go through PostgreSQL while NATS is away, and to controllers that it does not reach', async () => {
    const [one, two, apart] = await Promise.all([open(nats.url), open(nats.url), open(undefined)]);
    expect(apart.link.medium).toBe('PostgreSQL');
    await talk(one, two, 'by NATS');
    apart.link.send(undefined, 'here I am');
    await hears(one, apart, 'here I am');
    await talk(one, apart, 'to one without NATS');
    await nats.kill();
    await until(() => [one, two].every(({ link }) => link.medium === 'PostgreSQL'));
    await talk(one, two, 'by PostgreSQL');
    await nats.startAgain();
    await until(() => [one, two].every(({ link }) => link.medium === 'NATS'));
    await talk(two, one, 'by NATS again');
    await talk(one, apart, 'still to one without NATS');
    await until(() => one.missed.length > 0 && two.missed.length > 0);
  });
});
