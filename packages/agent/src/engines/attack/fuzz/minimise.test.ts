import type { Exchange } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { fieldsOf, minimise } from './minimise.ts';

const raw = (text: string): Exchange => ({
  protocol: 'raw',
  transport: 'tcp',
  sends: [{ content: { data: Buffer.from(text).toString('base64') }, waitResponse: true }],
  answers: [],
});
const textOf = (exchange: Exchange) => fieldsOf(exchange)[0]?.bytes.toString() ?? '';

it('keeps only the effective bytes', async () => {
  const shortest = await minimise(
    raw(`${'a'.repeat(200)}CRASH${'b'.repeat(300)}`),
    async (one) => textOf(one).includes('CRASH'),
    500,
  );
  expect(textOf(shortest)).toBe('CRASH');
});

it('finds parts that are far apart', async () => {
  const does = async (one: Exchange) => /X.*Y/s.test(textOf(one));
  expect(textOf(await minimise(raw(`${'-'.repeat(50)}X${'-'.repeat(70)}Y--`), does, 1000))).toBe('XY');
});

it('respects the maximum number of trials and returns the best result', async () => {
  let asked = 0;
  const shortest = await minimise(raw('a'.repeat(1000)), async () => ++asked > 0, 5);
  expect(asked).toBe(5);
  expect(textOf(shortest).length).toBeLessThan(1000);
});

it('shortens path, headers and body of a request', async () => {
  const request = {
    method: 'POST',
    path: '/aaaaBOOMaaaa',
    version: '1.1' as const,
    headers: [{ name: 'X', value: 'long value' }],
    body: { data: 'YWJjZGVm' },
  };
  const exchange: Exchange = {
    protocol: 'http',
    steps: [{ request, answer: { mode: 'canned', status: 200, headers: [] } }],
  };
  const shortest = await minimise(
    exchange,
    async (one) => one.protocol === 'http' && (one.steps[0]?.request.path.includes('BOOM') ?? false),
    500,
  );
  expect(shortest).toMatchObject({
    steps: [{ request: { path: '/BOOM', headers: [{ name: 'X', value: '' }], body: { data: '' } } }],
  });
});
