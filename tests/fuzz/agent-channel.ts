import { randomUUID } from 'node:crypto';
import { Histogram } from '@rushhour/protocol';
import { BadMessage, parseMessage } from '../../packages/controller/src/agents/gateway/session.ts';
import { jobOf, setRun, storeRun } from '../../packages/controller/src/metrics/testing/stored-run.ts';
import { connectTestAgent, type TestAgent, testFacts } from '../../packages/controller/src/testing/agent.ts';
import type { TestController } from '../../packages/controller/src/testing/controller.ts';
import { createReader } from './agent-reads.ts';
import { messageSchema, mutateFitting, pickOf, randomOf } from './mutate-message.ts';

/** The run that messages speak of; the campaign puts in one that the agent takes part in. */
const ofRun = { runId: 1, epoch: 0 };
const outcome = { status: 'finished', error: '', notes: ['a'], saturatedSeconds: { cpu: 1 }, lastSeq: 1 };
const latency = new Histogram();
latency.record(1000);
const series = {
  ...{ target: '', counters: { 'http.requests': 1 }, gauges: { 'http.concurrent': 1 } },
  histograms: { 'http.latency': latency.toBase64() },
};
const health = { cpuPct: [1], memoryUsedMb: 1, load1: 1, interfaces: [], diskFreeMb: 1 };
const line = { ts: 1, level: 'info', source: 'fuzz', message: 'text', runId: 1 };
const dump = {
  ...{ ...ofRun, name: 'eth0', interface: 'eth0', state: 'open', size: 1, packets: 1, drops: 0, truncated: false },
  ...{ sha256: '', firstAt: 1, lastAt: null, problem: '' },
};
const record = {
  ...{ side: 'control', reason: 'path', service: 'http', target: 'a:1', ip: '', isGood: true, detail: '' },
  ...{ startedMs: 1, endedMs: 2 },
};

/** Messages that open a session; another one would end it. */
const openings: readonly object[] = [
  { type: 'hail', protocol: 2, ephemeral: 'A'.repeat(43) },
  { type: 'proof', uuid: randomUUID(), publicKey: 'A', signature: `${'A'.repeat(86)}==` },
  { type: 'hello', bootId: 'b', facts: testFacts(), runs: [] },
];
const openingShare = 0.05;

/** One valid message of each other type. */
const valid: readonly object[] = [
  { type: 'heartbeat', sentAt: 1, clockOffsetMs: 0, roundTripMs: 0, health },
  { type: 'facts', facts: testFacts() },
  { type: 'dumps', dumps: [dump] },
  { type: 'logs', lines: [line] },
  { type: 'answer', id: 1, ok: true, result: { a: [1] } },
  { type: 'needFile', sha256: '0'.repeat(64), offset: 0 },
  { type: 'prepared', ...ofRun },
  { type: 'prepareFailed', ...ofRun, problems: [{ order: 0, message: 'no' }] },
  { type: 'started', ...ofRun, at: 1 },
  {
    ...{ type: 'summaries', ...ofRun, order: 0 },
    summaries: [{ seq: 1, at: 1, spanMs: 1000, phase: 'steady', series: [series], records: [record] }],
  },
  { type: 'event', ...ofRun, at: 1, kind: 'paused', severity: 'info', message: 'text' },
  { type: 'orderEnded', ...ofRun, order: 0, outcome },
  { type: 'ended', ...ofRun, endedByDeadMan: false },
];

const hostile: readonly unknown[] = [
  ...[1e300, -1e300, -1, 0.5, 2 ** 53, 2 ** 63, null, true, '', '\u0000', '\ud800', 'x'.repeat(70_000), [], {}],
  ...[[[[[]]]], { __proto__: 1 }, 'NaN', '../../etc/passwd', '8.8.8.8', Array(2000).fill(0)],
];

type Tree = Record<string, unknown> | unknown[];
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

/** Replaces, removes, adds or repeats a member somewhere in the message. */
const mutate = (value: Tree, random: () => number): void => {
  const pick = pickOf(random);
  const keys = Object.keys(value);
  const key = keys.length === 0 ? 'more' : pick(keys);
  const tree = value as Record<string, unknown>;
  const inner = tree[key];
  const choice = random();
  if (isTree(inner) && random() < 0.7) mutate(inner, random);
  else if (choice < 0.6) tree[key] = structuredClone(pick(hostile));
  else if (choice < 0.75) delete tree[key];
  else if (choice < 0.9) tree[`more${Math.floor(random() * 9)}`] = structuredClone(pick(hostile));
  else if (Array.isArray(value)) value.push(...value.slice(0, 100));
};

