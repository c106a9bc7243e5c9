import { parentPort, workerData } from 'node:worker_threads';
import { isLoadChangeable, isPausable } from '../../engine.ts';
import { engines } from '../../engines/index.ts';
import { SampleStore } from '../../samples.ts';
import type { CoreCommand, CoreReport, CoreWork } from './cores.ts';
import { addressIn } from './prepare-job.ts';

const work = workerData as CoreWork;
const report = (message: CoreReport) => parentPort?.postMessage(message);
const abort = new AbortController();

const engine = engines.get(work.engine);
if (engine === undefined) throw new Error(`unknown engine ${work.engine}`);

const run = await engine.prepare({
  ...work,
  samples: new SampleStore((metric) => report({ kind: 'metric', metric })),
  signal: abort.signal,
  note: (remark) => report({ kind: 'note', remark }),
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
    report({ kind: 'closed' });
  } else if (isPausable(run)) run[command]();
};

parentPort?.on('message', (command: CoreCommand) => void obey(command));
report({ kind: 'prepared' });
