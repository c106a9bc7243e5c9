import { describe, expect, it } from 'vitest';
import { packetEvidence } from './evidence.ts';

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
const dump = { id: 7, agentID: 1, state: 'ready', firstAt: at(1), lastAt: at(5) };
const attempt = (more: object = {}, client: object = {}) =>
  ({
    ...{ startedAt: at(2), durationMs: 100, client: { agentID: 1, ip: '10.0.0.1', port: 40_000, ...client } },
    ...more,
  }) as unknown as Parameters<ReturnType<typeof packetEvidence>>[0];
const run = { id: 3, taskID: 2 };

describe('the packets of an attempt', () => {
  it('are those of its address and port in the dumps of its agent', () => {
    const found = packetEvidence(run, [dump, { ...dump, id: 8 }])(attempt());
    expect(found.packets).toEqual([
      '/v1/tasks/2/runs/3/dumps/7?filter=host+10.0.0.1+and+port+40000',
      '/v1/tasks/2/runs/3/dumps/8?filter=host+10.0.0.1+and+port+40000',
    ]);
  });

  it.each([
    ['the dump is that of another agent', { agentID: 2 }, {}, {}],
    ['the dump has not arrived', { state: 'closed' }, {}, {}],
    ['it was captured before', { lastAt: at(1) }, {}, {}],
    ['it was captured after', { firstAt: at(4) }, {}, {}],
    ['nothing was captured', { firstAt: null, lastAt: null }, {}, {}],
    ['there was no socket', {}, {}, { ip: '', port: 0 }],
  ])('are not to be had when %s', (_, ofDump, ofAttempt, ofClient) => {
    const found = packetEvidence(run, [{ ...dump, ...ofDump }])(attempt(ofAttempt, ofClient));
    expect(found).not.toHaveProperty('packets');
  });
});
