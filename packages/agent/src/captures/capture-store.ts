import { mkdir, open } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Capture, DumpName, DumpState, Job, ToController } from '@rushhour/protocol';
import type { Log } from '../log/log.ts';
import type { Endpoint } from '../net/packet/capture-filter.ts';
import { probePackets } from '../net/packet/packet-socket.ts';
import { type CaptureRecord, contentPath, loadRecords, readRecord, removeCapture } from './capture-record.ts';
import { salvageCapture } from './finish-capture.ts';
import { RunCapture } from './run-capture.ts';
import { usedInterfaces } from './used-interfaces.ts';

export interface CaptureStoreDeps {
  readonly folder: string;
  readonly cacheFolder: string;
  readonly log: Log;
  readonly send: (message: ToController) => boolean;
  /** Endpoint of the controller; traffic with it is not part of a run. */
  readonly controller: () => Endpoint | undefined;
}

/** A run that is or was captured. */
interface CapturedRun {
  readonly of: { readonly runId: number; readonly epoch: number };
  readonly jobs: readonly Job[];
  /** Number of captures started; part of their names. */
  begun: number;
  usedBytes: number;
  /** The current capture. */
  current: Capture | null;
  capture: RunCapture | undefined;
  /** Serialises changes. */
  queue: Promise<unknown>;
}

const keyOf = ({ runId, epoch }: { runId: number; epoch: number }) => `${runId}-${epoch}`;
const captureKey = (dump: DumpName) => `${keyOf(dump)}-${dump.name}`;
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const adoptTimeoutMs = 20_000;
const pollMs = 100;
const interrupted = 'the capture was interrupted';

/** Captures of runs: started, stored, read in pieces by the controller, deleted. */
export class CaptureStore {
  readonly #deps: CaptureStoreDeps;
  readonly #runs = new Map<string, CapturedRun>();
  readonly #states = new Map<string, DumpState>();

  constructor(deps: CaptureStoreDeps) {
    this.#deps = deps;
  }

  /** Loads captures of earlier processes. */
  async load(): Promise<void> {
    await mkdir(this.#deps.folder, { recursive: true, mode: 0o700 });
    for (const record of await loadRecords(this.#deps.folder)) {
      if (record.state === 'closed') this.#keep(stateOf(record));
      else void this.#adopt(record);
    }
  }

  /** Changes the capture of a run; resolves with the problems when the change is done. */
  async change(
    { runId, epoch }: { runId: number; epoch: number },
    jobs: readonly Job[],
    capture: Capture | null,
  ): Promise<string[]> {
    const of = { runId, epoch };
    const fresh = { of, jobs, begun: 0, usedBytes: 0, current: null, capture: undefined, queue: Promise.resolve() };
    const run: CapturedRun = this.#runs.get(keyOf(of)) ?? fresh;
    this.#runs.set(keyOf(of), run);
    return this.#serialise(run, async () => {
      // Commands may be repeated.
      if (JSON.stringify(run.current) === JSON.stringify(capture)) return [];
      run.current = capture;
      await this.#stop(run);
      return capture === null ? [] : this.#start(run, capture);
    });
  }

  /** Ends the capture of a run. */
  async end(of: { runId: number; epoch: number }): Promise<void> {
    const run = this.#runs.get(keyOf(of));
    if (run === undefined) return;
    this.#runs.delete(keyOf(of));
    await this.#serialise(run, async () => this.#stop(run));
  }

