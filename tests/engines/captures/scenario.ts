import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { metricOf, startSystem, until, untilStatus } from '../../system/system.ts';

// Runs inside the left namespace: the controller and the sender are here, the receiver is at the other end of the cable.
// Leaves the captures in the given folder and prints what the API returned for them.
const [, , address = '', otherNamespace = '', folder = ''] = process.argv;
const port = 15002;

const system = await startSystem({}, { RUSHHOUR_HOST: '0.0.0.0' });
const { client } = system;
const url = system.url.replace('0.0.0.0', address);

const counted = (namespace: string, ...args: string[]) =>
  execFileSync('ip', ['netns', 'exec', namespace, 'nft', ...args], { encoding: 'utf8' });

/** Packets of the traffic as the kernel of the other side counts them. */
const kernelCount = () => {
  const text = counted(otherNamespace, 'list', 'chain', 'inet', 'seen', 'in');
  return Number(/packets (\d+)/.exec(text)?.[1]);
};

const start = async (task: object) => {
  const { data: id } = await client.tasks.create({ body: task as never });
  const { data } = await client.tasks.start({ params: { id } });
  return { id, runId: data.runId };
};

const listed = async (params: { id: number; runId: number }) => (await client.tasks.dumps({ params })).data;

/** Waits until all captures of a run are complete, and downloads them. */
const collect = async (label: string, params: { id: number; runId: number }, minCount: number) => {
  const dumps = await until(`the dumps of ${label}`, async () => {
    const found = await listed(params);
    return found.length >= minCount && found.every(({ ready }) => ready) && found;
  });
  const kept = [];
  for (const dump of dumps) {
    const answer = await client.tasks.dump({ params: { ...params, dumpId: dump.id }, query: {} });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const file = join(folder, `${label}-${dump.id}.pcapng`);
    writeFileSync(file, bytes);
    kept.push({ ...dump, file, bytes: bytes.length, actual: createHash('sha256').update(bytes).digest('hex') });
  }
  return kept;
};

try {
  const near = await system.addAgent('near');
  const far = await system.addAgent('far', { namespace: otherNamespace, url });
  const poor = await system.addAgent('poor', { through: ['setpriv', '--bounding-set=-net_raw', '--inh-caps=-all'] });
  const task = (seconds: number, values: object, dumps: object, from = near) => ({
    comment: 'captured',
    dumps,
    configuration: [
      {
        plugin: { id: 3 },
        values: {
          sources: [{ agent: { id: from.id } }],
          targets: [{ agent: { id: far.id } }],
          duration: { mode: 'time', seconds },
          ...values,
        },
      },
    ],
  });
  const small = { packetsPerSecond: 500, frameSize: 200 };

  counted(otherNamespace, 'add', 'table', 'inet', 'seen');
  counted(otherNamespace, 'add', 'chain', 'inet', 'seen', 'in', '{ type filter hook prerouting priority 0; }');
  counted(otherNamespace, 'add', 'rule', 'inet', 'seen', 'in', 'udp', 'dport', String(port), 'counter');

  const runToEnd = async (what: object) => {
    const run = await start(what);
    await untilStatus(client, run.id, [7, 8, 9]);
    return run;
  };

  const whole = await runToEnd(task(2, small, { enabled: true, savelen: 90 }));
  const wholeDumps = await collect('whole', whole, 2);
  const kernel = kernelCount();
  const filtered = await client.tasks.dump({
    params: { ...whole, dumpId: wholeDumps[0]?.id ?? 0 },
    query: { filter: `udp and port ${port}` },
  });
  const filteredFile = join(folder, 'filtered.pcapng');
  writeFileSync(filteredFile, Buffer.from(await filtered.arrayBuffer()));

  const switched = await start(task(30, small, {}));
  await untilStatus(client, switched.id, [4]);
  await sleep(500);
  const none = await listed(switched);
  await client.tasks.changeLoad({ body: { id: switched.id, dumps: { enabled: true } } });
  const growing = await until('packets in an open dump', async () => {
    const found = await listed(switched);
    return found.length === 2 && found.every(({ packets }) => packets > 100) && found;
  });
  const early = await client.tasks
    .dump({ params: { ...switched, dumpId: growing[0]?.id ?? 0 }, query: {} })
    .then(() => 200)
    .catch((error: { status?: number }) => error.status);
  await client.tasks.changeLoad({ body: { id: switched.id, dumps: { enabled: false } } });
  await until('closed dumps', async () => (await listed(switched)).every(({ sha256 }) => sha256 !== ''));
  await sleep(500);
  await client.tasks.changeLoad({ body: { id: switched.id, dumps: { enabled: true } } });
  await until('a second capture', async () => (await listed(switched)).length === 4);
  await client.tasks.stop({ params: { id: switched.id }, body: {} });
  await untilStatus(client, switched.id, [7, 8, 9]);
  const switchedDumps = await collect('switched', switched, 4);

  await client.settings.update({ body: { dumps: { maxBytesPerRun: 1_048_576 } } });
  const large = { packetsPerSecond: 1000, frameSize: 1400 };
  const first = await runToEnd(task(2, large, { enabled: true }));
  const firstDumps = await collect('first', first, 2);
  const newest = await runToEnd(task(2, large, { enabled: true, keep: 'newest' }));
  const newestDumps = await collect('newest', newest, 2);

  const unable = await runToEnd(task(1, small, { enabled: true }, poor));
  const { data: unableEvents } = await client.tasks.events({
    params: { id: unable.id },
    query: { runId: unable.runId },
  });
  const { data: unableResult } = await client.tasks.run({ params: unable, query: {} });
  await collect('unable', unable, 1);

  const frames = task(2, { packetsPerSecond: 500, frameSize: 200, maxStreams: 4 }, { enabled: true });
  const streamed = await runToEnd({
    ...frames,
    configuration: frames.configuration.map((entry) => ({ ...entry, plugin: { id: 7 } })),
  });
  const { data: streamResult } = await client.tasks.run({ params: streamed, query: { full: true } });
  const streamDumps = await collect('stream', streamed, 2);

  const killed = await start(task(30, small, { enabled: true }));
  await until('packets before the kill', async () =>
    (await listed(killed)).some((dump) => dump.agentID === far.id && dump.packets > 100),
  );
  await far.kill('SIGKILL');
  far.startAgain();
  await untilStatus(client, killed.id, [7, 8, 9]);
  const killedDumps = await collect('killed', killed, 2);
  await until('the agent to forget', async () => readdirSync(join(far.dataDir, 'dumps')).length === 0);

  await client.tasks.removeRuns({ params: { id: whole.id }, body: { array: [whole.runId] } });
  const blob = join(system.dataDir, 'files');
  const isKept = (sha256: string) =>
    readdirSync(blob, { recursive: true }).some((name) => String(name).endsWith(sha256));
  const keptAtFirst = isKept(wholeDumps[0]?.sha256 ?? '');
  const isSwept = await until('the content of deleted runs to go', async () => !isKept(wholeDumps[0]?.sha256 ?? ''));

  const answer = {
    farId: far.id,
    whole: wholeDumps,
    kernel,
    filteredFile,
    switched: { none: none.length, growing, early, dumps: switchedDumps },
    first: firstDumps,
    newest: newestDumps,
    unable: { status: unableResult.status, validity: unableResult.validity, events: unableEvents },
    stream: { sent: metricOf(streamResult, 'client', 'stream.sent')?.['sum'], dumps: streamDumps },
    killed: killedDumps,
    removed: { keptAtFirst, isSwept },
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
} finally {
  await system.close();
}
process.exit(0);
