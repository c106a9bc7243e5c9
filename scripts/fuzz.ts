import { startTestController } from '../packages/controller/src/testing/controller.ts';
import { createDatabase } from '../packages/controller/src/testing/postgres.ts';
import { runChannelCampaign } from '../tests/fuzz/agent-channel.ts';
import { operations, runCampaigns, startTarget } from '../tests/fuzz/campaign.ts';
import { runMcpCampaign } from '../tests/fuzz/mcp-campaign.ts';
import { startPostgres } from './postgres.ts';

// `npm run fuzz [requests] [seed] [messages] [sqlite|postgres]`: on each database a million requests over all operations,
// by several people at once, a twentieth as many calls of MCP, and 300,000 messages of agents. 0 leaves a part out.
// SIGTERM ends the messages early, with the report of those so far.
const total = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));
const messages = Number(process.argv[4] ?? 300_000);
const only = process.argv[5];
const maxAnswerMs = Number(process.env['FUZZ_MAX_ANSWER_MS'] ?? 5000);
const concurrency = 4;
// Operations that hash a password take a thousand times as long; they get a fixed share.
const slow = new Set(['auth.login', 'auth.password', 'users.create', 'users.resetPassword']);
const slowTotal = 2000;
const rounds = Math.max(1, Math.ceil(total / operations.length / 500));
const perRound = Math.ceil(total / (operations.length - slow.size) / rounds);

let failed = 0;
let isEnding = false;
process.once('SIGTERM', () => {
  isEnding = true;
});
const report = (findings: readonly object[]) => {
  failed += findings.length;
  for (const finding of findings.slice(0, 20)) console.log(JSON.stringify(finding));
};

const fuzzRequests = async (engine: string) => {
  const statuses = new Map<number, number>();
  for (let round = 0; round < rounds; round += 1) {
    const target = await startTarget(await createDatabase());
    const own = { seed: seed + round, maxAnswerMs };
    const result = await runCampaigns(target, concurrency, ({ id }) => ({
      ...own,
      count: slow.has(id) ? Math.min(perRound, Math.ceil(slowTotal / rounds)) : perRound,
    }));
    report(result.findings);
    report(await runMcpCampaign(target, { ...own, count: Math.ceil(total / rounds / 20) }));
    for (const [status, count] of result.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
    await target.close();
    process.stderr.write(`\r${engine}: round ${round + 1} of ${rounds}, ${failed} findings`);
  }
  process.stderr.write('\n');
  const shown = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  console.log(`${engine}, seed ${seed}: ${operations.length} operations, ${failed} findings; ${shown.join(', ')}`);
};

const fuzzAgents = async (engine: string) => {
  const controller = await startTestController();
  const goesOn = () => !isEnding;
  const { sent, handled, findings } = await runChannelCampaign(controller, { total: messages, seed, goesOn });
  await controller.close();
  report(findings.map((finding) => ({ finding })));
  console.log(`${engine}, seed ${seed}: agents: ${sent} messages, ${handled} handled, ${findings.length} findings`);
};

const cluster = await startPostgres();
process.env['RUSHHOUR_TEST_POSTGRES'] = cluster.url;
for (const engine of ['sqlite', 'postgres'].filter((name) => only === undefined || only === name)) {
  process.env['RUSHHOUR_TEST_ENGINE'] = engine;
  if (total > 0) await fuzzRequests(engine);
  if (messages > 0) await fuzzAgents(engine);
}
await cluster.stop();
process.exit(failed === 0 ? 0 : 1);
