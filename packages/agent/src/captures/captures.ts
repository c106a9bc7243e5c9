import { mkdir, open } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Capture, DumpName, DumpState, Job, ToController } from '@rushhour/protocol';
import type { Log } from '../log/log.ts';
import type { Endpoint } from '../net/packet/capture-filter.ts';
import { probePackets } from '../net/packet/packet-socket.ts';
import { contentPath, type DumpRecord, loadRecords, readRecord, removeDump } from './capture-record.ts';
import { salvageDump } from './finish-capture.ts';
import { RunCapture } from './run-capture.ts';
import { usedInterfaces } from './used-interfaces.ts';

export interface DumpsDeps {
  readonly folder: string;
  readonly cacheFolder: string;
  readonly log: Log;
  readonly send: (message: ToController) => boolean;
  /** Where the controller is; what is said with it is no traffic of a run. */
  readonly controller: () => Endpoint | undefined;
}

/** One run whose packets are captured, or were. */
interface CapturedRun {
  readonly of: { readonly runId: number; readonly epoch: number };
  readonly jobs: readonly Job[];
  /** How often a capture was begun: dumps of a later one have other names. */
  begun: number;
  usedBytes: number;
  /** What is captured now. */
  wish: Capture | null;
  capture: RunCapture | undefined;
  /** Changes follow one another. */
  turn: Promise<unknown>;
}

const keyOf = ({ runId, epoch }: { runId: number; epoch: number }) => `${runId}-${epoch}`;
const dumpKey = (dump: DumpName) => `${keyOf(dump)}-${dump.name}`;
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const aloneMs = 20_000;
const lookMs = 100;
const interrupted = 'the capture was interrupted';

/** Packets of runs on their way from interfaces to the controller: captured, kept, read piece by piece, forgotten. */
export class Dumps {
  readonly #deps: DumpsDeps;
  readonly #runs = new Map<string, CapturedRun>();
  readonly #states = new Map<string, DumpState>();

  constructor(deps: DumpsDeps) {
    this.#deps = deps;
  }

  /** Takes up what earlier processes left. */
  async load(): Promise<void> {
    await mkdir(this.#deps.folder, { recursive: true, mode: 0o700 });
    for (const record of await loadRecords(this.#deps.folder)) {
      if (record.state === 'closed') this.#keep(stateOf(record));
      else void this.#takeUp(record);
    }
  }

  /** Captures so from now on, or no longer; resolves when it does, with what stands against it. */
  async change(
    { runId, epoch }: { runId: number; epoch: number },
    jobs: readonly Job[],
    capture: Capture | null,
  ): Promise<string[]> {
    const of = { runId, epoch };
    const fresh = { of, jobs, begun: 0, usedBytes: 0, wish: null, capture: undefined, turn: Promise.resolve() };
    const run: CapturedRun = this.#runs.get(keyOf(of)) ?? fresh;
    this.#runs.set(keyOf(of), run);
    return this.#inTurn(run, async () => {
      // A command may come twice.
      if (JSON.stringify(run.wish) === JSON.stringify(capture)) return [];
      run.wish = capture;
      await this.#stop(run);
      return capture === null ? [] : this.#start(run, capture);
    });
  }

  /** The run is over. */
  async end(of: { runId: number; epoch: number }): Promise<void> {
    const run = this.#runs.get(keyOf(of));
    if (run === undefined) return;
    this.#runs.delete(keyOf(of));
    await this.#inTurn(run, async () => this.#stop(run));
  }

  /** The session is a new one: the controller hears of everything. */
  sessionOpened(): void {
    if (this.#states.size > 0) this.#tell([...this.#states.values()]);
  }

  async read({ offset, length, ...dump }: DumpName & { offset: number; length: number }): Promise<{ base64: string }> {
    if (this.#states.get(dumpKey(dump))?.state !== 'closed') throw new Error(`there is no closed dump ${dump.name}`);
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
    const known = this.#states.get(dumpKey(dump));
    // One that is still written is told of again when it is closed.
    if (known?.state !== 'closed') return;
    this.#states.delete(dumpKey(dump));
    await removeDump(this.#deps.folder, dump);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ of }) => this.end(of)));
  }

  #inTurn<T>(run: CapturedRun, work: () => Promise<T>): Promise<T> {
    const done = run.turn.then(work);
    run.turn = done.catch(() => {});
    return done;
  }

  async #start(run: CapturedRun, capture: Capture): Promise<string[]> {
    const reason = probePackets();
    if (reason !== undefined) return [`packets are not captured: ${reason}`];
    const interfaces = await usedInterfaces(run.jobs);
    if (interfaces.length === 0) return ['packets are not captured: no interface is known that the run uses'];
    run.begun += 1;
    const named = interfaces.map((name) => ({ interface: name, name: `${run.begun}-${name}` }));
    const { folder, cacheFolder, log, controller } = this.#deps;
    const left = { ...capture, maxBytes: Math.max(0, capture.maxBytes - run.usedBytes) };
    const options = { folder, ...run.of, interfaces: named, capture: left, without: placesOf(controller()) };
    const capturing = new RunCapture(options, cacheFolder, {
      states: (states) => this.#take(states),
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

  #take(states: readonly DumpState[]): void {
    for (const state of states) this.#keep(state);
    this.#tell(states);
  }

  #keep(state: DumpState): void {
    this.#states.set(dumpKey(state), state);
  }

  #tell(dumps: readonly DumpState[]): void {
    if (dumps.length > 0) this.#deps.send({ type: 'dumps', dumps: [...dumps] });
  }

  /** A process that was killed has left its dumps open. */
  async #salvageOf(run: CapturedRun, names: readonly { name: string }[], capturing: RunCapture): Promise<void> {
    for (const { name } of names) {
      const known = this.#states.get(dumpKey({ ...run.of, name }));
      if (known === undefined || known.state === 'closed') continue;
      await this.#salvage(readRecord(this.#deps.folder, known)).catch((error: Error) => {
        this.#deps.log.error(`dump ${name} of run ${run.of.runId}: ${error.message}`);
      });
    }
    if (run.capture === capturing) run.capture = undefined;
  }

  /** A dump that an earlier agent left open: its process may be about to close it. */
  async #takeUp(record: DumpRecord): Promise<void> {
    const giveUpAt = performance.now() + aloneMs;
    let present = record;
    while (present.state === 'open' && isAlive(present.pid) && performance.now() < giveUpAt) {
      await sleep(lookMs);
      present = readRecord(this.#deps.folder, record);
    }
    if (present.state === 'open') await this.#salvage(readRecord(this.#deps.folder, record));
    else this.#take([stateOf(present)]);
  }

  async #salvage(record: DumpRecord): Promise<void> {
    if (record.state === 'closed') this.#take([stateOf(record)]);
    else this.#take([stateOf(await salvageDump(this.#deps.folder, record, interrupted))]);
  }
}

/** A controller on this machine is reached by others at any of its addresses. */
const placesOf = (controller: Endpoint | undefined): Endpoint[] => {
  if (controller === undefined) return [];
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries?.map(({ address }) => address) ?? []);
  const isHere = own.includes(controller.address);
  return (isHere ? own : [controller.address]).map((address) => ({ address, port: controller.port }));
};

const stateOf = ({ pid: _, ...state }: DumpRecord): DumpState => state;
