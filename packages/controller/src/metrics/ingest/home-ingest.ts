import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import type { PeerRuns, StoredPart } from '../../agents/gateway/peers/peer-runs.ts';
import { clockNow } from '../../clock.ts';
import { activeEpochs } from '../../store/runs/run-history.ts';
import { runNamesOf, type SampleRow, sampleKeysOfAgents } from '../../store/runs/samples.ts';
import type { Store } from '../../store/store.ts';
import { readRunFacts } from '../read/run-facts.ts';
import type { AgentClaims } from './agent-claims.ts';
import type { RunArrivals, SummariesReport } from './arrivals.ts';
import { NameBook } from './name-book.ts';
import { OpenRun } from './open-run.ts';
import { acknowledge, newArrivals, shareNames, writeReported } from './writing.ts';

export interface Report {
  readonly agentId: number;
  readonly report: SummariesReport;
}

interface Deps {
  readonly store: Store;
  readonly gateway: Pick<AgentGateway, 'send'>;
  readonly peers: PeerRuns;
  readonly claims: AgentClaims;
  /** Called when seconds of a run were stored in the moment of its end, and no controller has heard of them. */
  onUntold(runId: number): void;
}

/** A run that another controller conducts: what of its agents here is stored, and no more. */
interface ForeignRun {
  readonly run: OpenRun;
  /** Agents whose stored seconds have been read. */
  readonly known: Set<number>;
  usedAt: number;
}

interface Written {
  readonly arrivals: RunArrivals;
  readonly rows: readonly SampleRow[];
}

const keptMs = 120_000;

const keyOf = (agentId: number, order: number) => `${agentId}/${order}`;

/** What the one that conducts the run hears. */
const partsOf = ({ streams }: RunArrivals, rows: readonly SampleRow[]): StoredPart[] => {
  const byJob = Map.groupBy(rows, ({ agentID, orderIndex }) => keyOf(agentID, orderIndex));
  return [...streams].map(({ agentId, order, ranges }) => {
    const own = byJob.get(keyOf(agentId, order)) ?? [];
    return { agentId, order, count: ranges.count, rows: own.map(({ data }) => Buffer.from(data).toString('base64')) };
  });
};

const byRun = (reports: readonly Report[]) => Map.groupBy(reports, ({ report }) => report.runId);

/**
 * Takes in what agents of this controller measure in runs that another one conducts: it is on disk and acknowledged
 * wherever that other one is, which then hears of it.
 */
export class HomeIngest {
  readonly #deps: Deps;
  readonly #runs = new Map<number, ForeignRun>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Returns the reports of runs that are over, or are none. Throws `AgentsMoved`. */
  async store(reports: readonly Report[]): Promise<Report[]> {
    const { claims, store } = this.#deps;
    const claimed = await claims.claim(reports.map(({ agentId }) => agentId));
    for (const { known } of this.#runs.values()) for (const id of claimed) known.delete(id);
    let arrivals = await this.#arrivalsOf(reports);
    const runs = () => [...arrivals.values()].map(({ run }) => run);
    while (!(await shareNames(store.database, runs()))) arrivals = await this.#arrivalsOf(reports);
    for (const written of await this.#write([...arrivals.values()])) {
      this.#settle(written);
      arrivals.delete(written.arrivals.run.facts.runId);
    }
    for (const runId of arrivals.keys()) this.#runs.delete(runId);
    this.#forgetUnused();
    return reports.filter(({ report: { runId } }) => !this.#runs.has(runId));
  }

  /** What is known of runs and agents is read again. */
  forget(): void {
    this.#runs.clear();
  }

  async #arrivalsOf(reports: readonly Report[]): Promise<Map<number, RunArrivals>> {
    const { read } = this.#deps.store;
    const found = new Map<number, RunArrivals>();
    for (const [runId, ofRun] of byRun(reports)) {
      const foreign = await this.#open(runId, ofRun[0]?.report.epoch ?? 0);
      if (foreign === undefined) continue;
      const { run } = foreign;
      await this.#learn(foreign, new Set(ofRun.map(({ agentId }) => agentId)));
      const arrivals = await newArrivals(read, run);
      for (const { agentId, report } of ofRun) {
        const stream = report.epoch === run.facts.epoch ? run.streamOf(agentId, report.order) : undefined;
        if (stream !== undefined) arrivals.add(stream, report.summaries);
      }
      found.set(runId, arrivals);
    }
    return found;
  }

  /** A run that was assigned anew is read again. */
  async #open(runId: number, epoch: number): Promise<ForeignRun | undefined> {
    const known = this.#runs.get(runId);
    if (known !== undefined && known.run.facts.epoch >= epoch) {
      known.usedAt = clockNow();
      return known;
    }
    const { read } = this.#deps.store;
    const facts = await readRunFacts(read, runId);
    this.#runs.delete(runId);
    if (facts === undefined) return undefined;
    const names = new NameBook(await runNamesOf(read, runId));
    const run = new OpenRun(facts, names, { minutes: [], lastSecond: 0 });
    const opened = { run, known: new Set<number>(), usedAt: clockNow() };
    this.#runs.set(runId, opened);
    return opened;
  }

  /** Reads which seconds of these agents are stored. */
  async #learn({ run, known }: ForeignRun, agentIds: ReadonlySet<number>): Promise<void> {
    const fresh = [...agentIds].filter((id) => !known.has(id));
    if (fresh.length === 0) return;
    const keys = await sampleKeysOfAgents(this.#deps.store.read, run.facts.runId, fresh);
    for (const { agentID, orderIndex, fromSeq, toSeq } of keys) {
      run.streamOf(agentID, orderIndex)?.ranges.add(fromSeq, toSeq);
    }
    for (const id of fresh) known.add(id);
  }

  /** Only of runs that are active; what comes of others changes results that were made already. */
  async #write(all: readonly RunArrivals[]): Promise<Written[]> {
    const { store, claims } = this.#deps;
    const agentIds = all.flatMap(({ streams }) => [...streams].map(({ agentId }) => agentId));
    if (agentIds.length === 0) return [];
    return store.database.transaction(async (tx) => {
      await claims.assertHeld(tx, agentIds);
      const ids = all.map(({ run }) => run.facts.runId);
      const epochs = await activeEpochs(tx, ids);
      const written: Written[] = [];
      for (const arrivals of all) {
        const { runId, epoch } = arrivals.run.facts;
        if (epochs.get(runId) !== epoch) continue;
        const { rows } = arrivals;
        await writeReported(tx, store.secrets, arrivals, rows);
        written.push({ arrivals, rows });
      }
      return written;
    });
  }

  #settle({ arrivals, rows }: Written): void {
    const { gateway, peers, onUntold } = this.#deps;
    const { run } = arrivals;
    const { runId, epoch } = run.facts;
    for (const stream of arrivals.streams) {
      for (const { seq } of arrivals.secondsOf(stream)) stream.ranges.add(seq);
    }
    acknowledge(gateway, arrivals);
    const parts = partsOf(arrivals, rows);
    if (!peers.publishStored({ runId, epoch, names: run.names.size, parts })) onUntold(runId);
  }

  #forgetUnused(): void {
    const now = clockNow();
    for (const [runId, { usedAt }] of this.#runs) if (now - usedAt > keptMs) this.#runs.delete(runId);
  }
}
