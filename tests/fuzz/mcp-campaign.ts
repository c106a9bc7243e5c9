import fc from 'fast-check';
import { tools } from '../../packages/controller/src/ai/gateway/tools.ts';
import { valid, violated } from './arbitrary.ts';
import type { Campaign, Finding, Target } from './campaign.ts';

const odd = fc.constantFrom<unknown>(
  ...[null, [], {}, 1, 'x', [{}], { jsonrpc: '2.0' }, { jsonrpc: '1.0', id: 1, method: 'tools/list' }],
  ...[
    'initialize',
    'tools/list',
    'resources/list',
    'resources/templates/list',
    'ping',
    'no/such',
    '',
    'tools/call',
  ].map((method) => ({ jsonrpc: '2.0', id: 1, method })),
  { jsonrpc: '2.0', id: { a: 1 }, method: 'tools/list' },
  { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
  { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: '__proto__', arguments: {} } },
  { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'rushhour://tasks/-1' } },
  { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'file:///etc/passwd' } },
  Array.from({ length: 50 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' })),
);

const calls = fc.constantFrom(...tools).chain(({ ai, input }) =>
  fc.oneof(valid(input as never), violated(input as never)).map((given) => ({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: ai.tool, arguments: given },
  })),
);

/** What is wrong with an answer: no answer of the protocol, a fault of ours, or its internals. */
const problemOf = (status: number, text: string) => {
  if (status >= 500) return `answered ${status}: ${text.slice(0, 300)}`;
  if (/"code\\?":\\?"INTERNAL\\?"/.test(text)) return `a tool failed: ${text.slice(0, 300)}`;
  return /node_modules|\bat .+\.ts:\d+|SQLITE/.test(text) ? `leaks internals: ${text.slice(0, 300)}` : undefined;
};

/** Sends calls of tools and other messages to `/mcp`, valid and not. */
export const runMcpCampaign = async (target: Target, { count, seed, maxAnswerMs }: Campaign): Promise<Finding[]> => {
  const findings: Finding[] = [];
  const messages = fc.oneof({ weight: 4, arbitrary: calls as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: odd });
  let key = '';
  for (const message of fc.sample(messages, { numRuns: count, seed })) {
    if (key === '') key = (await target.revive({ access: 'aiKey' })).split(': ')[1] ?? '';
    const startedAt = performance.now();
    const response = await fetch(`${target.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        'x-api-key': key,
      },
      body: JSON.stringify(message),
    });
    const text = await response.text();
    const tookMs = performance.now() - startedAt;
    const slow = tookMs > maxAnswerMs ? `answered after ${Math.round(tookMs)} ms` : undefined;
    const problem = problemOf(response.status, text) ?? slow;
    if (problem) findings.push({ operation: 'mcp', seed, problem, attempt: JSON.stringify(message).slice(0, 500) });
    if (response.status === 401 || response.status === 429) key = '';
  }
  return findings;
};
