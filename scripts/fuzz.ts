import { startTestController } from '../packages/controller/src/testing/controller.ts';
import { runChannelCampaign } from '../tests/fuzz/agent-channel.ts';
import { operations, runCampaign, startTarget } from '../tests/fuzz/campaign.ts';

// `npm run fuzz [requests] [seed] [messages]`: a million requests over all operations and 300,000 messages of agents.
const total = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));
// Operations that hash a password take a thousand times as long; they get a fixed share.
const slow = new Set(['auth.login', 'auth.password', 'users.create', 'users.resetPassword']);
const slowTotal = 2000;
const messages = Number(process.argv[4] ?? 300_000);
const rounds = Math.max(1, Math.ceil(total / operations.length / 500));
const perRound = Math.ceil(total / (operations.length - slow.size) / rounds);

let sent = 0;
let failed = 0;
const statuses = new Map<number, number>();
for (let round = 0; round < rounds; round += 1) {
  const target = await startTarget();
  for (const operation of operations) {
    const count = slow.has(operation.id) ? Math.min(perRound, Math.ceil(slowTotal / rounds)) : perRound;
    const result = await runCampaign(target, operation, count, seed + round);
    for (const [status, count] of result.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
    sent += count;
    failed += result.findings.length;
    for (const finding of result.findings.slice(0, 5)) console.log(JSON.stringify(finding));
  }
  await target.close();
  process.stderr.write(`\r${sent} requests, ${failed} findings`);
}
process.stderr.write('\n');
console.log(`seed ${seed}: ${sent} requests to ${operations.length} operations, ${failed} findings`);
console.log(
  [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', '),
);

const controller = await startTestController();
const { client } = await controller.signIn();
const token = async () =>
  (await client.agents.createToken({ body: { name: 'fuzz', ttlSec: 600, maxUses: 1 } })).data.token;
const channel = await runChannelCampaign(controller, token, { total: messages, seed });
await controller.close();
for (const finding of channel.findings.slice(0, 20)) console.log(finding);
console.log(`agents: ${channel.sent} messages, ${channel.handled} handled, ${channel.findings.length} findings`);
failed += channel.findings.length;
process.exit(failed === 0 ? 0 : 1);