type Message = Tree & { type: string };

const withRun = (message: unknown, runId: number): unknown =>
  JSON.parse(JSON.stringify(message), (name, value) => (name === 'runId' ? runId : value));

const hostileShare = 0.15;

/** Messages of the protocol with changes, as texts: most still satisfy it, some no longer do, a few are no JSON. */
export const createMutator = (seed: number) => {
  const random = randomOf(seed);
  return (runId = 1): string => {
    const message = withRun(pickOf(random)(random() < openingShare ? openings : valid), runId) as Message;
    const isHostile = random() < hostileShare;
    const schema = messageSchema(message.type);
    for (let i = 0; i <= random() * 3; i += 1) {
      if (isHostile || schema === undefined) mutate(message, random);
      else mutateFitting(message as Record<string, unknown>, schema, random);
    }
    const text = JSON.stringify(message);
    if (!isHostile || random() < 0.8) return text;
    const at = Math.floor(random() * text.length);
    return text.slice(0, at) + String.fromCharCode(Math.floor(random() * 256)) + text.slice(at + 1);
  };
};

const greetings = ['hail', 'proof', 'hello', 'enrol'];

/** Whether the message is valid in an open session, where a second greeting would end it. */
const accepts = (text: string): boolean => {
  try {
    return !greetings.includes(parseMessage(text).type);
  } catch (error) {
    if (error instanceof BadMessage) return false;
    throw error;
  }
};

interface Outcome {
  sent: number;
  /** Messages that satisfied the protocol and were handled in a session. */
  handled: number;
  findings: string[];
}

const isWell = async (controller: TestController, witness: TestAgent): Promise<boolean> => {
  const from = witness.messages.length;
  witness.beat();
  await witness.next('beat', { from, timeoutMs: 30_000 });
  return (await fetch(`${controller.url}/readyz`)).ok;
};

const perSession = 200;

/** A user who may do everything, as often and as long as the campaign needs. */
const enter = async (controller: TestController) => {
  const first = await controller.signIn();
  await first.client.settings.update({ body: { limits: { rate: 100_000_000 }, auth: { accessTtlSec: 86_400 } } });
  const { client, send } = await controller.signIn();
  const enrol = async (more: { heartbeat?: boolean } = {}) => {
    const { data } = await client.agents.createToken({ body: { name: 'fuzz', ttlSec: 600, maxUses: 1 } });
    return connectTestAgent({ url: controller.url, token: data.token, ...more });
  };
  return { enrol, findUnreadable: createReader(controller.url, send) };
};

interface Plan {
  readonly total: number;
  readonly seed: number;
  /** Asked before each session; the campaign ends early when it says no. */
  goesOn?(): boolean;
}

/**
 * Sends mutated messages through the sealed channel of an agent. Messages that violate the protocol are parsed only, as
 * each would end the session; every accepted one is sent. A second agent is the witness that nothing else suffers, and
 * all that the agent reported can be read afterwards.
 */
export const runChannelCampaign = async (
  controller: TestController,
  { total, seed, goesOn = () => true }: Plan,
): Promise<Outcome> => {
  const next = createMutator(seed);
  const result: Outcome = { sent: 0, handled: 0, findings: [] };
  const { enrol, findUnreadable } = await enter(controller);
  const witness = await enrol();
  while (result.sent < total && goesOn()) {
    const agent = await enrol({ heartbeat: false });
    const { agentId } = agent.welcome;
    const { runId, taskId } = await storeRun(controller.store, { agents: { [agentId]: [jobOf()] } });
    for (let accepted = 0; accepted < perSession && result.sent < total; result.sent += 1) {
      const text = next(runId);
      let isAccepted = false;
      try {
        isAccepted = accepts(text);
      } catch (error) {
        result.findings.push(`${(error as Error).stack}: ${text.slice(0, 300)}`);
      }
      if (!isAccepted) continue;
      agent.send(text);
      accepted += 1;
      result.handled += 1;
    }
    await agent.close();
    const { code, reason } = await agent.closed;
    if (code === 1011) result.findings.push(`the session failed: ${reason}`);
    if (!(await isWell(controller, witness))) result.findings.push(`not ready after ${result.sent} messages`);
    await setRun(controller.store, runId, { status: 7, finishedAt: new Date().toISOString() });
    result.findings.push(...(await findUnreadable({ agentId, runId, taskId })));
  }
  await witness.close();
  return result;
};
