import { parentPort, workerData } from 'node:worker_threads';
import { isLoadChangeable, isPausable } from '../../engine.ts';
import { engines } from '../../engines/index.ts';
import { SampleStore } from '../../samples.ts';
import { openHostNetwork } from '../../stack/host-network.ts';
import type { CoreCommand, CoreReport, CoreWork } from './cores.ts';
import { addressIn } from './prepare-job.ts';

const work = workerData as CoreWork;
const report = (message: CoreReport) => parentPort?.postMessage(message);
const abort = new AbortController();

const engine = engines.get(work.engine);
if (engine === undefined) throw new Error(`unknown engine ${work.engine}`);

const samples = new SampleStore((metric) => report({ kind: 'metric', metric }));
samples.targetNames = work.targetNames;
const note = (remark: string) => report({ kind: 'note', remark });
const { hosts, ...rest } = work;
const hostNetwork = hosts && openHostNetwork(hosts.stack, { host: work.host, note, samples, share: hosts.share });
// Before the engine hears that it has to stop: what has arrived by then counts.
abort.signal.addEventListener('abort', () => hostNetwork?.poll(), { once: true });

const run = await engine.prepare({
  ...rest,
  hostNetwork,
  samples,
  signal: abort.signal,
  note,
  record: (record) => report({ kind: 'record', record }),
  putRow: (table, row) => report({ kind: 'row', table, row }),
  progress: (message) => report({ kind: 'progress', message }),
  addressOf: (host) => addressIn(work.addresses, host),
});

const obey = async (command: CoreCommand): Promise<void> => {
  if (typeof command === 'object') {
    if (isLoadChangeable(run)) run.changeLoad(command.changeLoad);
  } else if (command === 'start') {
    await run.start();
    report({ kind: 'done' });
  } else if (command === 'abort') abort.abort();
  else if (command === 'close') {
    await run.close();
    await hostNetwork?.close();
    report({ kind: 'closed' });
  } else if (isPausable(run)) run[command]();
};

parentPort?.on('message', (command: CoreCommand) => void obey(command));
report({ kind: 'prepared' });
