import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runStatus, type Settings } from '@rushhour/contract';
import type { Logger } from 'pino';
import { activeRuns } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { taskNames } from '../../store/tasks/task-names.ts';
import { postChecked } from '../../system/delivery/webhook.ts';
import type { Metrics } from '../metrics.ts';
import { formats } from './formats.ts';
import { Output, type OutputCounts, PointsRefused } from './output.ts';
import { type Point, pointsOf } from './points.ts';

type OutputSetting = Settings['metrics']['outputs'][number];

interface ExporterOptions {
  readonly store: Store;
  readonly settings: SettingsStore;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Files of JSON lines are written there. */
  readonly folder: string;
}

const everyMs = 1000;
/** Late seconds of a run that is over are still handed on for this time. */
const forgetAfterMs = 60_000;
/** Seconds read at once, after an interruption. */
const maxSeconds = 60;

interface Followed {
  readonly taskID: number;
  /** The newest second that was handed on. */
  second: number;
  newAt: number;
}

const senderOf =
  (setting: OutputSetting, { settings, folder }: ExporterOptions) =>
  async (points: readonly Point[]) => {
    const { body, headers } = formats[setting.type](points);
    if (setting.type === 'jsonLines') {
      await mkdir(folder, { recursive: true });
      return appendFile(join(folder, setting.target), body, { mode: 0o600 });
    }
    const authorization = setting.authorization ? settings.openSecret(setting.authorization) : '';
    const status = await postChecked({
      ...{ url: setting.target, body },
      headers: { ...headers, ...(authorization !== '' && { authorization }) },
      allowPrivate: settings.current().delivery.allowPrivateTargets,
    });
    if (status >= 400 && status < 500 && status !== 429 && status !== 408)
      throw new PointsRefused(`answered with status ${status}`);
    if (status < 200 || status > 299) throw new Error(`answered with status ${status}`);
  };

const nameOf = ({ type, target }: OutputSetting) => `${type} ${URL.parse(target)?.host ?? target}`;

/** Hands the seconds of running tasks to the outputs of the settings, each as soon as it is complete. */
export class Exporter {
  readonly #options: ExporterOptions;
  readonly #outputs = new Map<string, { output: Output; setting: OutputSetting }>();
  readonly #followed = new Map<number, Followed>();
  readonly #timer: NodeJS.Timeout;
  #working: Promise<void> | undefined;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#working ??= this.#step()
        .catch((error: unknown) => options.log.error({ err: error }, 'metrics were not read for the outputs'))
        .finally(() => {
          this.#working = undefined;
        });
    }, everyMs).unref();
  }

  /** What became of the points of each output. */
  counts(): { name: string; counts: OutputCounts }[] {
    return [...this.#outputs.values()].map(({ output: { name, counts } }) => ({ name, counts }));
  }

  /** Hands on the last seconds; what outputs do not take now is lost. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#working;
    await this.#step().catch(() => {});
    await Promise.all([...this.#outputs.values()].map(({ output }) => output.close()));
  }

  async #step(): Promise<void> {
    const { store } = this.#options;
    this.#followSettings();
    if (this.#outputs.size === 0) return this.#followed.clear();
    const now = Date.now();
    const active = await activeRuns(store.read);
    for (const { id, taskID, status } of active) {
      const isNew = status >= runStatus.running && !this.#followed.has(id);
      if (isNew) this.#followed.set(id, { taskID, second: 0, newAt: now });
    }
    if (this.#followed.size === 0) return;
    const taskIDs = [...this.#followed.values()].map(({ taskID }) => taskID);
    const names = await taskNames(store.read, taskIDs);
    for (const [runId, run] of this.#followed) {
      await this.#handOn(runId, run, names.get(run.taskID) ?? '');
      const isOver = active.every(({ id }) => id !== runId);
      if (isOver && now - run.newAt > forgetAfterMs) this.#followed.delete(runId);
    }
  }

  #followSettings(): void {
    const { settings, log } = this.#options;
    const wanted = new Map(settings.current().metrics.outputs.map((one) => [JSON.stringify(one), one]));
    for (const [key, { output }] of this.#outputs) {
      if (wanted.has(key)) continue;
      this.#outputs.delete(key);
      void output.close();
    }
    for (const [key, setting] of wanted) {
      if (this.#outputs.has(key)) continue;
      const output = new Output({ name: nameOf(setting), log, send: senderOf(setting, this.#options) });
      this.#outputs.set(key, { setting, output });
    }
  }

  async #handOn(runId: number, run: Followed, task: string): Promise<void> {
    const { metrics } = this.#options;
    const { second } = await metrics.progressOf(runId);
    if (second <= run.second) return;
    const fromSec = Math.max(run.second + 1, second - maxSeconds + 1);
    const snapshots = await metrics.snapshots(runId, { fromSec, toSec: second, by: 'job' });
    run.second = second;
    run.newAt = Date.now();
    const labels = { task, taskID: String(run.taskID), run: String(runId) };
    const points = snapshots.flatMap((snapshot) => pointsOf(snapshot, labels));
    for (const { output, setting } of this.#outputs.values()) {
      if (setting.taskIDs === undefined || setting.taskIDs.includes(run.taskID)) output.add(points);
    }
  }
}
