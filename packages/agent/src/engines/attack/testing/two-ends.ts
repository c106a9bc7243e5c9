import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AttackClientConfig,
  AttackServerConfig,
  type Attempt,
  type AttemptRecord,
  type ClientObservation,
  type ControlObservation,
  type ServerObservation,
} from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import * as value from 'typebox/value';
import { describeHost } from '../../../machine/host.ts';
import { SampleStore } from '../../../samples.ts';
import { waf } from '../index.ts';

const { Default } = value as unknown as { Default(schema: TSchema, value: unknown): unknown };

const shared = { runToken: 'test1', proofKey: 'a key that both ends know' };

export const attemptOf = (id: number, more: Partial<Attempt> & Pick<Attempt, 'exchange' | 'service'>): Attempt => ({
  id,
  kind: 'waf',
  refId: 0,
  refName: `attempt ${id}`,
  variant: 'plain',
  category: 'xss',
  expected: 'block',
  severity: 'high',
  techniques: [],
  direction: 'c2s',
  ...more,
});

export const httpAttempt = (id: number, path: string, body = ''): Attempt =>
  attemptOf(id, {
    service: 'http',
    exchange: {
      protocol: 'http',
      steps: [
        {
          request: {
            method: body === '' ? 'GET' : 'POST',
            path,
            version: '1.1',
            headers: [{ name: 'User-Agent', value: 'test' }],
            ...(body !== '' && { body: { data: Buffer.from(body).toString('base64') } }),
          },
          answer: { mode: 'canned', status: 200, headers: [] },
        },
      ],
    },
  });

interface Ends {
  readonly attempts: readonly Attempt[];
  readonly targets: readonly object[];
  readonly listen: readonly object[];
  readonly client?: object;
  readonly server?: object;
}

/** Runs client and server in this process until the client is done, and returns their records. */
export const runBothEnds = async ({ attempts, targets, listen, client = {}, server = {} }: Ends) => {
  const folder = mkdtempSync(join(tmpdir(), 'attempts-'));
  const file = join(folder, 'attempts');
  writeFileSync(file, attempts.map((attempt) => `${JSON.stringify(attempt)}\n`).join(''));
  const records: AttemptRecord[] = [];
  const notes: string[] = [];
  const stop = new AbortController();
  const context = {
    duration: { mode: 'continuous', seconds: 1, count: 1, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 } as const,
    samples: new SampleStore(),
    host: describeHost(),
    core: { index: 0, count: 1 },
    signal: stop.signal,
    addressOf: (host: string) => host,
    progress: () => {},
    note: (remark: string) => void notes.push(remark),
    putRow: () => {},
    record: (record: AttemptRecord) => void records.push(record),
  };
  const serverConfig = { role: 'server', listen, attempts: file, ...shared, ...server };
  const clientConfig = { role: 'client', targets, attempts: file, timeoutMs: 3000, ...shared, ...client };
  const answering = await waf.prepare({
    ...context,
    config: Default(AttackServerConfig, serverConfig) as AttackServerConfig,
  });
  const trying = await waf.prepare({
    ...context,
    config: Default(AttackClientConfig, clientConfig) as AttackClientConfig,
  });
  const answered = answering.start();
  await trying.start();
  stop.abort();
  await Promise.all([trying.close(), answered.then(() => answering.close())]);
  rmSync(folder, { recursive: true });
  const of = <T extends AttemptRecord>(side: T['side']) => records.filter((record) => record.side === side) as T[];
  return {
    notes,
    clients: of<ClientObservation>('client').toSorted((a, b) => a.attempt - b.attempt),
    servers: of<ServerObservation>('server'),
    controls: of<ControlObservation>('control'),
  };
};
