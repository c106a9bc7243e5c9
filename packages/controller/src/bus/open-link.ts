import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { PeerLink } from './peer-link.ts';

interface Options {
  readonly databaseUrl?: string | undefined;
  readonly natsUrl?: string | undefined;
  readonly installation: string;
  /** Known to all controllers of the installation, and to nobody else. */
  readonly secret: Buffer;
  readonly log: Logger;
}

/** A start does not wait longer for NATS: until it is connected, PostgreSQL carries the messages. */
const patienceMs = 2000;
const pollMs = 20;

/** The link to other controllers, where there can be others; what it needs is loaded only then. */
export const openLink = async (options: Options): Promise<PeerLink | undefined> => {
  const { databaseUrl, natsUrl, log } = options;
  if (databaseUrl === undefined) return undefined;
  const { postgresLink } = await import('./postgres-link.ts');
  const slow = await postgresLink(databaseUrl, log);
  if (natsUrl === undefined) return slow;
  const { natsLink } = await import('./nats-link.ts');
  const { preferredLink } = await import('./preferred-link.ts');
  const fast = natsLink({ ...options, url: natsUrl, id: slow.id });
  const link = preferredLink(fast, slow, log);
  const giveUpAt = performance.now() + patienceMs;
  while (!fast.isConnected && performance.now() < giveUpAt) await sleep(pollMs);
  return link;
};