  /** Reports all captures in a new session. */
  sessionOpened(): void {
    if (this.#states.size > 0) this.#report([...this.#states.values()]);
  }

  async read({ offset, length, ...dump }: DumpName & { offset: number; length: number }): Promise<{ base64: string }> {
    if (this.#states.get(captureKey(dump))?.state !== 'closed')
      throw new Error(`there is no closed capture ${dump.name}`);
    const file = await open(contentPath(this.#deps.folder, dump), 'r');
    try {
      const bytes = Buffer.alloc(length);
      const { bytesRead } = await file.read(bytes, 0, length, offset);
      return { base64: bytes.toString('base64', 0, bytesRead) };
    } finally {
      await file.close();
    }
  }

  async forget(dump: DumpName): Promise<void> {
    const known = this.#states.get(captureKey(dump));
    // An open capture is reported again when it is closed.
    if (known?.state !== 'closed') return;
    this.#states.delete(captureKey(dump));
    await removeCapture(this.#deps.folder, dump);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ of }) => this.end(of)));
  }

  #serialise<T>(run: CapturedRun, work: () => Promise<T>): Promise<T> {
    const done = run.queue.then(work);
    run.queue = done.catch(() => {});
    return done;
  }

  async #start(run: CapturedRun, capture: Capture): Promise<string[]> {
    const reason = probePackets();
    if (reason !== undefined) return [`packets are not captured: ${reason}`];
    const interfaces = await usedInterfaces(run.jobs);
    if (interfaces.length === 0) return ['packets are not captured: no interface of the run is known'];
    run.begun += 1;
    const named = interfaces.map((name) => ({ interface: name, name: `${run.begun}-${name}` }));
    const { folder, cacheFolder, log, controller } = this.#deps;
    const left = { ...capture, maxBytes: Math.max(0, capture.maxBytes - run.usedBytes) };
    const job = { folder, ...run.of, interfaces: named, capture: left, excluded: endpointsOf(controller()) };
    const capturing = new RunCapture(job, cacheFolder, {
      states: (states) => this.#update(states),
      line: (text) => log.warn(text),
    });
    run.capture = capturing;
    void capturing.over.then(() => this.#salvageOf(run, named, capturing));
    const problems = await capturing.begun;
    log.info(`captures on ${interfaces.join(', ')}${problems.length > 0 ? `: ${problems.join('; ')}` : ''}`);
    return [...problems];
  }

  async #stop(run: CapturedRun): Promise<void> {
    await run.capture?.end();
    run.capture = undefined;
    const own = [...this.#states.values()].filter((state) => keyOf(state) === keyOf(run.of));
    run.usedBytes = own.reduce((sum, { size }) => sum + size, 0);
  }

  #update(states: readonly DumpState[]): void {
    for (const state of states) this.#keep(state);
    this.#report(states);
  }

  #keep(state: DumpState): void {
    this.#states.set(captureKey(state), state);
  }

  #report(dumps: readonly DumpState[]): void {
    if (dumps.length > 0) this.#deps.send({ type: 'dumps', dumps: [...dumps] });
  }

  /** Closes captures of a process that was killed. */
  async #salvageOf(run: CapturedRun, names: readonly { name: string }[], capturing: RunCapture): Promise<void> {
    for (const { name } of names) {
      const known = this.#states.get(captureKey({ ...run.of, name }));
      if (known === undefined || known.state === 'closed') continue;
      await this.#salvage(readRecord(this.#deps.folder, known)).catch((error: Error) => {
        this.#deps.log.error(`capture ${name} of run ${run.of.runId}: ${error.message}`);
      });
    }
    if (run.capture === capturing) run.capture = undefined;
  }

  /** Waits for the process of an earlier agent to close its capture, or closes it. */
  async #adopt(record: CaptureRecord): Promise<void> {
    const giveUpAt = performance.now() + adoptTimeoutMs;
    let present = record;
    while (present.state === 'open' && isAlive(present.pid) && performance.now() < giveUpAt) {
      await sleep(pollMs);
      present = readRecord(this.#deps.folder, record);
    }
    if (present.state === 'open') await this.#salvage(readRecord(this.#deps.folder, record));
    else this.#update([stateOf(present)]);
  }

  async #salvage(record: CaptureRecord): Promise<void> {
    if (record.state === 'closed') this.#update([stateOf(record)]);
    else this.#update([stateOf(await salvageCapture(this.#deps.folder, record, interrupted))]);
  }
}

/** A controller on this machine is reachable at all local addresses. */
const endpointsOf = (controller: Endpoint | undefined): Endpoint[] => {
  if (controller === undefined) return [];
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries?.map(({ address }) => address) ?? []);
  const isHere = own.includes(controller.address);
  return (isHere ? own : [controller.address]).map((address) => ({ address, port: controller.port }));
};

const stateOf = ({ pid: _, ...state }: CaptureRecord): DumpState => state;
